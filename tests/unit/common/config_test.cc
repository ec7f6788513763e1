#include "common/config/config.h"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite {
namespace {

using testing::HasSubstr;

struct Fields {
  std::string listen = "127.0.0.1:4242";
  std::string store = "rocksdb";
  std::size_t body_bytes_max = 32 << 20;
  std::int64_t timeout_ms = 60'000;
  std::uint16_t tags_max = 32;
  bool self = true;
  std::string rules;
};

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    config_.text("listen", fields_.listen, "Where to listen.");
    config_.choice("store", fields_.store, {"rocksdb", "memory"}, "Where points live.");
    config_.bytes("web.body_bytes_max", fields_.body_bytes_max, {1024, 1 << 30}, "Largest body.");
    config_.duration_ms("query.timeout_ms", fields_.timeout_ms, {1, 3'600'000}, "Longest query.");
    config_.count("ingest.tags_max", fields_.tags_max, {1, 1'000'000}, "tags", "Tags a point.");
    config_.flag("self_metrics.enabled", fields_.self, "Keeps its own metrics.");
    config_.tables("rules", fields_.rules, "What is done.");
  }

  std::string file_error(std::string_view text) {
    const Result<void> applied = config_.apply_file_text(text, "h.toml");
    return applied ? "" : applied.error().message;
  }
  std::string environment_error(const char* variable) {
    const char* const environment[] = {"PATH=/bin", variable, nullptr};
    const Result<void> applied = config_.apply_environment(environment);
    return applied ? "" : applied.error().message;
  }

  Fields fields_;
  Config config_;
};

TEST_F(ConfigTest, DefaultsAreTheFields) {
  for (const Setting& setting : config_.settings()) {
    EXPECT_EQ(setting.text, setting.default_text);
    EXPECT_EQ(setting.origin, "default");
  }
  EXPECT_EQ(fields_.body_bytes_max, 32u << 20);
}

TEST_F(ConfigTest, FileInSectionsOrWithDots) {
  EXPECT_EQ(file_error("listen = \"0.0.0.0:80\"\n"
                       "query.timeout_ms = 1500\n"
                       "[web]\nbody_bytes_max = \"1 MiB\"\n"
                       "[self_metrics]\nenabled = false\n"),
            "");
  EXPECT_EQ(fields_.listen, "0.0.0.0:80");
  EXPECT_EQ(fields_.timeout_ms, 1500);
  EXPECT_EQ(fields_.body_bytes_max, 1u << 20);
  EXPECT_FALSE(fields_.self);
}

TEST_F(ConfigTest, AListOfTablesIsTheTextOfItsJson) {
  EXPECT_EQ(
      file_error("[[listen]]\nname = \"a\"\nkeep = [\"1d\", \"0\"]\n[[listen]]\nname = \"b\"\n"),
      "");
  std::string json = fields_.listen;
  std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_EQ(json, R"([{"keep":["1d","0"],"name":"a"},{"name":"b"}])");
  EXPECT_NE(file_error("listen = [1, 2]"), "");
  EXPECT_NE(file_error("listen = []"), "");
}

TEST_F(ConfigTest, FlagsBeatEnvironmentBeatsFile) {
  const char* const environment[] = {"HALITE_QUERY_TIMEOUT_MS=2s", "HALITE_INGEST_TAGS_MAX=2",
                                     "HALITE_CONFIG=h.toml", nullptr};
  ASSERT_TRUE(config_.apply_flag("--listen", "listen", "[::]:1"));
  ASSERT_TRUE(config_.apply_flag("--set", "ingest.tags_max", "3"));
  ASSERT_TRUE(config_.apply_environment(environment));
  ASSERT_EQ(file_error("listen = \"x:1\"\n"
                       "query.timeout_ms = \"1s\"\n"
                       "ingest.tags_max = 1\n"
                       "web.body_bytes_max = 2048\n"),
            "");
  EXPECT_EQ(fields_.listen, "[::]:1");
  EXPECT_EQ(fields_.tags_max, 3);
  EXPECT_EQ(fields_.timeout_ms, 2000);
  EXPECT_EQ(fields_.body_bytes_max, 2048u);
}

