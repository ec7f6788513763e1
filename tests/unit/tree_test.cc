// Checks the shape of the tree: the #include lines against the arrows of ARCHITECTURE.md
// (common <- storage <- {ingest, query} <- web <- app) and against the rooms that each
// CMakeLists.txt names, the size of files, and that names which a file imports are used.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HALITE_SOURCE_DIR;
const fs::path kBuild = HALITE_BINARY_DIR;

// Which folders a folder's files may include. bench and tests may include all of them.
const std::map<std::string, std::set<std::string>, std::less<>> kArrows = {
    {"common", {"common"}},
    {"storage", {"common", "storage"}},
    {"ingest", {"common", "storage", "ingest"}},
    {"query", {"common", "storage", "query"}},
    {"web", {"common", "storage", "ingest", "query", "web"}},
    {"app", {"common", "storage", "ingest", "query", "web", "app"}},
};

std::string first_folder(std::string_view path) {
  const std::size_t slash = path.find('/');
  return std::string(slash == std::string_view::npos ? "" : path.substr(0, slash));
}

// A store itself. All but app, storage, bench and tests see only storage/api.
bool names_concrete_store(std::string_view header) {
  return header == "storage/cells/cell_point_store.h" || header.starts_with("storage/tsdb/") ||
         (header.starts_with("storage/backends/") &&
          !header.starts_with("storage/backends/hbase/regions/"));
}

// Why `file` may not include `header`, both relative to the root; nothing when it may.
std::optional<std::string> complaint(std::string_view file, std::string_view header) {
  const std::string from = first_folder(file);
  const std::string to = first_folder(header);
  const auto allowed = kArrows.find(from);
  if (allowed == kArrows.end()) return std::nullopt;
  if (!allowed->second.contains(to)) {
    return fmt::format("{} includes \"{}\": {} may not use {}", file, header, from,
                       to.empty() ? "a path that does not begin at the root" : to);
  }
  if (names_concrete_store(header) && from != "app" && from != "storage") {
    return fmt::format("{} includes \"{}\": only app and tests name a concrete store", file,
                       header);
  }
  return std::nullopt;
}

// The quoted includes of a source text; <ours/x.h> counts as quoted, for it is the same arrow.
std::vector<std::string> own_includes(std::istream& text) {
  std::vector<std::string> includes;
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#")) continue;
    const std::size_t word = line.find("include");
    if (word == std::string::npos) continue;
    const std::size_t open = line.find_first_of("\"<", word);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    if (close == std::string::npos) continue;
    std::string path = line.substr(open + 1, close - open - 1);
    if (line[open] == '"' || kArrows.contains(first_folder(path))) {
      includes.push_back(std::move(path));
    }
  }
  return includes;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [text](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    if (!in_word(at - 1) && !in_word(at + word.size())) return true;
  }
  return false;
}

// Names that a source text brings in by `using a::b;` or `namespace b = ..;` and does not use.
// clang-tidy looks for them only in files that it reads by themselves.
std::vector<std::string> unused_names(const std::string& text) {
  static const std::regex kBrought(R"(using [\w:]*::(\w+);|namespace (\w+) = )");
  std::vector<std::string> unused;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string line = text.substr(begin, end - begin);
    begin = end;
    if (!line.starts_with("using ") && !line.starts_with("namespace ")) continue;
    std::smatch found;
    if (!std::regex_search(line, found, kBrought, std::regex_constants::match_continuous)) continue;
    const std::string name = found[found[1].matched ? 1 : 2];
    if (!has_word(std::string_view(text).substr(end), name)) unused.push_back(name);
  }
  return unused;
}

// Whether a source text includes Boost.Beast and not, before that, what makes Beast's assertions
// ones that end a connection: docs/decisions/0038-assertions-of-libraries.md.
bool has_bare_beast(std::string_view text) {
  const std::size_t beast = text.find("\n#include <boost/beast/");
  const std::size_t assertions = text.find("\n#include \"common/boost_assertions.h\"");
  return beast != std::string_view::npos && beast < assertions;
}

