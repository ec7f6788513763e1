// Three laps of a ring of slots on a real HBase, in shrunken time.
//
// Halite's clock runs through some 40 minutes that are past, a minute a step, and writes and reads
// at its time. HBase's servers keep the real one; so that they, too, see cells expire as they get
// old by Halite's clock, their TTL is set anew as it goes on.
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include "storage/backends/hbase/regions/region_compactor.h"
#include "storage/backends/hbase/regions/region_plan.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "storage/cells/cell_point_store.h"
#include "tests/hbase/test_cluster.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::uint32_t kSlots = 12;
constexpr int kLaps = 3;
constexpr int kHosts = 5;
constexpr std::int64_t kTtlMs = 2 * kMinuteMs;
constexpr std::int64_t kLateMs = kMinuteMs;
constexpr std::int64_t kSlackMs = 50'000;  // less than a minute: see kLife
constexpr TimeRange kAlways{0, std::numeric_limits<TimestampMs>::max()};

CyclicOptions ring_options() {
  CyclicOptions options;
  options.salt_buckets = 2;
  options.span_ms = kMinuteMs;
  options.slots = kSlots;
  options.ttl_ms = kTtlMs;
  options.future_max_ms = 0;
  options.cleaning_ms = kLateMs;
  return options;
}

HBaseStoreOptions without_expiry() {
  HBaseStoreOptions options = test::store_on_cluster();
  options.tables.expire = false;  // the test sets it
  return options;
}

class HBaseRingTest : public testing::Test {
 protected:
  void SetUp() override {
    table_ = store_.whole_name("tsdb");
    const auto plan = plan_regions(*layout_, {.servers = 1, .regions_max = 8}, kLife);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_GT(plan->dead_ms, 2 * kMinuteMs);
    CellPointStoreOptions options;
    options.cell_ttl_ms = kTtlMs + 1;  // a point lives to the end of its last millisecond
    options.split_keys = plan->split_keys;
    options.fixed_regions = plan->fixed;
    options.append.late_max_ms = kLateMs;
    options.scan.shared_tables = true;
    auto opened = run_task(CellPointStore::open(
        {store_, layout_, layout_->parameters(), clock_, background_.get_executor(), registry_},
        options));
    ASSERT_TRUE(opened) << opened.error().message;
    points_ = *std::move(opened);
    compactor_.emplace(RegionCompactor::Dependencies{.client = store_.client(),
                                                     .table = table_,
                                                     .layout = layout_,
                                                     .life = kLife,
                                                     .clock = clock_,
                                                     .registry = registry_},
                       RegionCompactorOptions{.regions_at_once = 8});
  }
  void TearDown() override {
    if (points_ != nullptr) EXPECT_TRUE(run_task(points_->close()));
    points_.reset();
    background_.join();
    EXPECT_TRUE(run_task(store_.close()));
  }

  std::vector<hbase::RegionStatus> regions() {
    return run_task(store_.client().regions(table_)).value();
  }
  std::set<Bytes> region_names() {
    std::set<Bytes> names;
    for (const hbase::RegionStatus& region : regions()) names.insert(region.name);
    return names;
  }

  // Points of this minute, and one that comes late.
  void write(int step) {
    const TimestampMs now = clock_.now_ms();
    PointBatch batch;
    for (int host = 0; host < kHosts; ++host) {
      const SeriesName name{"m", {{"host", std::to_string(host)}}};
      const SeriesId id = run_task(points_->intern({name}, CreateNames())).value().at(0).value();
      for (const std::int64_t back : {std::int64_t{0}, std::int64_t{20'000}, kLateMs - 1}) {
        batch.add(id, now - back, integer_bits(step), 0);
        written_[{host, now - back}] = step;
      }
      batch.add(id, now - kLateMs - 1, integer_bits(step), 0);  // too late
    }
    const Accepted accepted = run_task(points_->append(std::move(batch))).value();
    EXPECT_EQ(accepted.refused.size(), std::size_t{kHosts});
    const Result<void> durable = run_task(accepted.durable.wait());
    ASSERT_TRUE(durable) << durable.error().message;
  }

  using Found = std::map<std::pair<int, TimestampMs>, int>;
  Found read() {
    Found found;
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points_->select(query, {})).value();
    for (std::uint32_t shard = 0; shard < points_->shard_count(); ++shard) {
      const auto scan = points_->scan(selection, kAlways, shard);
      for (;;) {
        const auto blocks = run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) {
          const int host =
              std::stoi(std::string(points_->series(block.series).tags.begin()->value));
          for (std::size_t i = 0; i < block.size(); ++i) {
            found[{host, block.times[i]}] = static_cast<int>(as_integer(block.values[i]));
          }
        }
      }
    }
    return found;
  }
  Found alive() const {
    Found alive;
    for (const auto& [place, value] : written_) {
      if (place.second >= clock_.now_ms() - kTtlMs) alive.emplace(place, value);
    }
    return alive;
  }

