#include "storage/cells/layouts/cyclic_layout.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "storage/cells/layouts/tsuid.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

const Bytes kMetric = hex("000001");

// A ring of 10 days that keeps 5.
CyclicOptions small_ring() {
  CyclicOptions options;
  options.salt_buckets = 1;
  options.slots = 10;
  options.ttl_ms = 5 * kDayMs;
  return options;
}

std::string make_error(const CyclicOptions& options) {
  const auto made = CyclicLayout::make(options);
  return made ? "" : made.error().message;
}

TEST(CyclicLayout, KeysAndCells) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  const TimestampMs time = 15706 * kDayMs + 12'345;
  EXPECT_EQ(to_hex(layout->row_key(kTsuid, time)), "0000000006000001000001000001");
  const PointCell cell = layout->point_cell(time, integer_bits(300), kMillis);
  EXPECT_EQ(to_hex(cell.qualifier), "00003D5A0000003039");
  EXPECT_EQ(to_hex(cell.value), "02012C");
  // One lap later: the same row, another generation.
  EXPECT_EQ(layout->row_key(kTsuid, time + 10 * kDayMs), layout->row_key(kTsuid, time));
  EXPECT_EQ(to_hex(layout->point_cell(time + 10 * kDayMs, 0, 0).qualifier), "00003D640000003039");
}

TEST(CyclicLayout, WithoutATtlSlotsAreNotUsedAgain) {
  CyclicOptions options;
  options.salt_buckets = 1;
  const auto layout = CyclicLayout::make(options).value();
  EXPECT_EQ(to_hex(layout->row_key(kTsuid, 15706 * kDayMs)), "0000003D5A000001000001000001");
  EXPECT_EQ(layout->parse_row(layout->row_key(kTsuid, 15706 * kDayMs))->bucket, 15706);
  EXPECT_EQ(layout->parameters().slots, 0u);
}

TEST(CyclicLayout, TheRingMustHoldWhatIsKept) {
  CyclicOptions options = small_ring();
  EXPECT_EQ(make_error(options), "");  // 10 >= 5 + 1 + 1 + 2
  options.ttl_ms = 6 * kDayMs;
  EXPECT_EQ(make_error(options), "");
  options.ttl_ms += 1;
  EXPECT_EQ(make_error(options),
            "10 slots of 1d span 10d, which is too little for storage.ttl_ms 518400001ms + "
            "storage.future_max_ms "
            "1d + cleaning 1d + 2 slots 2d = 864000001ms: use at least 11 slots");
  options.never_reuse = true;
  EXPECT_EQ(make_error(options), "");
}

TEST(CyclicLayout, OptionsOutOfRange) {
  CyclicOptions options;
  options.salt_buckets = 257;
  EXPECT_EQ(make_error(options), "the number of salt buckets must be 1 to 256, found 257");
  options = {};
  options.span_ms = 59'999;
  EXPECT_EQ(make_error(options), "the slot span in ms must be 60000 to 2073600000, found 59999");
  options = {};
  options.slots = 0;
  EXPECT_EQ(make_error(options), "the number of slots must be 1 to 16777216, found 0");
  options = {};
  options.ttl_ms = -1;
  EXPECT_EQ(make_error(options), "storage.ttl_ms must be 0 to 316224000000000, found -1");
  options = {};
  options.future_max_ms = -1;
  EXPECT_NE(make_error(options), "");
  options = {};
  options.widths.metric = 9;
  EXPECT_NE(make_error(options), "");
}

