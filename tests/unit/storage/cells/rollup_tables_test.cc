#include "storage/cells/rollups/rollup_tables.h"

#include <map>

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/rollups/histogram_cells.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kDayBegin = 1'356'998'400;
constexpr TimeRange kAll = {0, TimestampMs{kDayBegin} * 1000 + 86'400'000};

SeriesQuery of_metric_m() {
  SeriesQuery query;
  query.metric = "m";
  return query;
}

CyclicOptions four_salts() {
  CyclicOptions options;
  options.salt_buckets = 4;
  return options;
}

RollupConfig two_intervals() {
  RollupConfig config;
  config.ids = {{"sum", 0}, {"count", 1}, {"max", 3}};
  config.tables = {{.interval = "1m",
                    .cells = {.seconds = 60, .span = RollupSpan::kHours},
                    .table = "tsdb",
                    .pre_aggregate = "tsdb-preagg",
                    .is_default = true},
                   {.interval = "1h",
                    .cells = {.seconds = 3600, .span = RollupSpan::kDay},
                    .table = "tsdb-rollup-1h",
                    .pre_aggregate = "tsdb-preagg-1h"}};
  return config;
}

// Points in the cyclic layout, so that their rows have salts and those of rollups have none.
class RollupTablesTest : public testing::Test {
 protected:
  RollupTablesTest() {
    std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(four_salts()).value();
    points_ = run_task(CellPointStore::open({cells_, layout, layout->parameters(), clock_,
                                             pool_.get_executor(), metrics_},
                                            {}))
                  .value();
    tables_ = run_task(RollupTables::open(dependencies({}), two_intervals())).value();
  }
  void TearDown() override {
    EXPECT_TRUE(run_task(points_->close()));
    pool_.join();
  }

  RollupTables::Dependencies dependencies(OpentsdbOptions layout) {
    return {.store = cells_,
            .series = points_->registry(),
            .rows = OpentsdbLayout::make(layout).value(),
            .scan = {},
            .data_table = "tsdb",
            .settings_table = "halite-settings",
            .clock = clock_,
            .registry = metrics_};
  }

  SeriesId series(const std::string& host) {
    return run_task(points_->intern({{"m", {{"host", host}}}}, {})).value().front().value();
  }
  [[nodiscard]] const RollupTableConfig* hourly() const { return tables_->config().find("1h"); }

  RollupWrite rollup(SeriesId id, std::uint8_t aggregator, int hour, ValueBits value,
                     std::uint8_t flags = 0) {
    return {.series = id,
            .table = hourly(),
            .aggregator = aggregator,
            .time_s = kDayBegin + 3600 * hour,
            .value = value,
            .flags = flags};
  }
  void write(std::vector<RollupWrite> points) {
    const auto refused = run_task(tables_->write(std::move(points)));
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_THAT(*refused, IsEmpty());
  }

  std::vector<Block> read(BlockSource& source, SeriesQuery query = of_metric_m(),
                          TimeRange range = kAll) {
    const auto selection = run_task(points_->select(std::move(query), {})).value();
    std::vector<Block> blocks;
    for (std::uint32_t shard = 0; shard < source.shard_count(); ++shard) {
      const auto scan = source.scan(selection, range, shard);
      while (true) {
        std::vector<Block> some = run_task(scan->next()).value();
        if (some.empty()) break;
        std::ranges::move(some, std::back_inserter(blocks));
      }
    }
    return blocks;
  }
  std::vector<Block> read(std::string_view aggregator) {
    return read(*tables_->source(*hourly(), false, aggregator).value());
  }

  FakeClock clock_{TimestampMs{kDayBegin} * 1000};
  prometheus::Registry metrics_;
  boost::asio::thread_pool pool_{1};
  MemoryStore cells_{clock_};
  std::unique_ptr<CellPointStore> points_;
  std::unique_ptr<RollupTables> tables_;
};

TEST_F(RollupTablesTest, EachAggregatorIsReadAlone) {
  const SeriesId a = series("a");
  write({rollup(a, 0, 1, 10), rollup(a, 0, 0, 5), rollup(a, 1, 0, 2)});
  const auto sums = read("sum");
  ASSERT_EQ(sums.size(), 1U);
  EXPECT_EQ(sums[0].series, a);
  EXPECT_THAT(sums[0].times, ElementsAre(kDayBegin * 1000, (kDayBegin + 3600) * 1000));
  EXPECT_THAT(sums[0].values, ElementsAre(5U, 10U));
  EXPECT_TRUE(sums[0].floats.none());
  EXPECT_THAT(read("zimsum")[0].values, ElementsAre(5U, 10U));
  EXPECT_THAT(read("count")[0].values, ElementsAre(2U));
  EXPECT_THAT(read("max"), IsEmpty());
  EXPECT_EQ(tables_->source(*hourly(), false, "first").error().message,
            "No ID found mapping to aggregator: first");
}