TEST_F(ConfigTest, UnknownNamesNameTheNearest) {
  EXPECT_EQ(file_error("\n[web]\nbody_byte_max = 1\n"),
            "h.toml:3: unknown setting web.body_byte_max; did you mean web.body_bytes_max?");
  EXPECT_EQ(file_error("tags_max = 1\n"),
            "h.toml:1: unknown setting tags_max; did you mean ingest.tags_max?");
  EXPECT_EQ(environment_error("HALITE_LISTN=x"),
            "environment: unknown setting HALITE_LISTN; did you mean HALITE_LISTEN?");
  EXPECT_EQ(environment_error("HALITE_WEB_TIMEOUT_MS=x"),
            "environment: unknown setting HALITE_WEB_TIMEOUT_MS; did you mean "
            "HALITE_QUERY_TIMEOUT_MS?");
  EXPECT_EQ(environment_error("HALITE_TAGS_INGEST_MAX=x"),
            "environment: unknown setting HALITE_TAGS_INGEST_MAX; did you mean "
            "HALITE_INGEST_TAGS_MAX?");
  EXPECT_EQ(config_.apply_flag("--set", "stor", "memory").error().message,
            "--set: unknown setting stor; did you mean store?");
  // Words left out, and words in another order.
  for (const auto& [asked, meant] :
       std::vector<std::pair<std::string, std::string>>{{"web.body_max", "web.body_bytes_max"},
                                                        {"timeout", "query.timeout_ms"},
                                                        {"max_tags", "ingest.tags_max"},
                                                        {"body_size_max", "web.body_bytes_max"}}) {
    EXPECT_EQ(config_.apply_flag("--set", asked, "1").error().message,
              "--set: unknown setting " + asked + "; did you mean " + meant + "?");
  }
}

TEST_F(ConfigTest, ASettingOfNoTableBelowOneSaysSo) {
  EXPECT_EQ(file_error("[web]\nlisten = \"a:1\"\n"),
            "h.toml:2: unknown setting web.listen; if you mean listen, move the line above the "
            "first [TABLE]: here it belongs to [web]");
}

TEST_F(ConfigTest, ATableOfTheWrongKindSaysSo) {
  EXPECT_EQ(file_error("\n[rules]\nmetric = \"a\"\n"),
            "h.toml:3: unknown setting rules.metric; write [[rules]], with two brackets, above the "
            "keys of each rule");
  EXPECT_EQ(file_error("[[rules]]\nmetric = \"a\"\n"), "");
  EXPECT_EQ(file_error("web = 3\n"),
            "h.toml:1: unknown setting web; web is a table: set one of its settings, web.NAME");
  EXPECT_EQ(config_.apply_flag("--set", "web", "3").error().message,
            "--set: unknown setting web; web is a table: set one of its settings, web.NAME");
}

TEST_F(ConfigTest, ATableMayBeEmpty) { EXPECT_EQ(file_error("[web]\n[query]\n"), ""); }

TEST_F(ConfigTest, UnknownNamesWithoutANearOneSuggestNone) {
  const std::string none = "; halite serve --print-config lists all settings";
  for (const std::string asked : {"nosuch", "web.nosuch", "foo.max", "x", ""}) {
    EXPECT_EQ(config_.apply_flag("--set", asked, "1").error().message,
              "--set: unknown setting " + asked + none);
  }
  EXPECT_EQ(environment_error("HALITE_NOSUCH=x"),
            "environment: unknown setting HALITE_NOSUCH" + none);
  EXPECT_EQ(file_error("nosuch = 1\n"), "h.toml:1: unknown setting nosuch" + none);
}

TEST_F(ConfigTest, TextThatIsNotTomlSaysWhereAndWhatToWrite) {
  EXPECT_EQ(file_error("a = 1\nlisten =\n"),
            "h.toml:2: not valid TOML: key-value pair: expected value, saw '\\n'; write NAME = "
            "VALUE, texts in quotes, or [TABLE]");
  EXPECT_EQ(file_error("listen = \"a:1\n"),
            "h.toml:1: a text has no closing quote on its line; write NAME = \"VALUE\"");
  EXPECT_EQ(
      file_error("[web]\n[web]\n"),
      "h.toml:2: [web] cannot begin here: lines above set web by another [web] or by web.NAME; "
      "keep one [web], or only web.NAME");
  EXPECT_EQ(file_error("web.body_bytes_max = 1\n[web]\n"), file_error("[web]\n[web]\n"));
  EXPECT_EQ(file_error("listen = \"a:1\"\nlisten = \"b:1\"\n"),
            "h.toml:2: the name is set twice; remove one of the two lines");
}

