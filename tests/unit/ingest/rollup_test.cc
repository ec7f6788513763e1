// Rollups and pre-aggregates, from text to what is to be written.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ingest/json/rollup_json.h"
#include "ingest/telnet/rollup_line.h"

namespace halite::ingest {
namespace {

const storage::RollupConfig& config() {
  static const storage::RollupConfig kConfig = [] {
    storage::RollupConfig made;
    made.ids = {{"sum", 0}, {"count", 1}, {"avg", 7}};
    storage::RollupTableConfig minutes{.interval = "1m",
                                       .cells = {},
                                       .table = "tsdb",
                                       .pre_aggregate = "tsdb-preagg",
                                       .is_default = true};
    storage::RollupTableConfig hours = minutes;
    hours.interval = "1h";
    hours.is_default = false;
    made.tables = {minutes, hours};
    return made;
  }();
  return kConfig;
}

class RollupTest : public testing::Test {
 protected:
  static RollupOptions options() { return {.aggregators = {"sum", "count", "max", "avg", "dev"}}; }

  [[nodiscard]] std::string reply(std::string_view line) const { return reply(line, rules_); }
  [[nodiscard]] static std::string reply(std::string_view line, const RollupRules& rules) {
    const auto named = parse_rollup_line(line, rules);
    return named ? "" : telnet_refusal(named.error(), {.command = "rollup"});
  }
  [[nodiscard]] NamedRollup taken(std::string_view line) const {
    const auto named = parse_rollup_line(line, rules_);
    EXPECT_TRUE(named) << named.error().text;
    return named.value_or(NamedRollup{});
  }
  [[nodiscard]] std::string error_of(std::string_view element) const {
    auto sent = read_sent_rollup(element, 16);
    if (!sent) return sent.error().message;
    const auto named = validate_sent_rollup(*sent, rules_);
    return named ? "" : http_refusal(named.error());
  }

  PointRules points_{{.tags_max = 8}, ""};
  RollupRules rules_{points_, &config(), options()};
};

TEST_F(RollupTest, ALineBecomesARollup) {
  const NamedRollup rollup = taken("rollup 1h-sum m 1356998400 42  host=a\r");
  EXPECT_EQ(rollup.series, (SeriesName{.metric = "m", .tags = {{"host", "a"}}}));
  EXPECT_EQ(rollup.table->interval, "1h");
  EXPECT_FALSE(rollup.pre_aggregated);
  EXPECT_EQ(rollup.aggregator, 0);
  EXPECT_EQ(rollup.time_s, 1'356'998'400);
  EXPECT_EQ(as_integer(rollup.value), 42);
  EXPECT_EQ(rollup.flags, 0);
  EXPECT_EQ(taken("rollup 1h-COUNT m 1 4.5 host=a").aggregator, 1);
  EXPECT_EQ(taken("rollup 1h-count m 1 4.5 host=a").flags, kFloat);
}

TEST_F(RollupTest, PreAggregatesAreMarkedByATag) {
  const NamedRollup both = taken("rollup 1h-sum:max m 1356998400 1 host=a");
  EXPECT_TRUE(both.pre_aggregated);
  EXPECT_EQ(both.series.tags, (std::vector<Tag>{{"_aggregate", "MAX"}, {"host", "a"}}));
  const NamedRollup grouped = taken("rollup sum m 1356998400 1 host=a");
  EXPECT_EQ(grouped.table, nullptr);
  EXPECT_TRUE(grouped.pre_aggregated);
  EXPECT_EQ(taken("rollup sum m 1 1 host=a _aggregate=sum").series.tags.front().value, "SUM");
  EXPECT_EQ(taken("rollup :sum m 1 1 host=a").series.tags.front().value, "SUM");
}

TEST_F(RollupTest, LinesAreRefusedInOpentsdbsWords) {
  const std::string illegal = "rollup: illegal argument: ";
  EXPECT_EQ(reply("rollup"), illegal + "not enough arguments (need least 7, got 0)\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1 2"), illegal + "not enough arguments (need least 7, got 4)\n");
  EXPECT_EQ(reply("rollup  m 1 2 a=b"), illegal + "Missing interval or aggregator\n");
  EXPECT_EQ(reply("rollup 1h-sum  1 2 a=b"), illegal + "empty metric name\n");
  EXPECT_EQ(reply("rollup 1h-sum m x 2 a=b"),
            "rollup: invalid value: Invalid character 'x' in x\n");
  EXPECT_EQ(reply("rollup 1h-sum m 0 2 a=b"), illegal + "invalid timestamp: 0\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1  a=b"), illegal + "empty value\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1 x a=b"),
            "rollup: invalid value: Invalid character 'x' in x\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1 x a"), illegal + "invalid tag: a\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1 1e999 a=b"),
            illegal + "value is NaN or Infinite: Infinity for metric=m timestamp=1\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1356998400500 300 a=b"),
            illegal +
                "bad timestamp=1356998400500 when trying to add value=[1, 44]/1 to metric=m, "
                "tags={a=b}\n");
  EXPECT_EQ(reply("rollup 5m-sum m 1 1 a=b"),
            "rollup: No such rollup: No rollups configured for the interval: 5m\n");
  EXPECT_EQ(reply("rollup 1h-max m 1 1 a=b"), illegal + "No ID found mapping to aggregator: max\n");
  EXPECT_EQ(reply("rollup 1h-Foo m 1 1 a=b"), illegal + "No ID found mapping to aggregator: Foo\n");
  EXPECT_EQ(reply("rollup 5m-dev:bar m 1356998400500 1 a=b"),
            illegal + "No ID found mapping to aggregator: dev\n");
  EXPECT_EQ(reply("rollup 1h- m 1 1 a=b"), illegal + "Aggregator cannot be null or empty.\n");
  EXPECT_EQ(reply("rollup 1h-avg m 1 1 a=b"),
            illegal + "Derived rollup aggregations are not allowed AVG with metric m {a=b}\n");
  EXPECT_EQ(reply("rollup 1h-sum:dev m 1 1 a=b"),
            illegal +
                "Derived group by aggregations are not allowed dev with metric m "
                "{a=b, _aggregate=DEV}\n");
  EXPECT_EQ(reply("rollup 1h-sum:foo m 1 1 a=b"),
            illegal + "Invalid group by aggregator foo with metric m {a=b, _aggregate=FOO}\n");
  EXPECT_EQ(reply("rollup 1h-sum:max m 1 1 _aggregate=SUM"),
            illegal +
                "Given tag value for _aggregate of SUM did not match the group by aggregator "
                "of max for m {_aggregate=SUM}\n");
  EXPECT_EQ(reply("rollup 1h-sum m 1 1 _aggregate=SUM"),
            illegal +
                "Given tag value for _aggregate of SUM did not match the group by aggregator "
                "of null for m {_aggregate=SUM}\n");
  EXPECT_EQ(reply("rollup -sum m 1 1 a=b"),
            "rollup: storage error: Interval cannot be null for a non-group by point\n");
  EXPECT_EQ(reply("rollup 1h-sum m{ 1 1 a=b"),
            illegal + "Invalid metric name (\"m{\"): illegal character: {\n");
}

