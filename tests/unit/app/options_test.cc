#include "app/options.h"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// An error that names a setting names one that exists.
TEST(Settings, MessagesNameOnlyRealOnes) {
  Options options;
  Config config;
  declare_settings(config, options);
  std::set<std::string> known;
  for (const Setting& setting : config.settings()) known.insert(setting.name);

  // "... (web.body_bytes_max)", "... query.series_max raises it": a name inside a string.
  const std::regex name(
      R"re("[^"]*\b((ingest|query|storage|rocksdb|web)\.[a-z_]+_(max|ms|bytes))\b)re");
  std::set<std::string> named;
  for (const char* folder : {"common", "storage", "ingest", "query", "web"}) {
    const std::filesystem::path root = std::filesystem::path(HALITE_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".cc") continue;
      std::ifstream text(entry.path());
      for (std::string line; std::getline(text, line);) {
        std::smatch found;
        if (std::regex_search(line, found, name)) named.insert(found[1]);
      }
    }
  }
  EXPECT_GE(named.size(), 3u);
  for (const std::string& one : named) EXPECT_TRUE(known.contains(one)) << one;
}

TEST(Settle, ListenAddresses) {
  Options options;
  ASSERT_TRUE(settle(options));
  EXPECT_EQ(options.web.address, "127.0.0.1");
  EXPECT_EQ(options.web.port, 4242);
  options.listen = "[::1]:80";
  ASSERT_TRUE(settle(options));
  EXPECT_EQ(options.web.address, "::1");
  EXPECT_EQ(options.web.port, 80);
  for (const char* bad : {"", "4242", ":4242", "localhost", "127.0.0.1:", "127.0.0.1:65536",
                          "127.0.0.1:x", "127.0.0.1:-1", "::1:80", "[::1]", "1.2.3.4:80 "}) {
    options.listen = bad;
    const Result<void> settled = settle(options);
    ASSERT_FALSE(settled) << bad;
    EXPECT_THAT(settled.error().message, HasSubstr("listen wants ADDRESS:PORT"));
  }
}

TEST(Settle, FillsInWhatTheMachineKnows) {
  Options options;
  options.web_mode = "ro";
  ASSERT_TRUE(settle(options));
  EXPECT_EQ(options.web.mode, web::Mode::kReadOnly);
  EXPECT_GE(options.threads.web, 1u);
  EXPECT_GE(options.threads.query, 1u);
  EXPECT_EQ(options.own_metrics.host, host_tag());
  EXPECT_THAT(host_tag(), testing::MatchesRegex("[-_./a-zA-Z0-9]+"));
}

}  // namespace
}  // namespace halite::app