  // What is older by Halite's clock than cells live, expires at the servers.
  void expire_at_servers() {
    auto found = run_task(store_.client().describe_table(table_)).value();
    ASSERT_TRUE(found);
    const std::int64_t ttl_ms = real_.now_ms() - clock_.now_ms() + kTtlMs + kSlackMs;
    found->families.at(0).attributes["TTL"] = std::to_string(ttl_ms / 1000);
    const Result<void> set = run_task(store_.client().modify_table(*std::move(found)));
    ASSERT_TRUE(set) << set.error().message;
  }

  std::size_t dead_with_files() {
    std::size_t count = 0;
    for (const hbase::RegionStatus& region : regions()) {
      const KeyRange keys{region.begin, region.end};
      const bool dead = dead_since(*layout_, keys, kLife, clock_.now_ms()).has_value();
      // HBase leaves one of nothing.
      const bool emptied = region.files == 0 || (region.files == 1 && region.major_compacted > 0);
      count += dead && !emptied ? 1 : 0;
    }
    return count;
  }
  // Servers compact when they can.
  void expect_dead_regions_to_be_emptied() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::size_t left = dead_with_files();
    while (left > 0 && std::chrono::steady_clock::now() < end) {
      const auto asked = run_task(compactor_->look());
      ASSERT_TRUE(asked) << asked.error().message;
      asked_ += *asked;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      left = dead_with_files();
    }
    EXPECT_EQ(left, 0u) << "dead regions with files, minute " << clock_.now_ms() / kMinuteMs;
  }

  // Servers' cells live some more, as Halite's and their clocks do not run together.
  static constexpr CellLifetime kLife{.late_max_ms = kLateMs, .ttl_ms = kTtlMs + kMinuteMs};

  SystemClock real_;
  FakeClock clock_{(real_.now_ms() / kMinuteMs - kLaps * kSlots - 4) * kMinuteMs};
  prometheus::Registry registry_;
  boost::asio::thread_pool background_{2};
  HBaseStore store_{without_expiry(), clock_, registry_};
  std::shared_ptr<const CyclicLayout> layout_ = CyclicLayout::make(ring_options()).value();
  std::string table_;
  std::unique_ptr<CellPointStore> points_;
  std::optional<RegionCompactor> compactor_;
  Found written_;
  std::uint32_t asked_ = 0;
};

TEST_F(HBaseRingTest, ThreeLapsNeedNoRegionAndLeaveNothingBehind) {
  const std::set<Bytes> before = region_names();
  ASSERT_EQ(before.size(), 8u);
  for (int step = 0; step < kLaps * static_cast<int>(kSlots); ++step) {
    ASSERT_NO_FATAL_FAILURE(write(step));
    ASSERT_EQ(read(), alive()) << step;
    if (step % 3 == 2) {  // as often as a region comes to its end
      ASSERT_TRUE(run_task(store_.client().flush_table(table_)));
      ASSERT_NO_FATAL_FAILURE(expire_at_servers());
      ASSERT_NO_FATAL_FAILURE(expect_dead_regions_to_be_emptied());
      ASSERT_NO_FATAL_FAILURE(expire_at_servers());  // it may have taken long
      ASSERT_EQ(read(), alive()) << step;
    }
    clock_.advance(kMinuteMs);
  }
  EXPECT_EQ(region_names(), before);
  // Some HBase empties by itself, as it opens them anew with another TTL.
  EXPECT_GE(asked_, before.size());
}

}  // namespace
}  // namespace halite::storage