TEST_F(RollupTest, OptionsDecideWhatIsMarkedAndBlocked) {
  RollupOptions options = RollupTest::options();
  options.block_derived = false;
  options.tag_raw = true;
  options.aggregate_tag = "agg";
  const RollupRules rules(points_, &config(), options);
  const auto named = parse_rollup_line("rollup 1h-avg m 1 1 a=b", rules);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->aggregator, 7);
  EXPECT_EQ(named->series.tags, (std::vector<Tag>{{"a", "b"}, {"agg", "RAW"}}));
}

TEST_F(RollupTest, WhereRollupsAreOffEachIsRefused) {
  const RollupRules off(points_, nullptr, options());
  EXPECT_EQ(reply("rollup 1h-sum m 1 1 a=b", off),
            "rollup: illegal argument: No rollup or aggregations were configured\n");
  EXPECT_EQ(reply("rollup sum m 1 1 a=b", off),
            "rollup: illegal argument: Invalid tag name with value [SUM]: null\n");
  EXPECT_EQ(reply("rollup", off),
            "rollup: illegal argument: not enough arguments (need least 7, got 0)\n");
}

TEST_F(RollupTest, ElementsAreRefusedInOpentsdbsWords) {
  const std::string head = R"({"metric":"m","timestamp":1,"value":1,"tags":{"a":"b"})";
  EXPECT_EQ(error_of(head + R"(,"interval":"1h","aggregator":"sum"})"), "");
  EXPECT_EQ(error_of(head + R"(,"groupByAggregator":"sum"})"), "");
  EXPECT_EQ(error_of(head + "}"), "Missing interval");
  EXPECT_EQ(error_of(head + R"(,"interval":"1h"})"), "Missing aggregator");
  EXPECT_EQ(error_of(head + R"(,"interval":"","aggregator":"sum"})"), "Missing interval");
  EXPECT_EQ(error_of(head + R"(,"interval":"5m","aggregator":"sum"})"), "Unexpected exception");
  EXPECT_EQ(error_of(R"({"timestamp":1,"value":1,"tags":{"a":"b"}})"), "Metric name was empty");
  EXPECT_EQ(error_of(R"({"metric":"m","value":1,"tags":{"a":"b"}})"), "Invalid timestamp");
  EXPECT_EQ(error_of(R"({"metric":"m","timestamp":1,"tags":{"a":"b"}})"), "Empty value");
  EXPECT_EQ(error_of(R"({"metric":"m","timestamp":1,"value":1})"), "Missing tags");
  EXPECT_EQ(error_of(R"({"metric":"m","timestamp":1,"value":"x","tags":{"a":"b"},)"
                     R"("groupByAggregator":"sum"})"),
            "Unable to parse value to a number");
  EXPECT_EQ(error_of(head + R"(,"interval":{}})"), "Unable to parse the given JSON");
}

TEST_F(RollupTest, ElementsAreShownAsTheyWereSent) {
  const auto sent = read_sent_rollup(
      R"({"interval":"1h","metric":"m","timestamp":"1","value":2.5,"x":[1],"aggregator":"sum"})",
      16);
  ASSERT_TRUE(sent) << sent.error().details;
  EXPECT_EQ(echo_sent_rollup(*sent),
            R"({"metric":"m","timestamp":1,"value":"2.5","interval":"1h","aggregator":"sum"})");
}

TEST_F(RollupTest, FloatsOfElementsAreWide) {
  auto sent = read_sent_rollup(R"({"metric":"m","timestamp":1,"value":4.5,"tags":{"a":"b"},)"
                               R"("interval":"1h","aggregator":"sum"})",
                               16);
  ASSERT_TRUE(sent);
  EXPECT_EQ(validate_sent_rollup(*sent, rules_)->flags, kFloat | kWide);
}

}  // namespace
}  // namespace halite::ingest
