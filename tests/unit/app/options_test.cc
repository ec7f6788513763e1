#include "app/settings/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/settings/memory_settings.h"
#include "app/settings/settings_reference.h"
#include "ingest/formats/graphite_templates.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Settings, EveryOneIsDeclaredOnceWithAMeaning) {
  Options options;
  Config config;
  declare_settings(config, options);
  EXPECT_GT(config.settings().size(), 40u);
  for (const Setting& setting : config.settings()) {
    EXPECT_TRUE(setting.doc.ends_with('.') || setting.doc.ends_with('/')) << setting.name;
    EXPECT_THAT(setting.name, testing::MatchesRegex("[a-z_]+(\\.[a-z0-9_]+)?")) << setting.name;
  }
}

TEST(Settings, EveryDefaultIsWithinItsOwnRange) {
  Options options;
  Config config;
  declare_settings(config, options);
  const Result<void> read_back = config.apply_file_text(config.print(), "printed");
  EXPECT_TRUE(read_back) << read_back.error().message;
}

class MemorySettings : public testing::Test {
 protected:
  MemorySettings() { declare_settings(config_, options_); }
  void set(std::string_view name, std::string_view value) {
    ASSERT_TRUE(config_.apply_flag("--set", name, value));
  }
  void resolve() {
    const Result<void> resolved = resolve_memory(config_, options_);
    ASSERT_TRUE(resolved) << resolved.error().message;
  }

  Options options_;
  Config config_;
};

TEST_F(MemorySettings, DefaultsAreSharesOfTheLimit) {
  set("memory.limit", "1GiB");
  resolve();
  EXPECT_EQ(options_.ingest.limits.series_cache_bytes_max, 128U << 20);
  EXPECT_EQ(options_.engine.head_freeze_bytes, 128U << 20);
  EXPECT_EQ(options_.engine.head_bytes_max, 256U << 20);
  EXPECT_EQ(options_.cells.series_bytes_max, 512U << 20);
}

TEST_F(MemorySettings, ASettingOverridesItsShare) {
  set("memory.limit", "1GiB");
  set("ingest.series_cache_bytes_max", "5MiB");
  resolve();
  EXPECT_EQ(options_.ingest.limits.series_cache_bytes_max, 5U << 20);
  EXPECT_EQ(options_.engine.head_freeze_bytes, 128U << 20);
}

TEST_F(MemorySettings, HeadIsFrozenBeforeSendersWait) {
  set("memory.limit", "16GiB");
  set("engine.head_bytes_max", "512MiB");
  resolve();
  EXPECT_EQ(options_.engine.head_freeze_bytes, 256U << 20);
}

TEST_F(MemorySettings, SendersWaitLongAfterTheHeadIsFrozen) {
  set("memory.limit", "1GiB");
  set("engine.head_freeze_bytes", "1GiB");
  resolve();
  EXPECT_EQ(options_.engine.head_bytes_max, 2U << 30);
}

TEST_F(MemorySettings, HeadThatIsNeverFrozenIsRefused) {
  set("engine.head_bytes_max", "64MiB");
  set("engine.head_freeze_bytes", "64MiB");
  const Result<void> resolved = resolve_memory(config_, options_);
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(resolved.error().message,
            "engine.head_freeze_bytes (64 MiB) must be less than engine.head_bytes_max (64 MiB); "
            "set at most one of the two, or engine.head_freeze_bytes to half of "
            "engine.head_bytes_max");
  set("engine.head_freeze_bytes", "63MiB");
  resolve();
}

TEST_F(MemorySettings, LargestBodyHasRoom) {
  set("memory.limit", "64MiB");
  set("web.body_inflated_bytes_max", "1GiB");
  resolve();
  EXPECT_EQ(options_.web.bodies_bytes_max, 2U << 30);
}

TEST_F(MemorySettings, SharesHaveALeastAndAGreatestSize) {
  set("memory.limit", "64MiB");
  resolve();
  EXPECT_EQ(options_.engine.head_bytes_max, 32U << 20);
  set("memory.limit", "1TiB");
  resolve();
  EXPECT_EQ(options_.engine.head_freeze_bytes, 4ULL << 30);
  EXPECT_FALSE(config_.apply_flag("--set", "memory.limit", "63MiB"));
}