TEST_F(RollupTablesTest, AveragesAreSumsWithTheirCounts) {
  const SeriesId a = series("a");
  write({rollup(a, 0, 0, 5), rollup(a, 0, 1, 6), rollup(a, 0, 3, 7), rollup(a, 1, 0, 2),
         rollup(a, 1, 2, 9), rollup(a, 1, 3, double_bits(3.9), kFloat)});
  const auto blocks = read("avg");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks[0].values, ElementsAre(5U, 7U));
  EXPECT_THAT(blocks[0].counts, ElementsAre(2, 3));
}

TEST_F(RollupTablesTest, SumsWithoutCountsShowThatTheSeriesIsThere) {
  const SeriesId a = series("a");
  write({rollup(a, 0, 0, 5)});
  const auto blocks = read("avg");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].series, a);
  EXPECT_THAT(blocks[0].times, IsEmpty());
}

TEST_F(RollupTablesTest, TheLastValueWinsWhateverItsForm) {
  const SeriesId a = series("a");
  write({rollup(a, 0, 0, double_bits(4.2), kFloat), rollup(a, 0, 0, 1)});
  EXPECT_THAT(read("sum")[0].values, ElementsAre(1U));
  clock_.advance(1);
  write({rollup(a, 0, 0, double_bits(4.2), kFloat)});
  EXPECT_THAT(read("sum")[0].values, ElementsAre(double_bits(4.2)));
  EXPECT_TRUE(read("sum")[0].floats.test(0));
  clock_.advance(1);
  write({rollup(a, 0, 0, 300)});
  EXPECT_THAT(read("sum")[0].values, ElementsAre(300U));
}

TEST_F(RollupTablesTest, RowsAreReadFromTheMiddle) {
  const SeriesId a = series("a");
  write({rollup(a, 0, 0, 1), rollup(a, 0, 5, 6), rollup(a, 0, 9, 10)});
  const auto source = tables_->source(*hourly(), false, "sum").value();
  const TimeRange middle = {(kDayBegin + 3600 * 4) * 1000, (kDayBegin + 3600 * 9) * 1000};
  const auto blocks = read(*source, of_metric_m(), middle);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks[0].values, ElementsAre(6U));
}

TEST_F(RollupTablesTest, FewOfManySeriesAreFoundByKey) {
  std::vector<RollupWrite> points;
  for (int i = 0; i < 20; ++i) points.push_back(rollup(series(std::to_string(i)), 0, 30, 1));
  write(std::move(points));
  const auto source = tables_->source(*hourly(), false, "sum").value();
  SeriesQuery query = of_metric_m();
  query.filters.push_back({FilterType::kLiteralOr, "host", "3|17"});
  const auto blocks = read(*source, query, {0, (kDayBegin + 3 * 86'400) * 1000});
  EXPECT_EQ(blocks.size(), 2U);
}

TEST_F(RollupTablesTest, PreAggregatesOfTheDefaultIntervalAreOrdinaryPoints) {
  const SeriesId a = series("a");
  write({{.series = a, .time_s = kDayBegin + 61, .value = 7}});
  const auto blocks = read(*tables_->pre_aggregates());
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks[0].times, ElementsAre((kDayBegin + 61) * 1000));
  EXPECT_THAT(read("sum"), IsEmpty());
}

TEST_F(RollupTablesTest, RollupsAsFineAsPointsLieBesideThem) {
  RollupWrite fine = rollup(series("a"), 1, 0, 7);
  fine.table = &tables_->config().default_table();
  write({fine});
  const auto blocks =
      read(*tables_->source(tables_->config().default_table(), false, "count").value());
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks[0].values, ElementsAre(7U));
}

TEST_F(RollupTablesTest, TimesThatNoRowHoldsAreRefusedAlone) {
  const SeriesId a = series("a");
  RollupWrite late = rollup(a, 0, 0, 1);
  late.time_s = std::int64_t{1} << 32;
  const auto refused = run_task(tables_->write({late, rollup(a, 0, 0, 2)}));
  ASSERT_TRUE(refused);
  ASSERT_EQ(refused->size(), 1U);
  EXPECT_EQ(refused->front().index, 0U);
  EXPECT_EQ(refused->front().error.code, Errc::kInvalidArgument);
  EXPECT_THAT(read("sum")[0].values, ElementsAre(2U));
}

TEST_F(RollupTablesTest, TablesAreOpenedAsTheyWereMade) {
  EXPECT_TRUE(run_task(RollupTables::open(dependencies({}), two_intervals())));
  EXPECT_EQ(
      run_task(RollupTables::open(dependencies({.widths = {}, .salt_width = 1}), two_intervals()))
          .error()
          .code,
      Errc::kInvalidArgument);
  RollupConfig config = two_intervals();
  config.tables[1].pre_aggregate = "tsdb";
  EXPECT_EQ(run_task(RollupTables::open(dependencies({}), config)).error().code,
            Errc::kInvalidArgument);
}

TEST_F(RollupTablesTest, HistogramsComeBackByTime) {
  const auto histograms = run_task(HistogramCells::open({.store = cells_,
                                                         .series = points_->registry(),
                                                         .rows = OpentsdbLayout::make({}).value(),
                                                         .scan = {},
                                                         .table = "tsdb-histogram",
                                                         .cell_ttl_ms = 0,
                                                         .settings_table = "halite-settings",
                                                         .clock = clock_,
                                                         .registry = metrics_},
                                                        {.simple_id = 42}))
                              .value();
  const SeriesId a = series("a");
  const TimestampMs begin = kDayBegin * 1000;
  ASSERT_TRUE(run_task(histograms->write({{a, begin + 500, true, "\x2A second"},
                                          {a, begin, false, "\x2A overwritten"},
                                          {a, begin, false, "\x2A first"},
                                          {a, begin + 3'600'000, false, "\x2A third"}})));
  clock_.advance(1);
  ASSERT_TRUE(run_task(histograms->write({{a, begin, true, "\x2A newest"}})));
  const auto selection = run_task(points_->select(of_metric_m(), {})).value();
  ASSERT_EQ(histograms->shard_count(), 1U);
  const auto scan = histograms->scan(selection, {begin, begin + 3'600'000}, 0);
  const auto blocks = run_task(scan->next()).value();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks[0].times, ElementsAre(begin, begin + 500));
  EXPECT_THAT(blocks[0].values, ElementsAre("\x2A newest", "\x2A second"));
  EXPECT_THAT(run_task(scan->next()).value(), IsEmpty());
}