TEST(CyclicLayout, AdmitsWhatIsKept) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  const TimestampMs now = 15706 * kDayMs + 777;
  EXPECT_TRUE(layout->admit(now - 5 * kDayMs, now));
  EXPECT_TRUE(layout->admit(now + kDayMs, now));
  EXPECT_EQ(layout->admit(now - 5 * kDayMs - 1, now).error().message,
            "timestamp 1356566400776 is older than the retention of 5d (storage.ttl_ms)");
  EXPECT_EQ(layout->admit(now + kDayMs + 1, now).error().message,
            "timestamp 1357084800778 is more than 1d ahead of the server's clock "
            "(storage.future_max_ms, for storage.ttl_ms is set)");
  EXPECT_EQ(layout->admit(now - 5 * kDayMs - 1, now).error().code, Errc::kInvalidArgument);
  EXPECT_FALSE(layout->admit(-1, now));

  const auto forever = CyclicLayout::make({}).value();
  EXPECT_TRUE(forever->admit(0, now));
  EXPECT_FALSE(forever->admit(-1, now));
  // Forecasts: nothing is used again.
  EXPECT_TRUE(forever->admit(now + 28 * kDayMs, now));
  EXPECT_TRUE(forever->admit(now + 3650 * kDayMs, now));
  EXPECT_EQ(forever->admit(now + 3650 * kDayMs + 1, now).error().message,
            "timestamp 1672358400778 is more than 3650d ahead of the server's clock "
            "(storage.forecast_max_ms)");
  CyclicOptions none;
  none.forecast_max_ms = 0;
  EXPECT_FALSE(CyclicLayout::make(none).value()->admit(now + 1, now));
  none.ttl_ms = kDayMs;
  EXPECT_TRUE(CyclicLayout::make(none).value()->admit(now + kDayMs, now));
}

TEST(CyclicLayout, BucketsFollowTheGenerationsAcrossTheWrap) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  const TimestampMs now = 15711 * kDayMs + 1000;
  const auto scans = layout->metric_buckets(kMetric, {0, now * 2}, 0, now);
  ASSERT_EQ(scans.size(), 7u);  // 5 days back, today, 1 day ahead
  std::vector<std::string> begins;
  for (const BucketScan& scan : scans) begins.push_back(to_hex(scan.keys.begin).substr(0, 10));
  EXPECT_EQ(begins,
            (std::vector<std::string>{"0000000006", "0000000007", "0000000008", "0000000009",
                                      "0000000000", "0000000001", "0000000002"}));
  EXPECT_EQ(scans.front().times, (TimeRange{15706 * kDayMs + 1000, 15707 * kDayMs}));
  EXPECT_EQ(to_hex(scans.front().qualifier_begin), "00003D5A00000003E8");
  EXPECT_EQ(to_hex(scans.front().qualifier_end), "00003D5A0005265C00");
  EXPECT_EQ(scans.back().times, (TimeRange{15712 * kDayMs, 15712 * kDayMs + 1001}));
  EXPECT_EQ(to_hex(scans.back().qualifier_begin), "00003D600000000000");
  EXPECT_EQ(to_hex(scans.back().qualifier_end), "00003D6000000003E9");
  EXPECT_EQ(to_hex(scans[4].keys.begin), "0000000000000001");
  EXPECT_EQ(to_hex(scans[4].keys.end), "0000000000000002");
}

TEST(CyclicLayout, ASmallRangeReadsOnlyItsOffsets) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  const TimestampMs day = 15706 * kDayMs;
  const auto scans = layout->series_buckets(kTsuid, {day + 60'000, day + 120'000}, day);
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(to_hex(scans[0].keys.begin), "0000000006000001000001000001");
  EXPECT_EQ(to_hex(scans[0].keys.end), "000000000600000100000100000100");
  EXPECT_EQ(to_hex(scans[0].qualifier_begin), "00003D5A000000EA60");
  EXPECT_EQ(to_hex(scans[0].qualifier_end), "00003D5A000001D4C0");
  EXPECT_TRUE(layout->series_buckets(kTsuid, {day, day}, day).empty());
  EXPECT_TRUE(layout->series_buckets(kTsuid, {0, day - 5 * kDayMs}, day).empty());
}

TEST(CyclicLayout, DamageNamesTheRowAndTheCell) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  const RowId row = layout->parse_row(hex("0000000006000001000001000001")).value();
  const auto message = [&](std::string_view qualifier, std::string_view value) {
    RowPoints points;
    const Cell cell{hex(qualifier), hex(value), 1};
    const auto result = layout->decode(row, as_refs({&cell, 1}), {0, 20000 * kDayMs}, points);
    return result ? "" : result.error().message;
  };
  EXPECT_EQ(message("00003D5A0000003039", "0001"), "");
  EXPECT_EQ(message("00003D5B0000003039", "0001"),
            "row 0000000006000001000001000001 qualifier 00003D5B0000003039: a generation of "
            "another slot: value 0001");
  EXPECT_NE(message("00003D5A0005265C00", "0001"), "");  // the day's end
  EXPECT_NE(message("00003D5A0000003039", "08"), "");
  EXPECT_NE(message("00003D5A0000003039", ""), "");
  EXPECT_NE(message("00003D5A00000030", "0001"), "");
  EXPECT_NE(message("", "0001"), "");
  EXPECT_NE(message("00003D5A00000030390000000000000001", "0001"), "");
  EXPECT_NE(message("00003D5A0100003039", "FF"), "");
}