TEST_F(ConfigTest, WrongValuesSayWhereAndWhat) {
  EXPECT_EQ(config_.apply_flag("--set", "web.body_bytes_max", "1x").error().message,
            "--set web.body_bytes_max must be a size such as \"32 MiB\", not \"1x\"");
  EXPECT_EQ(config_.apply_flag("--store", "store", "hbase").error().message,
            "--store must be one of rocksdb, memory, not \"hbase\"");
  EXPECT_EQ(file_error("store = \"hbase\""),
            "h.toml:1: store must be one of rocksdb, memory, not \"hbase\"");
  EXPECT_EQ(file_error("web.body_bytes_max = true"),
            "h.toml:1: web.body_bytes_max must be a size such as \"32 MiB\", not \"true\"");
  EXPECT_EQ(
      file_error("query.timeout_ms = \"2 hours\""),
      "h.toml:1: query.timeout_ms must be a duration such as \"10s\" or \"1d\", not \"2 hours\"");
  EXPECT_EQ(file_error("self_metrics.enabled = 2"),
            "h.toml:1: self_metrics.enabled must be true or false, not \"2\"");
  EXPECT_EQ(file_error("ingest.tags_max = 1.5"),
            "h.toml:1: ingest.tags_max must be a whole number, not \"1.5\"");
  EXPECT_EQ(file_error("ingest.tags_max = 2026-11-28"),
            "h.toml:1: ingest.tags_max must be a text, a number, true or false");
  EXPECT_EQ(file_error("listen = [1]"), "h.toml:1: listen must be a text, a number, true or false");
  EXPECT_EQ(file_error("listen = [\"a\", \"b\"]"),
            "h.toml:1: listen must be one text instead of a list, usually with commas: \"a,b\"");
  EXPECT_EQ(environment_error("HALITE_INGEST_TAGS_MAX=many"),
            "environment: HALITE_INGEST_TAGS_MAX must be a whole number, not \"many\"");
  EXPECT_EQ(config_.apply_flag("--store", "store", "x").error().message,
            "--store must be one of rocksdb, memory, not \"x\"");
  EXPECT_THAT(file_error("[web\n"), HasSubstr("h.toml:1: "));
  EXPECT_EQ(fields_.store, "rocksdb");
  EXPECT_EQ(fields_.tags_max, 32);
}

TEST_F(ConfigTest, RangesHoldAtTheirEnds) {
  EXPECT_EQ(file_error("web.body_bytes_max = 1024"), "");
  EXPECT_EQ(file_error("web.body_bytes_max = \"1 GiB\""), "");
  EXPECT_EQ(file_error("web.body_bytes_max = 1023"),
            "h.toml:1: web.body_bytes_max must be at least 1 KiB, not 1023 B");
  EXPECT_EQ(file_error("web.body_bytes_max = 1073741825"),
            "h.toml:1: web.body_bytes_max must be at most 1 GiB, not 1073741825 B");
  // The field's own type bounds it too.
  EXPECT_EQ(file_error("ingest.tags_max = 65535"), "");
  EXPECT_EQ(file_error("ingest.tags_max = 65536"),
            "h.toml:1: ingest.tags_max must be at most 65535, not 65536");
}

TEST_F(ConfigTest, AWrongValueIsNeverPassedOver) {
  ASSERT_TRUE(config_.apply_flag("--store", "store", "memory"));
  EXPECT_NE(file_error("store = \"hbase\""), "");
  EXPECT_EQ(fields_.store, "memory");
}

TEST_F(ConfigTest, AFileThatIsNotThereIsAnError) {
  const Result<void> applied = config_.apply_file("/nonexistent/h.toml");
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error().message,
              HasSubstr("cannot read the configuration file /nonexistent/h.toml: No such file"));
}

TEST_F(ConfigTest, OneLongValueDoesNotPushTheOthers) {
  ASSERT_EQ(file_error("listen = '" + std::string(300, 'x') + "'\n"), "");
  const std::string printed = config_.print();
  const std::size_t at = printed.find("ingest.tags_max");
  EXPECT_LT(printed.find('\n', at) - at, 100u);
}

TEST_F(ConfigTest, PrintsAllAndReadsItBack) {
  ASSERT_EQ(file_error("\nlisten = 'a\"b\\c'\nquery.timeout_ms = \"90s\"\n"), "");
  const std::string printed = config_.print();
  EXPECT_THAT(printed, HasSubstr("# Where to listen.\nlisten = \"a\\\"b\\\\c\""));
  EXPECT_THAT(printed, HasSubstr("# ms; default \"1m\"; from file h.toml:3\n"));
  EXPECT_THAT(printed, HasSubstr("# tags; default 32; from default\n"));
  fields_ = {};
  ASSERT_EQ(file_error(printed), "");
  EXPECT_EQ(fields_.listen, "a\"b\\c");
  EXPECT_EQ(fields_.timeout_ms, 90'000);
}

}  // namespace
}  // namespace halite
