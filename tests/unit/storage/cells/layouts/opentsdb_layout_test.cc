#include "storage/cells/layouts/opentsdb_layout.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "storage/cells/layouts/salt.h"
#include "storage/cells/layouts/tsuid.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

std::unique_ptr<OpentsdbLayout> layout(std::uint8_t salt_width = 0, UidWidths widths = {}) {
  OpentsdbOptions options;
  options.widths = widths;
  options.salt_width = salt_width;
  return OpentsdbLayout::make(options).value();
}

TEST(OpentsdbLayout, RowKeys) {
  EXPECT_EQ(to_hex(layout()->row_key(kTsuid, kBase)), "00000150E22700000001000001");
  EXPECT_EQ(to_hex(layout()->row_key(kTsuid, kBase + 3'599'999)), "00000150E22700000001000001");
  EXPECT_EQ(to_hex(layout()->row_key(kTsuid, kBase + 3'600'000)), "00000150E23510000001000001");
  EXPECT_EQ(to_hex(layout(1)->row_key(kTsuid, kBase)), "0800000150E22700000001000001");
  EXPECT_EQ(to_hex(layout(8)->row_key(kTsuid, kBase)),
            "000000080000000800000150E22700000001000001");
  EXPECT_EQ(to_hex(layout()->row_key(kTsuid, 4'294'967'295'999)), "000001FFFFF960000001000001");
  EXPECT_EQ(to_hex(layout(0, {4, 2, 5})->row_key(hex("0000000100010000000001"), kBase)),
            "0000000150E2270000010000000001");
}

TEST(OpentsdbLayout, MetricZeroIsNeverSalted) {
  EXPECT_EQ(layout(1)->salt_of(hex("000000")), 0u);
  EXPECT_EQ(layout(1)->salt_of(hex("000000000001000001")), 0u);
}

TEST(OpentsdbLayout, ParsesWhatItWrites) {
  for (const std::uint8_t salt_width : {0, 1, 3, 8}) {
    const auto salted = layout(salt_width);
    const Bytes key = salted->row_key(kTsuid, kBase);
    const RowId row = salted->parse_row(key).value();
    EXPECT_EQ(row.tsuid, kTsuid);
    EXPECT_EQ(row.bucket, kBase / 1000);
    EXPECT_EQ(row.salt, salted->salt_of(kTsuid));
    EXPECT_EQ(salted->key_of(row), key);
  }
}

TEST(OpentsdbLayout, RowsThatAreNone) {
  for (const std::string_view text :
       {"", "000001", "00000150E227", "00000150E2270000", "00000150E227000000010000",
        "00000150E22701000001000001", "00000150E2270000000100000100"}) {
    const auto row = layout()->parse_row(hex(text));
    ASSERT_FALSE(row) << text;
    EXPECT_EQ(row.error().code, Errc::kCorruption);
    EXPECT_NE(row.error().message.find(text), std::string::npos);
  }
  EXPECT_FALSE(layout(1)->parse_row(hex("1400000150E22700000001000001")));  // salt 20 of 20
}

TEST(OpentsdbLayout, OneScanCoversAMetric) {
  const auto scans = layout(1)->metric_buckets(hex("000001"), {kBase + 5, kBase + 7'200'001}, 8, 0);
  ASSERT_EQ(scans.size(), 1u);
  EXPECT_EQ(to_hex(scans[0].keys.begin), "0800000150E22700");
  EXPECT_EQ(to_hex(scans[0].keys.end), "0800000150E24321");
  EXPECT_EQ(scans[0].times, (TimeRange{kBase + 5, kBase + 7'200'001}));
  EXPECT_TRUE(scans[0].qualifier_begin.empty());
  EXPECT_TRUE(scans[0].qualifier_end.empty());
  EXPECT_TRUE(layout()->metric_buckets(hex("000001"), {5, 5}, 0, 0).empty());
  EXPECT_TRUE(layout()->metric_buckets(hex("000001"), {-10, 0}, 0, 0).empty());
  const auto all = layout()->metric_buckets(
      hex("000001"),
      {std::numeric_limits<TimestampMs>::min(), std::numeric_limits<TimestampMs>::max()}, 0, 0);
  EXPECT_EQ(to_hex(all[0].keys.begin), "00000100000000");
  EXPECT_EQ(to_hex(all[0].keys.end), "000001FFFFF961");
}

TEST(OpentsdbLayout, ARowAnHourCoversASeries) {
  const auto scans = layout()->series_buckets(kTsuid, {kBase + 3'599'999, kBase + 3'600'001}, 0);
  ASSERT_EQ(scans.size(), 2u);
  EXPECT_EQ(to_hex(scans[0].keys.begin), "00000150E22700000001000001");
  EXPECT_EQ(to_hex(scans[0].keys.end), "00000150E2270000000100000100");
  EXPECT_EQ(scans[0].times, (TimeRange{kBase + 3'599'999, kBase + 3'600'000}));
  EXPECT_EQ(to_hex(scans[1].keys.begin), "00000150E23510000001000001");
  EXPECT_EQ(scans[1].times, (TimeRange{kBase + 3'600'000, kBase + 3'600'001}));
}