TEST(RollupConfigs, AreReadAndCheckedAsOpentsdbDoes) {
  const std::vector<std::string> aggregators = {"sum", "count"};
  const auto message = [&](std::string_view ids, std::string_view intervals) {
    const std::string text = "{\"aggregationIds\":" + std::string(ids) +
                             ",\"intervals\":" + std::string(intervals) + "}";
    const auto config = parse_rollup_config(text, aggregators);
    return config ? "" : config.error().message;
  };
  const std::string hour = R"({"table":"t","preAggregationTable":"p","interval":"1h",)"
                           R"("rowSpan":"1d","defaultInterval":true})";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = hour;
    text.replace(text.find(from), from.size(), to);
    return "[" + text + "]";
  };
  EXPECT_EQ(message(R"({"SUM":0,"count":127})", "[" + hour + "]"), "");
  EXPECT_EQ(message("{}", "[" + hour + "]"),
            "Rollup config given but no aggegation ID mappings found.");
  EXPECT_EQ(message(R"({"sum":0})", "[]"), "Rollup config given but no intervals were found.");
  EXPECT_EQ(message(R"({"sum":128})", "[" + hour + "]"),
            "ID for aggregator must be between 0 and 127: sum");
  EXPECT_EQ(message(R"({"sum":1,"count":1})", "[" + hour + "]"),
            "Multiple mappings for the ID '1' are not allowed.");
  EXPECT_EQ(message(R"({"foo":1})", "[" + hour + "]"), "No such aggregator found for foo");
  EXPECT_EQ(message(R"({"sum":0})", "[" + hour + "," + hour + "]"),
            "Only one interval of each type can be configured: 1h");
  EXPECT_EQ(message(R"({"sum":0})", with("true", "false")),
            "None of the rollup intervals were marked as the \"default\".");
  EXPECT_EQ(message(R"({"sum":0})", with("1h", "0h")), "Invalid duration (number): 0h");
  EXPECT_EQ(message(R"({"sum":0})", with("1h", "100ms")), "Invalid duration (suffix): 100ms");
  EXPECT_EQ(message(R"({"sum":0})", with("1d", "2d")),
            "Multipliers are only usable with the 'h' unit");
  EXPECT_NE(message(R"({"sum":0})", with("1d", "3h")), "");
  EXPECT_NE(message(R"({"sum":0})", with("1d", "4h")), "");
  EXPECT_EQ(message(R"({"sum":0})", with("\"t\"", "\"\"")),
            "The rollup table cannot be null or empty");
  EXPECT_FALSE(parse_rollup_config("nonsense", aggregators));
}

TEST(HistogramConfigs, KnowTheSimpleHistogramOnly) {
  EXPECT_EQ(parse_histogram_config(R"({"net.opentsdb.core.SimpleHistogramDecoder":42})")->simple_id,
            42);
  EXPECT_EQ(parse_histogram_config("{}")->simple_id, std::nullopt);
  EXPECT_EQ(parse_histogram_config(R"({"x.Y":1})").error().message,
            "Unable to find a decoder named 'x.Y'");
  EXPECT_EQ(
      parse_histogram_config(R"({"net.opentsdb.core.SimpleHistogramDecoder":256})").error().message,
      "ID for codec 'net.opentsdb.core.SimpleHistogramDecoder' must be from 0 to 255.");
  EXPECT_FALSE(parse_histogram_config("[]"));
}

}  // namespace
}  // namespace halite::storage
