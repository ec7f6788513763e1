// What the engine does by itself beside damaged files: it answers by totals, removes what has
// expired, and forgets series.
#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/damaged_world.h"

namespace halite::storage {
namespace {

using test::run_task;

struct Hour {
  std::uint64_t count = 0;
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  bool operator==(const Hour&) const = default;

  void add(double value) {
    ++count;
    min = std::min(min, value);
    max = std::max(max, value);
  }
};
using Hours = std::map<TimestampMs, Hour>;  // by begin

void add_block(const Block& block, Hours& hours) {
  for (std::size_t i = 0; i < block.size(); ++i) {
    hours[block.times[i] / kHourMs * kHourMs].add(static_cast<double>(as_integer(block.values[i])));
  }
  for (const SpanTotals& span : block.totals) {
    Hour& hour = hours[span.begin];
    hour.count += span.count;
    hour.min = std::min(hour.min, span.min);
    hour.max = std::max(hour.max, span.max);
  }
}

// Of one host, with totals where the store has them; how many there were.
Result<std::size_t> read_hours(Damaged& data, const std::string& host, Hours& hours) {
  SeriesQuery query;
  query.metric = "m";
  query.filters = {{.type = FilterType::kLiteralOr, .key = "host", .pattern = host}};
  TRY(const auto selection, run_task(data.world.points->select(std::move(query), {})));
  std::size_t totals = 0;
  for (std::uint32_t shard = 0; shard < data.world.points->shard_count(); ++shard) {
    const auto scan = data.world.points->scan_totals(
        selection, {.begin = kFullHour, .end = kFullHour + 5 * kHourMs}, shard,
        {.bucket_ms = kHourMs});
    for (;;) {
      TRY(const std::vector<Block> blocks, run_task(scan->next()));
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        totals += block.totals.size();
        add_block(block, hours);
      }
    }
  }
  return totals;
}

TEST(DamagedTotals, AreRightOrRefused) {
  std::size_t refused = 0;
  std::size_t totals = 0;
  for (std::size_t i = 0; i < Damaged().tables().size(); i += test::step(2, 6)) {
    Damaged data;
    data.world.files->flip_bit(data.tables().at(i), 10, 3);
    ASSERT_TRUE(data.world.open());
    for (const std::string& host : hosts()) {
      Hours wanted;
      for (const auto& [key, value] : data.expected) {
        if (key.first != host) continue;
        wanted[key.second / kHourMs * kHourMs].add(static_cast<double>(as_integer(value.bits)));
      }
      Hours found;
      const Result<std::size_t> read = read_hours(data, host, found);
      if (read) {
        totals += *read;
        EXPECT_EQ(found, wanted) << host << " beside damage of file " << i;
      } else {
        EXPECT_EQ(read.error().code, Errc::kCorruption) << read.error().message;
        ++refused;
      }
    }
    ASSERT_TRUE(data.world.close());
  }
  EXPECT_GT(refused, 0U);
  EXPECT_GT(totals, 0U);
}

// Who came later has keys between those of one slot and of the next. Only a block of late cells,
// which may be of several shards and slots, hides whether something of theirs is in it.
TEST(DamagedNeighbours, HurtNobodyWhoHasNothingThere) {
  int hidden = 0;
  for (std::size_t i = 0; i < Damaged().tables().size(); i += test::step(2, 6)) {
    Damaged data;
    data.world.files->flip_bit(data.tables().at(i), 10, 3);
    ASSERT_TRUE(data.world.open());
    const std::vector<SeriesId> ids = data.world.intern({"a", "h10a"}).value();
    PointBatch points;
    for (const SeriesId id : ids) points.add(id, data.world.clock.now_ms(), integer_bits(1), 0);
    ASSERT_TRUE(run_task(data.world.points->append(std::move(points))));
    ASSERT_TRUE(run_task(data.world.points->flush()));
    for (const char* const host : {"a", "h10a"}) {
      const auto found = data.read(host, {.begin = 0, .end = INT64_MAX});
      if (found) {
        EXPECT_EQ(found->size(), 1U);
      } else {
        EXPECT_THAT(found.error().message, testing::HasSubstr("late chunks"));
        ++hidden;
      }
    }
    ASSERT_TRUE(data.world.close());
  }
  EXPECT_LE(hidden, 1);
}

// All that is there expires; what comes meanwhile stays, under its own names.
TEST(DamagedSlots, ExpireAndTheirSeriesAreForgottenOrKept) {
  constexpr std::int64_t kTtl = 8 * kHourMs;
  int hidden = 0;
  for (std::size_t i = 0; i < Damaged(kTtl).tables().size(); i += test::step(3, 9)) {
    Damaged data(kTtl);
    data.world.files->flip_bit(data.tables().at(i), 10, 3);
    ASSERT_TRUE(data.world.open());
    data.world.points->enable_series_gc({});
    for (int hour = 0; hour < 14; ++hour) {
      data.world.clock.advance(kHourMs);
      if (hour % 2 == 0) data.put(data.world.clock.now_ms() - 60'000, 2);
      const Result<void> sealed = run_task(data.world.points->seal());
      ASSERT_TRUE(sealed) << "file " << i << ": " << sealed.error().message;
      const TimestampMs oldest = data.world.clock.now_ms() - kTtl;
      std::erase_if(data.expected, [&](const auto& entry) { return entry.first.second < oldest; });
    }
    if (data.answered() < kHosts) ++hidden;
    // What cannot be read cannot be removed either; that is found out once.
    const double expired =
        test::metric_value(data.world.metrics, "halite_engine_expired_slots_total");
    EXPECT_GT(expired, 0);
    for (int run = 0; run < 3; ++run) {
      data.world.clock.advance(2000);
      ASSERT_TRUE(run_task(data.world.points->seal()));
    }
    EXPECT_EQ(test::metric_value(data.world.metrics, "halite_engine_expired_slots_total"), expired);
    ASSERT_TRUE(data.world.close());
  }
  EXPECT_LE(hidden, 1) << "by late cells";
}

}  // namespace
}  // namespace halite::storage