// A room: a folder with a library of its own, and the rooms that its CMakeLists.txt names.
using Rooms = std::map<std::string, std::set<std::string>, std::less<>>;

// The words between "halite_library(" and its bracket that are behind DEPENDS and begin in one of
// our folders; nothing when the text makes no library.
std::optional<std::set<std::string>> rooms_named(const std::string& cmake) {
  const std::size_t begin = cmake.find("halite_library(");
  if (begin == std::string::npos) return std::nullopt;
  std::istringstream words(cmake.substr(begin, cmake.find(')', begin) - begin));
  std::set<std::string> rooms;
  bool depends = false;
  for (std::string word; words >> word;) {
    if (depends && (kArrows.contains(word) || kArrows.contains(first_folder(word)))) {
      rooms.insert(word);
    }
    depends = depends || word == "DEPENDS";
  }
  return rooms;
}

Rooms find_rooms() {
  Rooms rooms;
  for (const auto& [folder, allowed] : kArrows) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      std::ifstream in(entry.path());
      std::stringstream text;
      text << in.rdbuf();
      if (auto named = rooms_named(text.str())) {
        rooms[fs::relative(entry.path().parent_path(), kRoot).generic_string()] = *std::move(named);
      }
    }
  }
  return rooms;
}

// The room of a file: its folder, or the nearest one above that is a room.
std::string room_of(const Rooms& rooms, std::string_view file) {
  std::string folder(file);
  while (!folder.empty()) {
    const std::size_t slash = folder.rfind('/');
    folder.resize(slash == std::string::npos ? 0 : slash);
    if (rooms.contains(folder)) return folder;
  }
  return folder;
}

// A room that includes itself through others; empty when there is none. Takes away rooms that
// depend on none of those left until nothing changes.
std::string find_cycle(Rooms rooms) {
  while (!rooms.empty()) {
    const auto leaf = std::ranges::find_if(rooms, [&](const auto& room) {
      return std::ranges::none_of(room.second, [&](const auto& to) { return rooms.contains(to); });
    });
    if (leaf == rooms.end()) return rooms.begin()->first;
    rooms.erase(leaf);
  }
  return "";
}

// Messages of HBase, made by protoc: no room of ours, but one may name it.
constexpr std::string_view kProto = "storage/backends/hbase/proto";