TEST(CyclicLayout, RowsThatAreNone) {
  const auto layout = CyclicLayout::make(small_ring()).value();
  for (const std::string_view text : {"", "0000000006", "00000000060000", "0100000006000001",
                                      "000000000A000001000001000001", "00000000060000010000"}) {
    const auto row = layout->parse_row(hex(text));
    ASSERT_FALSE(row) << text;
    EXPECT_EQ(row.error().code, Errc::kCorruption);
  }
}

// A table that keeps everything for ever, so that old laps stay in the rows.
class Hoard {
 public:
  explicit Hoard(const CyclicLayout& layout) : layout_(layout) {}

  void write(BytesView tsuid, TimestampMs time, ValueBits value, std::uint8_t flags) {
    const PointCell cell = layout_.point_cell(time, value, flags);
    rows_[layout_.row_key(tsuid, time)][cell.qualifier] = {cell.qualifier, cell.value, ++writes_};
  }

  using Points = std::map<Bytes, std::map<TimestampMs, std::pair<ValueBits, std::uint8_t>>>;

  // With `bounds`, as a store that keeps to the qualifier bounds; without, as one that ignores
  // them.
  void read(const std::vector<BucketScan>& scans, bool bounds, Points& into) const {
    for (const BucketScan& scan : scans) {
      for (auto row = rows_.lower_bound(scan.keys.begin); row != rows_.lower_bound(scan.keys.end);
           ++row) {
        std::vector<Cell> cells;
        for (const auto& [qualifier, cell] : row->second) {
          if (bounds && (qualifier < scan.qualifier_begin || qualifier >= scan.qualifier_end)) {
            continue;
          }
          cells.push_back(cell);
        }
        const RowId id = layout_.parse_row(row->first).value();
        RowPoints points;
        ASSERT_TRUE(layout_.decode(id, as_refs(cells), scan.times, points));
        auto& series = into[id.tsuid];
        for (std::size_t i = 0; i < points.times.size(); ++i) {
          EXPECT_TRUE(series.empty() || series.rbegin()->first < points.times[i]) << "out of order";
          series[points.times[i]] = {points.values[i], points.flags[i]};
        }
      }
    }
    std::erase_if(into, [](const auto& series) { return series.second.empty(); });
  }

 private:
  const CyclicLayout& layout_;
  std::map<Bytes, std::map<Bytes, Cell>> rows_;
  TimestampMs writes_ = 0;
};