TEST_F(MemorySettings, SharesThatNoSourceHasSetMove) {
  set("memory.limit", "1GiB");
  set("engine.block_cache_bytes", "20MiB");
  resolve();
  std::string text;
  for (const MemoryShare& share : memory_shares(config_)) {
    text +=
        fmt::format("{} {}: {} to {}{}\n", share.user.setting, share.base >> 20, share.least >> 20,
                    share.greatest >> 20, share.momentary ? ", momentary" : "");
  }
  EXPECT_EQ(text,
            "storage.series_bytes_max 512: 64 to 512\n"
            "engine.head_bytes_max 256: 32 to 8192\n"
            "ingest.series_cache_bytes_max 128: 16 to 16384\n"
            "engine.block_cache_bytes 20: 20 to 20\n"
            "rocksdb.block_cache_bytes 64: 8 to 1048576\n"
            "query.bytes_max 128: 128 to 128, momentary\n"
            "query.answers_bytes_max 64: 64 to 64, momentary\n"
            "query.promql_cache_bytes_max 64: 8 to 64, momentary\n"
            "web.bodies_bytes_max 256: 256 to 256, momentary\n");
}

TEST_F(MemorySettings, HeadsDoNotMoveIfTheSizeOfTheActiveOneIsSet) {
  set("engine.head_freeze_bytes", "100MiB");
  resolve();
  const auto shares = memory_shares(config_);
  const auto heads = std::ranges::find_if(shares, [](const MemoryShare& share) {
    return share.user.setting == "engine.head_bytes_max";
  });
  ASSERT_NE(heads, shares.end());
  EXPECT_EQ(heads->least, heads->greatest);
}

TEST_F(MemorySettings, LimitIsAShareOfTheMachine) {
  resolve();
  EXPECT_LE(options_.memory.limit, std::max(available_memory() * 6 / 10, std::uint64_t{64} << 20));
  EXPECT_GE(options_.memory.limit, 64U << 20);
}

class CgroupMemory : public testing::Test {
 protected:
  void write(const std::string& file, std::string_view text) {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text << '\n';
  }
  [[nodiscard]] std::uint64_t limit() const { return cgroup_memory(root_ / "cgroup", root_); }

 private:
  test::TempDir directory_;
  const std::filesystem::path root_ = directory_.path();
};

TEST_F(CgroupMemory, LeastLimitOfThoseAboveCounts) {
  write("cgroup", "0::/a/b");
  EXPECT_EQ(limit(), std::numeric_limits<std::uint64_t>::max());
  write("a/b/memory.max", "max");
  write("a/memory.max", "5000");
  EXPECT_EQ(limit(), 5000U);
  write("a/b/memory.high", "4000");
  EXPECT_EQ(limit(), 4000U);
  write("memory.max", "3000");
  EXPECT_EQ(limit(), 3000U);
}

TEST_F(CgroupMemory, PathOfTheHostIsNotInTheContainer) {
  write("cgroup", "0::/docker/0123");
  write("memory.max", "3000");
  EXPECT_EQ(limit(), 3000U);
}