TEST(OpentsdbLayout, AdmitsWhatAnHourCanHold) {
  EXPECT_TRUE(layout()->admit(0, 0));
  EXPECT_TRUE(layout()->admit(4'294'967'295'999, 0));
  EXPECT_EQ(
      layout()->admit(4'294'967'296'000, 0).error().message,
      "timestamp 4294967296000 is outside the range of OpenTSDB's row keys: 0 to 4294967295999");
  EXPECT_FALSE(layout()->admit(-1, 0));
}

TEST(OpentsdbLayout, OptionsOutOfRange) {
  const auto message = [](const OpentsdbOptions& options) {
    return OpentsdbLayout::make(options).error().message;
  };
  EXPECT_EQ(message({{3, 3, 3}, 9, 20}), "the salt width must be 0 to 8 bytes, found 9");
  EXPECT_EQ(message({{3, 3, 3}, 1, 0}), "the salt buckets must be 1 to 2147483647, found 0");
  EXPECT_EQ(message({{3, 0, 3}, 1, 20}), "the tagk uid width must be 1 to 8 bytes, found 0");
  EXPECT_EQ(OpentsdbLayout::make({{3, 3, 3}, 1, 1000}).value()->salt_buckets(), 256U);
}

struct WrittenPoint {
  ValueBits value;
  std::uint8_t flags;
  bool operator==(const WrittenPoint&) const = default;
};

// Random points written as cells, read back whole and in ranges, through metric and series scans.
TEST(OpentsdbLayout, RandomPointsComeBack) {
  std::mt19937_64 random(4);
  for (const std::uint8_t salt_width : {0, 1, 2, 3, 6}) {
    const auto schema = layout(salt_width, {static_cast<std::uint8_t>(1 + random() % 8),
                                            static_cast<std::uint8_t>(1 + random() % 8),
                                            static_cast<std::uint8_t>(1 + random() % 8)});
    std::map<Bytes, std::map<Bytes, Cell>> table;
    std::map<Bytes, std::map<TimestampMs, WrittenPoint>> wanted;
    for (TimestampMs written = 1; written <= 4000; ++written) {
      const UidPair pair{1 + random() % 2, 1 + random() % 5};
      const Bytes tsuid = make_tsuid(schema->widths(), 1, std::span(&pair, 1));
      const bool millis = random() % 2 == 0;
      TimestampMs time = kBase + static_cast<TimestampMs>(random() % 20'000'000);
      if (!millis) time -= time % 1000;
      const bool whole = random() % 2 == 0;
      const ValueBits value = whole ? random() >> random() % 64
                                    : double_bits(static_cast<double>(random() % 1000) / 10);
      const auto flags = static_cast<std::uint8_t>((whole ? 0 : +kFloat) | (millis ? +kMillis : 0));
      const PointCell cell = schema->point_cell(time, value, flags);
      table[schema->row_key(tsuid, time)][cell.qualifier] = {cell.qualifier, cell.value, written};
      wanted[tsuid][time] = {value, static_cast<std::uint8_t>(flags & kFloat)};
    }

    for (int round = 0; round < 20; ++round) {
      const TimestampMs begin = kBase + static_cast<TimestampMs>(random() % 20'000'000);
      const TimeRange range{begin, begin + static_cast<TimestampMs>(random() % 20'000'000)};
      std::map<Bytes, std::map<TimestampMs, WrittenPoint>> by_metric;
      std::map<Bytes, std::map<TimestampMs, WrittenPoint>> by_series;
      const auto read = [&](const std::vector<BucketScan>& scans, auto& into) {
        for (const BucketScan& scan : scans) {
          for (auto row = table.lower_bound(scan.keys.begin);
               row != table.lower_bound(scan.keys.end); ++row) {
            const RowId id = schema->parse_row(row->first).value();
            std::vector<Cell> cells;
            for (const auto& [qualifier, cell] : row->second) cells.push_back(cell);
            RowPoints points;
            ASSERT_TRUE(schema->decode(id, as_refs(cells), scan.times, points));
            for (std::size_t i = 0; i < points.times.size(); ++i) {
              auto& series = into[id.tsuid];
              EXPECT_TRUE(series.empty() || series.rbegin()->first < points.times[i]);
              series[points.times[i]] = {points.values[i],
                                         static_cast<std::uint8_t>(points.flags[i] & kFloat)};
            }
          }
        }
      };
      Bytes metric;
      append_be_width(metric, 1, schema->widths().metric);
      for (std::uint32_t salt = 0; salt < schema->salt_buckets(); ++salt) {
        read(schema->metric_buckets(metric, range, salt, 0), by_metric);
      }
      std::map<Bytes, std::map<TimestampMs, WrittenPoint>> expected;
      for (const auto& [tsuid, points] : wanted) {
        read(schema->series_buckets(tsuid, range, 0), by_series);
        for (const auto& [time, point] : points) {
          if (time >= range.begin && time < range.end) expected[tsuid][time] = point;
        }
      }
      EXPECT_EQ(by_metric, expected);
      EXPECT_EQ(by_series, expected);
    }
  }
}

}  // namespace
}  // namespace halite::storage
