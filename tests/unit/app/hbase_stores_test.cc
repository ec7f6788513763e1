// Several daemons' stores on one HBase.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "app/stores/stores.h"
#include "app/tools/hbase_tool.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

using storage::Block;
using storage::HistogramBlock;
using test::run_task;
using testing::HasSubstr;

constexpr std::int64_t kHour = 1'356'998'400;
constexpr TimeRange kDay = {kHour * 1000, (kHour + 86'400) * 1000};

class HBaseStoresTest : public testing::Test {
 protected:
  HBaseStoresTest() {
    options_.store = StoreKind::kHBase;
    const auto server = hbase_.endpoint(0);
    options_.hbase.registry = fmt::format("{}:{}", server.host, server.port);
    options_.hbase.store.client.pause_ms_min = 1;
    options_.rollups.enabled = true;
    options_.rollups.config =
        R"({"aggregationIds":{"sum":0,"count":1},"intervals":[)"
        R"({"table":"tsdb","preAggregationTable":"pre","interval":"1m","rowSpan":"1h",)"
        R"("defaultInterval":true},)"
        R"({"table":"hourly","preAggregationTable":"pre-1h","interval":"1h","rowSpan":"1d"}]})";
    options_.histograms = R"({"net.opentsdb.core.SimpleHistogramDecoder":42})";
    EXPECT_TRUE(resolve_options(options_));
  }

  // A daemon that knows nothing yet.
  struct Daemon {
    prometheus::Registry metrics;
    boost::asio::thread_pool pool{1};
    std::unique_ptr<Stores> stores;
    ~Daemon() {
      if (stores != nullptr) EXPECT_TRUE(stores->close());
      stores.reset();
      pool.join();
    }
  };
  std::unique_ptr<Daemon> start(const Options& options) {
    auto daemon = std::make_unique<Daemon>();
    auto opened = open_stores(options, clock_, daemon->pool.get_executor(), daemon->metrics);
    EXPECT_TRUE(opened) << opened.error().message;
    if (opened) daemon->stores = *std::move(opened);
    return daemon;
  }

  static storage::SeriesId series(Stores& stores, const std::string& host) {
    auto ids = stores.points().intern({{"m", {{"host", host}}}}, {});
    return run_task(std::move(ids)).value().front().value();
  }
  static std::shared_ptr<const storage::Selection> select(Stores& stores) {
    storage::SeriesQuery query;
    query.metric = "m";
    return run_task(stores.points().select(std::move(query), {})).value();
  }

  test::FakeHBase hbase_;
  FakeClock clock_{(kHour + 86'400) * 1000};
  Options options_;
};

void write_rollup(Stores& stores, storage::SeriesId id, ValueBits sum) {
  storage::RollupTables& rollups = *stores.rollups();
  const storage::RollupWrite point{
      .series = id, .table = rollups.config().find("1h"), .time_s = kHour, .value = sum};
  const auto refused = run_task(rollups.write({point}));
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_TRUE(refused->empty());
}

// Others write the same tables: what a daemon has not seen is asked for.
TEST_F(HBaseStoresTest, ADaemonThatHasJustBegunAnswersRollups) {
  const auto first = start(options_);
  write_rollup(*first->stores, series(*first->stores, "a"), 5);
  const auto second = start(options_);
  Stores& stores = *second->stores;
  const auto sums = [&stores] {
    std::vector<ValueBits> values;
    auto& rollups = *stores.rollups();
    const auto source = rollups.source(*rollups.config().find("1h"), false, "sum").value();
    const auto selection = select(stores);
    for (std::uint32_t shard = 0; shard < source->shard_count(); ++shard) {
      const auto scan = source->scan(selection, kDay, shard);
      for (;;) {
        const std::vector<Block> some = run_task(scan->next()).value();
        if (some.empty()) break;
        for (const Block& block : some) std::ranges::copy(block.values, std::back_inserter(values));
      }
    }
    return values;
  };
  EXPECT_THAT(sums(), testing::ElementsAre(5U));
  write_rollup(*first->stores, series(*first->stores, "b"), 6);  // one more, since
  EXPECT_THAT(sums(), testing::ElementsAre(5U, 6U));
}

TEST_F(HBaseStoresTest, PointsAreLoadedAsFiles) {
  const test::TempDir dir;
  hbase_.set_staging(dir.path() + "/staging");
  const auto daemon = start(options_);
  Stores& stores = *daemon->stores;
  const auto loader = stores.make_point_loader({.url = "file://" + dir.path() + "/files"});
  ASSERT_TRUE(loader) << loader.error().message;
  storage::PointBatch batch;
  const storage::SeriesId id = series(stores, "a");
  for (const std::int64_t second : {20, 0, 10}) {
    batch.add(id, (kHour + second) * 1000, integer_bits(second), 0);
  }
  const auto loaded = run_task((*loader)->load(std::move(batch)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->points, 3U);
  const auto scan = stores.points().scan(select(stores), kDay, 0);
  const std::vector<Block> blocks = run_task(scan->next()).value();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_THAT(blocks.front().values, testing::ElementsAre(0U, 10U, 20U));
  EXPECT_EQ(stores.make_point_loader({.url = "hdfs://nn/x"}).error().code, Errc::kUnsupported);
}

TEST_F(HBaseStoresTest, ADaemonThatHasJustBegunAnswersHistograms) {
  const auto first = start(options_);
  const auto write = [&first](const std::string& host) {
    Stores& stores = *first->stores;
    const storage::HistogramWrite one{
        .series = series(stores, host), .time = kHour * 1000, .value = "\x2A" + host};
    const auto refused = run_task(stores.histograms()->write({one}));
    ASSERT_TRUE(refused) << refused.error().message;
    EXPECT_TRUE(refused->empty());
  };
  write("a");
  const auto second = start(options_);
  Stores& stores = *second->stores;
  const auto values = [&stores] {
    std::vector<Bytes> all;
    const auto selection = select(stores);
    for (std::uint32_t shard = 0; shard < stores.histograms()->shard_count(); ++shard) {
      const auto scan = stores.histograms()->scan(selection, kDay, shard);
      for (;;) {
        const std::vector<HistogramBlock> some = run_task(scan->next()).value();
        if (some.empty()) break;
        for (const HistogramBlock& block : some)
          std::ranges::copy(block.values, std::back_inserter(all));
      }
    }
    return all;
  };
  EXPECT_THAT(values(), testing::ElementsAre("\x2A"
                                             "a"));
  write("b");
  EXPECT_THAT(values(), testing::ElementsAre("\x2A"
                                             "a",
                                             "\x2A"
                                             "b"));
}

TEST_F(HBaseStoresTest, TheToolTellsTheTtlAndLowersItOnlyWhereThatIsAskedFor) {
  const auto create = [this](std::int64_t ttl_ms) {
    options_.layout.ttl_ms = ttl_ms;
    auto told = create_hbase_tables(options_);
    EXPECT_TRUE(told) << told.error().message;
    return told ? *std::move(told) : std::string();
  };
  constexpr std::int64_t kWeekMs = 7 * 86'400'000;
  create(kWeekMs);
  const std::string week = hbase_.attribute("tsdb", "t", "TTL");
  EXPECT_THAT(create(kWeekMs), HasSubstr("tsdb          already exists; not changed\n"));
  EXPECT_THAT(create(0), HasSubstr("already exists; its TTL was " + week + " s and is now none\n"));
  const std::string kept = create(kWeekMs);
  EXPECT_THAT(kept, HasSubstr("already exists; not changed\n"));
  EXPECT_THAT(kept, HasSubstr("longer than storage.ttl_ms (" + week + " s); --lower-ttl"));
  EXPECT_EQ(hbase_.attribute("tsdb", "t", "TTL"), "2147483647");
  EXPECT_THAT(kept, HasSubstr(", TTL none\n"));
  options_.hbase.store.tables.lower_ttl = true;
  const std::string lowered = create(kWeekMs);
  EXPECT_THAT(lowered, HasSubstr("its TTL was none and is now " + week + " s\n"));
  EXPECT_THAT(lowered, Not(HasSubstr("longer than")));
  EXPECT_EQ(hbase_.attribute("tsdb", "t", "TTL"), week);
}

TEST_F(HBaseStoresTest, WhereThePointsLieIsTold) {
  const auto daemon = start(options_);
  const auto told = run_task(daemon->stores->table_regions());
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->table, "tsdb");
  ASSERT_FALSE(told->regions.empty());
  EXPECT_EQ(told->regions.front().from, "the first row");
  for (const storage::TableRegion& region : told->regions) EXPECT_NE(region.server, "");
  const auto shown = show_hbase_regions(options_);
  ASSERT_TRUE(shown) << shown.error().message;
  for (const storage::ServerLoad& load : storage::loads_of_servers(*told)) {
    EXPECT_THAT(*shown, HasSubstr(load.server));
  }
}

// Maintenance: disable, alter, enable. What comes meanwhile is to be sent again, not dropped.
TEST_F(HBaseStoresTest, PointsForADisabledTableAreUnavailable) {
  const auto daemon = start(options_);
  storage::PointStore& points = daemon->stores->points();
  const storage::SeriesId id = series(*daemon->stores, "a");
  const auto append = [&points, id] {
    storage::PointBatch batch;
    batch.add(id, kHour * 1000, 1, 0);
    const auto accepted = run_task(points.append(std::move(batch))).value();
    EXPECT_TRUE(accepted.refused.empty());
    return run_task(accepted.durable.wait());
  };
  ASSERT_TRUE(append());
  hbase_.set_disabled("tsdb", true);
  Result<void> refused = append();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("\"tsdb\" is disabled"));
  hbase_.set_disabled("tsdb", false);
  EXPECT_TRUE(append());
  hbase_.drop_table("tsdb-uid");
  const auto interned = run_task(points.intern({{"new", {{"host", "b"}}}}, {}));
  ASSERT_FALSE(interned);
  EXPECT_EQ(interned.error().code, Errc::kUnavailable);
  EXPECT_THAT(interned.error().message, HasSubstr("no table \"tsdb-uid\""));
}

}  // namespace
}  // namespace halite::app