TEST_F(CgroupMemory, VersionOneMayShareAHierarchy) {
  write("cgroup", "9:cpu:/x\n4:hugetlb,memory:/m");
  write("memory/m/memory.limit_in_bytes", "7000");
  EXPECT_EQ(limit(), 7000U);
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

// The settings that source files of a kind name, by the first group of `pattern` in a line that
// holds `needed`.
std::set<std::string> named_in(std::string_view extension, std::string_view needed,
                               const std::regex& pattern) {
  std::set<std::string> named;
  for (const char* folder : {"common", "storage", "ingest", "query", "web", "app"}) {
    const std::filesystem::path root = std::filesystem::path(HALITE_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != extension) continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        if (!line.contains(needed)) continue;
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
      ".cc", "\"",
      std::regex(
          R"re("[^"]*\b((?:ingest|query|storage|rocksdb|web)\.[a-z_]+_(?:max|ms|bytes))\b)re")));
}

// std::size_t line_bytes_max = 64 << 10;  // web.line_bytes_max: without the line's end
TEST_F(NamedSettings, OfOptionsExist) {
  expect_known(named_in(
      ".h", "; ",
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

TEST(Settle, GraphitesPorts) {
  Options options;
  ASSERT_TRUE(resolve_options(options));
  EXPECT_FALSE(options.web.graphite || options.web.graphite_pickle) << "off";
  options.graphite_listen = ":2003";
  options.graphite_pickle_listen = "[::1]:2004";
  options.graphite_templates = "servers.* .host.measurement*; measurement* dc=lga";
  ASSERT_TRUE(resolve_options(options));
  EXPECT_EQ(options.web.graphite.value().address, "0.0.0.0");
  EXPECT_EQ(options.web.graphite.value().port, 2003);
  EXPECT_EQ(options.web.graphite_pickle.value().address, "::1");
  EXPECT_EQ(options.web.graphite_pickle.value().port, 2004);
  EXPECT_FALSE(options.web.graphite_format.graphite_templates->empty());
  options.graphite_pickle_listen = "2004";
  EXPECT_THAT(resolve_options(options).error().message,
              HasSubstr("graphite.pickle_listen must be ADDRESS:PORT"));
  options.graphite_pickle_listen = "";
  options.graphite_templates = "host.load";
  EXPECT_EQ(resolve_options(options).error().message,
            "graphite.templates: the template \"host.load\" has no word \"measurement\"");
  options.graphite_templates = "";
  options.web_mode = "ro";
  ASSERT_TRUE(resolve_options(options));
  EXPECT_FALSE(options.web.graphite) << "it takes no points";
}

TEST(Settle, ListenersOfOnePortAreRefused) {
  const auto error_of = [](const std::string& listen, const std::string& lines,
                           const std::string& pickle, const std::string& mode = "rw") {
    Options options;
    options.listen = listen;
    options.graphite_listen = lines;
    options.graphite_pickle_listen = pickle;
    options.web_mode = mode;
    const Result<void> settled = resolve_options(options);
    return settled ? "none" : settled.error().message;
  };
  EXPECT_EQ(error_of("127.0.0.1:4242", "127.0.0.1:4242", ""),
            "listen = \"127.0.0.1:4242\" and graphite.listen = \"127.0.0.1:4242\" are one port; "
            "choose another port for one of them");
  EXPECT_THAT(error_of("127.0.0.1:4242", "", ":4242"), HasSubstr("and graphite.pickle_listen = "));
  EXPECT_THAT(error_of("127.0.0.1:4242", ":2003", "localhost:2003"),
              HasSubstr("graphite.listen = \":2003\" and graphite.pickle_listen = "));
  EXPECT_THAT(error_of("[::]:4242", "[::1]:4242", ""), HasSubstr("are one port"));
  EXPECT_THAT(error_of("127.0.0.1:4242", "[::]:4242", ""), HasSubstr("are one port"));
  EXPECT_EQ(error_of("127.0.0.1:4242", "127.0.0.2:4242", "[::1]:4242"), "none");
  EXPECT_EQ(error_of("127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"), "none") << "any free ones";
  EXPECT_EQ(error_of("127.0.0.1:4242", ":4242", "", "ro"), "none") << "it takes no points";
}

TEST(Settle, RulesOfCountersAreReadBeforeAnythingIsOpened) {
  Options options;
  options.counters = R"([{"metrics":"web.*","buckets":["1h"],"keep":["14d"]}])";
  ASSERT_TRUE(resolve_options(options));
  options.counters = R"([{"metrics":"web.*","buckets":["7m"],"keep":["14d"]}])";
  const Result<void> settled = resolve_options(options);
  ASSERT_FALSE(settled);
  EXPECT_THAT(settled.error().message, HasSubstr("counters: rule 1: the bucket \"7m\" must be"));
  options.counters_place = "h.toml:7";
  EXPECT_THAT(resolve_options(options).error().message, StartsWith("h.toml:7: counters: rule 1: "));
  options.counters = "";
  options.views = "[1]";
  options.views_place = "--set";
  EXPECT_THAT(resolve_options(options).error().message, StartsWith("--set: views: view 1: "));
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
