#include "app/options.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/settings_reference.h"

namespace halite::app {
namespace {

using testing::HasSubstr;

TEST(Settings, EveryOneIsDeclaredOnceWithAMeaning) {
  Options options;
  Config config;
  declare_settings(config, options);
  EXPECT_GT(config.settings().size(), 40u);
  for (const Setting& setting : config.settings()) {
    EXPECT_TRUE(setting.doc.ends_with('.') || setting.doc.ends_with('/')) << setting.name;
    EXPECT_THAT(setting.name, testing::MatchesRegex("[a-z_]+(\\.[a-z_]+)?")) << setting.name;
  }
}

TEST(Settings, EveryDefaultIsWithinItsOwnRange) {
  Options options;
  Config config;
  declare_settings(config, options);
  const Result<void> read_back = config.apply_file_text(config.print(), "printed");
  EXPECT_TRUE(read_back) << read_back.error().message;
}

TEST(Settings, ReferenceIsCurrent) {
  Options options;
  Config config;
  declare_settings(config, options);
  std::ifstream file(std::filesystem::path(HALITE_SOURCE_DIR) / "docs/reference/settings.md");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text == settings_markdown(config))
      << "docs/reference/settings.md is not current; run: "
         "halite serve --print-config=markdown > docs/reference/settings.md";
}

// The settings that source files of a kind name, by the first group of `pattern` in a line.
std::set<std::string> named_in(std::string_view extension, const std::regex& pattern) {
  std::set<std::string> named;
  for (const char* folder : {"common", "storage", "ingest", "query", "web", "app"}) {
    const std::filesystem::path root = std::filesystem::path(HALITE_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != extension) continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch found;
        if (std::regex_search(line, found, pattern)) named.insert(found[1]);
      }
    }
  }
  return named;
}

class NamedSettings : public testing::Test {
 protected:
  NamedSettings() {
    Options options;
    Config config;
    declare_settings(config, options);
    for (const Setting& setting : config.settings()) known_.insert(setting.name);
  }
  void expect_known(const std::set<std::string>& named) {
    EXPECT_GE(named.size(), 3u);
    for (const std::string& one : named) EXPECT_TRUE(known_.contains(one)) << one;
  }

  std::set<std::string> known_;
};

// "... (web.body_bytes_max)", "... query.series_max raises it".
TEST_F(NamedSettings, OfMessagesExist) {
  expect_known(named_in(
      ".cc",
      std::regex(
          R"re("[^"]*\b((?:ingest|query|storage|rocksdb|web)\.[a-z_]+_(?:max|ms|bytes))\b)re")));
}

// std::size_t line_bytes_max = 64 << 10;  // web.line_bytes_max: without the line's end
TEST_F(NamedSettings, OfOptionsExist) {
  expect_known(named_in(
      ".h",
      std::regex(
          R"re(;\s+// ((?:ingest|query|storage|rocksdb|web|log|threads)\.(?!cc\b|h\b)[a-z_]+)\b)re")));
}

TEST(Settle, ListenAddresses) {
  Options options;
  ASSERT_TRUE(resolve_options(options));
  EXPECT_EQ(options.web.address, "127.0.0.1");
  EXPECT_EQ(options.web.port, 4242);
  options.listen = "[::1]:80";
  ASSERT_TRUE(resolve_options(options));
  EXPECT_EQ(options.web.address, "::1");
  EXPECT_EQ(options.web.port, 80);
  options.listen = "localhost:4242";  // a name is resolved when it is listened on
  ASSERT_TRUE(resolve_options(options));
  EXPECT_EQ(options.web.address, "localhost");
  for (const char* all : {":4242", "*:4242"}) {
    options.listen = all;
    ASSERT_TRUE(resolve_options(options));
    EXPECT_EQ(options.web.address, "0.0.0.0");
    EXPECT_EQ(options.web.port, 4242);
  }
  for (const char* bad : {"", "4242", ":", "localhost", "[]:1", "127.0.0.1:", "127.0.0.1:65536",
                          "127.0.0.1:x", "127.0.0.1:-1", "::1:80", "[::1]", "1.2.3.4:80 "}) {
    options.listen = bad;
    const Result<void> settled = resolve_options(options);
    ASSERT_FALSE(settled) << bad;
    EXPECT_THAT(settled.error().message, HasSubstr("listen must be ADDRESS:PORT"));
  }
}

TEST(Settle, RetentionByPrefix) {
  Options options;
  options.retention = " tmp.=7d ,audit. = 0";
  ASSERT_TRUE(resolve_options(options));
  ASSERT_EQ(options.engine.retention.size(), 2u);
  EXPECT_EQ(options.engine.retention[0].prefix, "tmp.");
  EXPECT_EQ(options.engine.retention[0].ttl_ms, 7 * 86'400'000);
  EXPECT_EQ(options.engine.retention[1].prefix, "audit.");
  EXPECT_EQ(options.engine.retention[1].ttl_ms, 0);
  for (const char* bad : {"tmp.", "=7d", "tmp.=", "tmp.=x", "tmp.=7d,", ",", "a=1d,a=2d", "a=-1"}) {
    options.retention = bad;
    const Result<void> settled = resolve_options(options);
    ASSERT_FALSE(settled) << bad;
    EXPECT_THAT(settled.error().message,
                HasSubstr("storage.retention must be a comma-separated list of PREFIX=DURATION"));
  }
  options.retention = "tmp.=7d";
  options.store = StoreKind::kRocksDb;
  EXPECT_THAT(resolve_options(options).error().message, HasSubstr("requires --store engine"));
}

TEST(Settle, FillsInWhatTheMachineKnows) {
  Options options;
  options.web_mode = "ro";
  ASSERT_TRUE(resolve_options(options));
  EXPECT_EQ(options.web.mode, web::Mode::kReadOnly);
  EXPECT_GE(options.threads.web, 1u);
  EXPECT_GE(options.threads.query, 1u);
  EXPECT_EQ(options.self_metrics.host, host_tag());
  EXPECT_THAT(host_tag(), testing::MatchesRegex("[-_./a-zA-Z0-9]+"));
}

}  // namespace
}  // namespace halite::app