// Five laps of a ring that is never cleaned: what has expired, or belongs to an earlier lap, is
// never seen; what is kept always is, in order, bit for bit.
TEST(CyclicLayout, LapsNeverMix) {
  CyclicOptions options = small_ring();
  options.salt_buckets = 3;
  const auto layout = CyclicLayout::make(options).value();
  std::mt19937_64 random(5);
  FakeClock clock(15'700 * kDayMs);
  Hoard hoard(*layout);
  Hoard::Points wanted;
  while (clock.now_ms() < 15'750 * kDayMs) {
    clock.advance(static_cast<std::int64_t>(random() % (kDayMs / 2)));
    const TimestampMs now = clock.now_ms();
    for (int i = 0; i < 20; ++i) {
      const UidPair pair{1, 1 + random() % 6};
      const Bytes tsuid = make_tsuid({}, 1, std::span(&pair, 1));
      const TimestampMs time =
          now + kDayMs -
          static_cast<TimestampMs>(random() % static_cast<std::uint64_t>(7 * kDayMs));
      const bool kept = time >= now - options.ttl_ms && time <= now + options.future_max_ms;
      ASSERT_EQ(layout->admit(time, now).has_value(), kept);
      if (!kept) continue;
      const ValueBits value = random();
      const auto flags = static_cast<std::uint8_t>(random() % 8);
      hoard.write(tsuid, time, value, flags);
      wanted[tsuid][time] = {value, flags};
    }

    const TimestampMs begin = now - static_cast<TimestampMs>(random() % (30 * kDayMs));
    const TimeRange range =
        random() % 4 == 0
            ? TimeRange{0, now * 2}
            : TimeRange{begin, begin + static_cast<TimestampMs>(random() % (20 * kDayMs))};
    Hoard::Points expected;
    for (const auto& [tsuid, points] : wanted) {
      for (const auto& [time, point] : points) {
        if (time >= range.begin && time < range.end && time >= now - options.ttl_ms &&
            time <= now + options.future_max_ms) {
          expected[tsuid][time] = point;
        }
      }
    }
    for (const bool bounds : {true, false}) {
      Hoard::Points by_metric;
      for (std::uint32_t salt = 0; salt < options.salt_buckets; ++salt) {
        hoard.read(layout->metric_buckets(kMetric, range, salt, now), bounds, by_metric);
      }
      ASSERT_EQ(by_metric, expected);
      Hoard::Points by_series;
      for (const auto& [tsuid, points] : wanted) {
        hoard.read(layout->series_buckets(tsuid, range, now), bounds, by_series);
      }
      ASSERT_EQ(by_series, expected);
    }
  }
}

TEST(CyclicLayout, RandomShapesComeBack) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 300; ++round) {
    CyclicOptions options;
    options.widths = {static_cast<std::uint8_t>(1 + random() % 8),
                      static_cast<std::uint8_t>(1 + random() % 8),
                      static_cast<std::uint8_t>(1 + random() % 8)};
    options.salt_buckets = 1 + static_cast<std::uint32_t>(random() % 256);
    options.span_ms = 60'000 + static_cast<std::int64_t>(random() % (24 * kDayMs - 60'000));
    options.ttl_ms = random() % 2 == 0 ? 0 : 60'000 + static_cast<std::int64_t>(random() % kDayMs);
    options.slots = 10 + static_cast<std::uint32_t>(random() % 100'000);
    const auto made = CyclicLayout::make(options);
    if (!made) continue;  // a ring too small
    const CyclicLayout& layout = **made;
    std::vector<UidPair> pairs(random() % 4);
    for (UidPair& pair : pairs) pair = {random(), random()};
    const Bytes tsuid = make_tsuid(options.widths, random(), pairs);
    const auto now = static_cast<TimestampMs>(random() % 10'000'000'000'000);
    const TimestampMs time = std::max<TimestampMs>(
        0,
        now - static_cast<TimestampMs>(random() % static_cast<std::uint64_t>(
                                                      std::max<std::int64_t>(options.ttl_ms, 1))));
    if (!layout.admit(time, now)) continue;  // past what 2^32 spans hold
    const Bytes key = layout.row_key(tsuid, time);
    const RowId row = layout.parse_row(key).value();
    EXPECT_EQ(row.tsuid, tsuid);
    EXPECT_EQ(row.salt, layout.salt_of(tsuid));
    const ValueBits value = random();
    const PointCell cell = layout.point_cell(time, value, kFloat | kMillis);
    const auto scans = layout.series_buckets(tsuid, {time, time + 1}, now);
    ASSERT_EQ(scans.size(), 1u);
    EXPECT_EQ(scans[0].keys.begin, key);
    EXPECT_LE(scans[0].qualifier_begin, cell.qualifier);
    EXPECT_LT(cell.qualifier, scans[0].qualifier_end);
    RowPoints points;
    const CellRef held{cell.qualifier, cell.value, 1};
    ASSERT_TRUE(layout.decode(row, {&held, 1}, scans[0].times, points));
    EXPECT_EQ(points.times, std::vector<TimestampMs>{time});
    EXPECT_EQ(points.values, std::vector<ValueBits>{value});
    EXPECT_EQ(points.flags, std::vector<std::uint8_t>{kFloat | kMillis});
  }
}

}  // namespace
}  // namespace halite::storage
