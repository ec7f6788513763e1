// Totals of hours in place of points: on random data, with points that come late, deletes, NaN,
// integers beside doubles and neighbours that are not sealed, both ways of reading give the same.
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/backends/memory/memory_store.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kBase = (kNow - 3 * kDayMs) / kDayMs * kDayMs;
constexpr std::size_t kSeries = 6;
constexpr int kSteps = test::kSanitized ? 30 : 60;

// What a downsampler makes of a bucket.
struct Bucket {
  std::uint64_t count = 0;
  double sum = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (std::isnan(value)) return;
    ++count;
    sum += value;
    min = value < min ? value : min;
    max = value > max ? value : max;
  }
};
using Buckets = std::map<std::pair<SeriesId, TimestampMs>, Bucket>;

struct Read {
  Buckets buckets;
  std::size_t totals = 0;  // spans that came as totals
};

class TotalsTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  TotalsTest() : random_(GetParam()) {}
  void SetUp() override { open(); }
  void TearDown() override { EXPECT_TRUE(test::run_task(store_->close())); }

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  void open() {
    CyclicOptions cyclic;
    cyclic.salt_buckets = 2;
    EngineOptions options;
    options.dir = "/data/engine";
    options.log.segment_bytes = 16 << 20;
    options.log.commit_interval_ms = 0;
    options.maintenance_ms = 3'600'000;  // only when asked
    if (GetParam() % 2 == 0) options.seal_long_points = 20;
    options.seal_directly_bytes = GetParam() > 2 ? 1 : UINT64_MAX;
    EngineStore::Dependencies dependencies{.store = names_,
                                           .layout = CyclicLayout::make(cyclic).value(),
                                           .clock = clock_,
                                           .files = files_,
                                           .registry = metrics_};
    auto opened = test::run_task(EngineStore::open(std::move(dependencies), options));
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(*opened);
    std::vector<SeriesName> names;
    for (std::size_t i = 0; i < kSeries; ++i) {
      names.push_back({.metric = "m", .tags = {{.key = "host", .value = fmt::format("h{}", i)}}});
    }
    ids_.clear();
    const auto ids = test::run_task(store_->intern(std::move(names), CreateNames()));
    ASSERT_TRUE(ids);
    for (const auto& id : *ids) ids_.push_back(id.value());
  }

  void reopen() {
    ASSERT_TRUE(test::run_task(store_->close()));
    store_.reset();
    open();
  }

  // Each series is of a kind, with exceptions.
  ValueBits value(std::size_t series, bool& is_float) {
    is_float = series % 3 != 0;
    if (below(400) == 0) is_float = !is_float;
    if (!is_float) {
      return integer_bits(below(200) == 0 ? INT64_MAX - below(9) : static_cast<int>(below(99)) - 9);
    }
    switch (below(800)) {
      case 0:
        return double_bits(std::numeric_limits<double>::quiet_NaN());
      case 1:
        return double_bits(-0.0);
      case 2:
        return double_bits(0.0);
      case 3:
        return double_bits(9e15 + below(100));
      default:
        break;
    }
    const double whole = static_cast<int>(below(1000)) - 500;
    return double_bits(series % 3 == 1 ? whole : whole / 7);
  }

  void append() {
    PointBatch batch;
    const TimestampMs begin = kBase + static_cast<TimestampMs>(below(72)) * kHourMs;
    const std::uint32_t hours = below(4) == 0 ? 30 : 1 + below(3);
    const std::uint32_t step = 20'000 + below(5) * 60'000;
    for (std::size_t series = 0; series < kSeries; ++series) {
      if (below(3) == 0) continue;
      for (TimestampMs time = begin; time < begin + hours * kHourMs; time += step) {
        bool is_float = false;
        const ValueBits bits = value(series, is_float);
        if (time < kNow) batch.add(ids_[series], time, bits, is_float ? kFloat : 0);
      }
    }
    const auto accepted = test::run_task(store_->append(std::move(batch)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    ASSERT_TRUE(test::run_task(accepted->durable.wait()));
  }

  std::shared_ptr<const Selection> select(const std::string& host) {
    SeriesQuery query;
    query.metric = "m";
    if (!host.empty()) query.filters.push_back({FilterType::kLiteralOr, "host", host});
    return test::run_task(store_->select(std::move(query), {})).value();
  }

  void remove() {
    const TimestampMs begin = kBase + static_cast<TimestampMs>(below(72 * 3600)) * 1000;
    const TimeRange range = {.begin = begin,
                             .end = begin + static_cast<TimestampMs>(below(3)) * kHourMs + 1};
    const auto gone =
        test::run_task(store_->delete_range(select(fmt::format("h{}", below(kSeries))), range));
    ASSERT_TRUE(gone) << gone.error().message;
  }

  Read read(TimeRange range, std::int64_t bucket_ms, std::optional<TotalsRequest> wish) {
    Read result;
    const auto selection = select("");
    for (const ShardSeriesCount& share : store_->series_by_shard(*selection)) {
      const auto scan = wish ? store_->scan_totals(selection, range, share.shard, *wish)
                             : store_->scan(selection, range, share.shard);
      std::map<SeriesId, TimestampMs> behind;  // what came reaches up to there
      for (;;) {
        const auto blocks = test::run_task(scan->next());
        EXPECT_TRUE(blocks);
        if (!blocks || blocks->empty()) break;
        for (const Block& block : *blocks) take(block, bucket_ms, behind, result);
      }
    }
    return result;
  }

  static void take(const Block& block, std::int64_t bucket_ms,
                   std::map<SeriesId, TimestampMs>& behind, Read& result) {
    TimestampMs& seen = behind[block.series];
    for (std::size_t i = 0; i < block.size(); ++i) {
      EXPECT_GE(block.times[i], seen);
      seen = block.times[i] + 1;
      result.buckets[{block.series, block.times[i] / bucket_ms}].add(
          block.floats[i] ? as_double(block.values[i])
                          : static_cast<double>(as_integer(block.values[i])));
    }
    result.totals += block.totals.size();
    for (const SpanTotals& span : block.totals) {
      EXPECT_GE(span.begin, seen);
      EXPECT_EQ(span.begin % kHourMs, 0);
      seen = span.begin + kHourMs;
      Bucket& bucket = result.buckets[{block.series, span.begin / bucket_ms}];
      bucket.count += span.count;
      bucket.sum += span.sum;
      bucket.min = span.min < bucket.min ? span.min : bucket.min;
      bucket.max = span.max > bucket.max ? span.max : bucket.max;
    }
  }

  void compare() {
    const std::int64_t buckets[] = {kHourMs, 2 * kHourMs, 5 * kHourMs, kDayMs};
    const std::int64_t bucket_ms = buckets[below(4)];
    TimeRange range = {.begin = kBase + static_cast<TimestampMs>(below(30)) * kHourMs, .end = 0};
    range.end = range.begin + static_cast<TimestampMs>(1 + below(60)) * kHourMs;
    if (below(4) == 0) range.begin += below(kHourMs);
    if (below(4) == 0) range.end -= below(kHourMs);
    const bool sums = below(2) == 0;
    const Read points = read(range, bucket_ms, std::nullopt);
    const Read totals = read(range, bucket_ms, TotalsRequest{.bucket_ms = bucket_ms, .sums = sums});
    EXPECT_EQ(points.totals, 0U);
    totals_ += totals.totals;
    ASSERT_EQ(points.buckets.size(), totals.buckets.size());
    for (const auto& [key, wanted] : points.buckets) {
      ASSERT_TRUE(totals.buckets.contains(key));
      const Bucket& got = totals.buckets.at(key);
      EXPECT_EQ(got.count, wanted.count);
      EXPECT_EQ(double_bits(got.min), double_bits(wanted.min));
      EXPECT_EQ(double_bits(got.max), double_bits(wanted.max));
      if (sums) EXPECT_EQ(double_bits(got.sum), double_bits(wanted.sum));
    }
  }

  std::mt19937 random_;
  FakeClock clock_{kNow};
  prometheus::Registry metrics_;
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  MemoryStore names_{clock_};
  std::unique_ptr<EngineStore> store_;
  std::vector<SeriesId> ids_;
  std::size_t totals_ = 0;
};

TEST_P(TotalsTest, ReadAsPointsAndAsTotalsAreTheSame) {
  for (int i = 0; i < 12; ++i) append();
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    const std::uint32_t dice = below(20);
    if (dice < 5) {
      append();
    } else if (dice < 7) {
      remove();
    } else if (dice < 9) {
      ASSERT_TRUE(test::run_task(store_->flush()));
    } else if (dice < 13) {
      ASSERT_TRUE(test::run_task(store_->seal()));
    } else if (dice == 13) {
      reopen();
    }
    compare();
  }
  EXPECT_GT(totals_, 100U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TotalsTest, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace halite::storage