// Our .h and .cc files, relative to the root.
std::vector<std::string> source_files() {
  std::vector<std::string> files;
  std::vector<std::string> folders = {"bench", "tests"};
  for (const auto& [folder, allowed] : kArrows) folders.push_back(folder);
  for (const std::string& folder : folders) {
    for (auto entry = fs::recursive_directory_iterator(kRoot / folder);
         entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
      const fs::path extension = entry->path().extension();
      if (entry->is_regular_file() && (extension == ".h" || extension == ".cc")) {
        files.push_back(fs::relative(entry->path(), kRoot).generic_string());
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

// What the compiler reads, each by itself or in one of CMake's unity files.
std::set<std::string> built_files() {
  std::ifstream in(kBuild / "compile_commands.json");
  std::stringstream text;
  text << in.rdbuf();
  const boost::json::value commands = boost::json::parse(text.str());
  std::set<std::string> files;
  for (const boost::json::value& command : commands.as_array()) {
    const fs::path file = std::string(command.at("file").as_string());
    files.insert(fs::relative(file, kRoot).generic_string());
    if (!file.filename().string().starts_with("unity_")) continue;
    std::ifstream unity(file);
    for (const fs::path member : own_includes(unity)) {
      files.insert(fs::relative(member, kRoot).generic_string());
    }
  }
  return files;
}

TEST(Tree, ArrowsPointOneWay) {
  std::vector<std::string> complaints;
  for (const std::string& file : source_files()) {
    std::ifstream text(kRoot / file);
    for (const std::string& header : own_includes(text)) {
      if (auto why = complaint(file, header)) complaints.push_back(*std::move(why));
    }
  }
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(Tree, RoomsNameTheRoomsTheyInclude) {
  const Rooms rooms = find_rooms();
  ASSERT_GT(rooms.size(), 30U);
  Rooms included;
  std::vector<std::string> missing;
  for (const std::string& file : source_files()) {
    const std::string from = room_of(rooms, file);
    if (from.empty()) continue;
    std::ifstream text(kRoot / file);
    for (const std::string& header : own_includes(text)) {
      const bool proto = header.starts_with(kProto);
      const std::string to = proto ? std::string(kProto) : room_of(rooms, header);
      if (to.empty() || to == from) continue;
      included[from].insert(to);
      if (rooms.at(from).contains(to)) continue;
      missing.push_back(fmt::format("{} includes \"{}\", {}/CMakeLists.txt does not name {}", file,
                                    header, from, to));
    }
  }
  EXPECT_THAT(missing, testing::IsEmpty());
  std::vector<std::string> unused;
  for (const auto& [room, named] : rooms) {
    for (const std::string& to : named) {
      if (!included[room].contains(to)) unused.push_back(fmt::format("{} names {}", room, to));
    }
  }
  EXPECT_THAT(unused, testing::IsEmpty());
}

TEST(Tree, RoomsMakeNoCycle) {
  EXPECT_EQ(find_cycle(find_rooms()), "");
  EXPECT_EQ(find_cycle({{"a", {"b"}}, {"b", {"c"}}, {"c", {"a"}}, {"d", {}}}), "a");
  EXPECT_EQ(find_cycle({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {}}}), "");
}

TEST(Tree, TheEngineReachesNoOtherStore) {
  const Rooms rooms = find_rooms();
  std::set<std::string> reached;
  std::vector<std::string> next = {"storage/tsdb"};
  while (!next.empty()) {
    const std::string room = std::move(next.back());
    next.pop_back();
    if (!reached.insert(room).second || !rooms.contains(room)) continue;
    next.insert(next.end(), rooms.at(room).begin(), rooms.at(room).end());
  }
  ASSERT_TRUE(reached.contains("storage/tsdb/wal"));
  for (const std::string& room : reached) {
    EXPECT_FALSE(room.starts_with("storage/backends/hbase") || room == "storage/cells") << room;
  }
}

TEST(Tree, EveryFileOfStorageHasARoom) {
  for (const std::string& file : source_files()) {
    EXPECT_FALSE(file.starts_with("storage/") && std::ranges::count(file, '/') == 1) << file;
  }
}

// docs: CONTRIBUTING.md. Tests and benches may be as long as they like.
TEST(Tree, LongFilesSayWhy) {
  std::vector<std::string> silent;
  for (const std::string& file : source_files()) {
    if (!kArrows.contains(first_folder(file))) continue;
    std::ifstream in(kRoot / file);
    std::stringstream read;
    read << in.rdbuf();
    const std::string text = read.str();
    const bool header = file.ends_with(".h");
    if (std::ranges::count(text, '\n') <= (header ? 140 : 400)) continue;
    const std::string_view why = header ? "Over 140 lines because" : "Over 400 lines because";
    if (!text.substr(0, text.find('#')).contains(why)) silent.push_back(file);
  }
  EXPECT_THAT(silent, testing::IsEmpty());
}

TEST(Tree, EveryIncludeIsWrittenFromTheRoot) {
  std::vector<std::string> missing;
  for (const std::string& file : source_files()) {
    std::ifstream text(kRoot / file);
    for (const std::string& header : own_includes(text)) {
      if (fs::exists(kRoot / header) || fs::exists(kBuild / "generated" / header)) continue;
      missing.push_back(fmt::format("{}: \"{}\"", file, header));
    }
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(Tree, WhatIsBroughtInIsUsed) {
  std::vector<std::string> unused;
  for (const std::string& file : source_files()) {
    if (file.ends_with(".h")) continue;  // it may bring in names for others
    std::ifstream in(kRoot / file);
    std::stringstream text;
    text << in.rdbuf();
    for (const std::string& name : unused_names(text.str())) {
      unused.push_back(fmt::format("{}: {}", file, name));
    }
  }
  EXPECT_THAT(unused, testing::IsEmpty());
}

TEST(Tree, BeastIsIncludedBehindItsAssertions) {
  std::vector<std::string> bare;
  for (const std::string& file : source_files()) {
    std::ifstream in(kRoot / file);
    std::stringstream text;
    text << in.rdbuf();
    if (has_bare_beast(text.str())) bare.push_back(file);
  }
  EXPECT_THAT(bare, testing::IsEmpty());
  EXPECT_TRUE(
      has_bare_beast("x\n#include <boost/beast/a.hpp>\n#include \"common/boost_assertions.h\""));
  EXPECT_FALSE(
      has_bare_beast("x\n#include \"common/boost_assertions.h\"\n#include <boost/beast/a.hpp>"));
  EXPECT_FALSE(has_bare_beast("x\n#include <boost/asio.hpp>"));
}

TEST(Tree, EverySourceIsBuilt) {
  const std::set<std::string> built = built_files();
  ASSERT_TRUE(built.contains("tests/unit/tree_test.cc"));
  std::vector<std::string> orphans;
  for (const std::string& file : source_files()) {
    if (file.ends_with(".cc") && !built.contains(file)) orphans.push_back(file);
  }
  EXPECT_THAT(orphans, testing::IsEmpty());
}

TEST(Tree, WrongArrowsAreSeen) {
  EXPECT_TRUE(complaint("common/bytes/bytes.cc", "storage/api/wide_column.h"));
  EXPECT_TRUE(complaint("storage/backends/rocks/rocks_store.cc", "ingest/writer.h"));
  EXPECT_TRUE(complaint("ingest/writer.cc", "query/engine/engine.h"));
  EXPECT_TRUE(complaint("query/engine/engine.cc", "ingest/writer.h"));
  EXPECT_TRUE(complaint("query/engine/engine.cc", "web/router.h"));
  EXPECT_TRUE(complaint("web/connection/listener.cc", "app/server/serve.h"));
  EXPECT_TRUE(complaint("web/connection/listener.cc", "storage/backends/rocks/rocks_store.h"));
  EXPECT_TRUE(complaint("query/scan/fetch.cc", "storage/cells/cell_point_store.h"));
  EXPECT_TRUE(complaint("query/scan/fetch.cc", "storage/tsdb/engine_store.h"));
  EXPECT_TRUE(complaint("query/scan/fetch.cc", "engine.h"));
  EXPECT_TRUE(complaint("app/server/serve.cc", "tests/support/fake.h"));

  EXPECT_FALSE(complaint("web/handlers/put.cc", "ingest/writer.h"));
  EXPECT_FALSE(complaint("storage/cells/cell_point_store.cc", "storage/cells/cell_point_store.h"));
  EXPECT_FALSE(complaint("app/server/serve.cc", "storage/backends/rocks/rocks_store.h"));
  EXPECT_FALSE(complaint("tests/unit/web/put_test.cc", "storage/backends/memory/memory_store.h"));
}

TEST(Tree, UnusedNamesAreSeen) {
  EXPECT_THAT(unused_names("using testing::A;\nnamespace fs = std::filesystem;\nusing B = int;\n"
                           "using test::C;\nint C_ = fsA;\n"),
              testing::ElementsAre("A", "fs", "C"));
  EXPECT_THAT(unused_names("using testing::A;\nnamespace fs = x;\nA a = fs::b;\n"),
              testing::IsEmpty());
}

TEST(Tree, IncludeLinesAreRead) {
  std::istringstream text(
      "#include \"common/bytes/bytes.h\"\n"
      "#  include <query/engine/engine.h>\n"
      "#include <vector>\n"
      "// #include \"app/no.h\"\n"
      "#pragma once\n");
  EXPECT_THAT(own_includes(text),
              testing::ElementsAre("common/bytes/bytes.h", "query/engine/engine.h"));
}

}  // namespace
}  // namespace halite
