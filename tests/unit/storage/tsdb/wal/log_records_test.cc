// What storage/tsdb/wal/records.h writes and reads.
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/tsdb/wal/column.h"
#include "storage/tsdb/wal/records.h"

namespace halite::storage::log_records {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Keeps what it is shown, as text where that is enough.
class Kept final : public SectionVisitor {
 public:
  Result<void> name(const NameRecord& name) override {
    texts.push_back("name " + std::to_string(name.kind) + " " + std::to_string(name.uid) + " " +
                    Bytes(name.name));
    return {};
  }
  Result<void> series(const SeriesRecord& series) override {
    texts.push_back("series " + std::to_string(series.id) + " " + std::to_string(series.shard) +
                    " " + Bytes(series.tsuid));
    return {};
  }
  Result<void> points(const PointColumns& points) override {
    texts.push_back("points " + std::to_string(points.shard));
    ids.assign(points.series.begin(), points.series.end());
    times.assign(points.times.begin(), points.times.end());
    values.assign(points.values.begin(), points.values.end());
    flags.assign(points.flags.begin(), points.flags.end());
    return {};
  }

  std::vector<std::string> texts;
  std::vector<std::uint32_t> ids;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;
};

TEST(LogRecords, ComeBackInTheirOrder) {
  Bytes payload;
  append_name(payload, {1, 300, "host"});
  append_name(payload, {2, std::numeric_limits<std::uint64_t>::max(), ""});
  append_series(payload, {4'000'000'000, 7, "tsuid"});
  append_points(payload, {});
  Kept kept;
  SectionReader reader;
  ASSERT_TRUE(reader.read(payload, kept));
  EXPECT_THAT(kept.texts, ElementsAre("name 1 300 host", "name 2 18446744073709551615 ",
                                      "series 4000000000 7 tsuid", "points 0"));
  ASSERT_TRUE(reader.read("", kept)) << "nothing is a payload too";
}

TEST(LogRecords, PointsComeBackBitForBit) {
  const std::vector<std::uint32_t> ids = {0, 0xFFFFFFFF, 5, 5};
  const std::vector<TimestampMs> times = {0, std::numeric_limits<TimestampMs>::min(),
                                          std::numeric_limits<TimestampMs>::max(), -1};
  const std::vector<ValueBits> values = {integer_bits(-1), double_bits(-0.0), 0x7FF8000000000123,
                                         integer_bits(std::numeric_limits<std::int64_t>::min())};
  const std::vector<std::uint8_t> flags = {0, kFloat, kFloat | kMillis | kWide, 255};
  Bytes payload;
  append_points(payload, {12, ids, times, values, flags});
  Kept kept;
  SectionReader reader;
  ASSERT_TRUE(reader.read(payload, kept));
  EXPECT_EQ(kept.ids, ids);
  EXPECT_EQ(kept.times, times);
  EXPECT_EQ(kept.values, values);
  EXPECT_EQ(kept.flags, flags);
}

TEST(LogRecords, OfARoundOfAgentsAreShort) {
  constexpr std::size_t kPoints = 1000;
  std::vector<std::uint32_t> ids;
  std::vector<TimestampMs> times(kPoints, 1'700'000'000'000);
  std::vector<ValueBits> values;
  const std::vector<std::uint8_t> flags(kPoints, 0);
  for (std::size_t i = 0; i < kPoints; ++i) {
    ids.push_back(static_cast<std::uint32_t>(1000 + i * 16));
    values.push_back(integer_bits(static_cast<std::int64_t>(i * 7919 % 200) - 100));
  }
  Bytes payload;
  append_points(payload, {1, ids, times, values, flags});
  EXPECT_LT(payload.size(), kPoints + 60) << "a byte a point, and the heads";
}

TEST(LogRecords, EveryShorteningIsRefused) {
  Bytes payload;
  append_name(payload, {1, 300, "host"});
  append_series(payload, {4'000'000'000, 7, "tsuid"});
  const std::vector<std::uint32_t> ids = {1, 2, 9};
  const std::vector<TimestampMs> times = {5, 6, 1000};
  const std::vector<ValueBits> values = {1, 2, ~0ull};
  const std::vector<std::uint8_t> flags = {0, 1, 0};
  append_points(payload, {12, ids, times, values, flags});
  std::size_t whole = 0;
  for (std::size_t bytes = 0; bytes <= payload.size(); ++bytes) {
    Kept kept;
    SectionReader reader;
    const auto read = reader.read(BytesView(payload).substr(0, bytes), kept);
    if (read) {
      ++whole;
    } else {
      EXPECT_EQ(read.error().code, Errc::kCorruption);
    }
  }
  EXPECT_EQ(whole, 4u) << "only where a section ends";
}

TEST(LogRecords, WhatNoWriterWritesIsRefused) {
  SectionReader reader;
  Kept kept;
  EXPECT_EQ(reader.read("\x04", kept).error().code, Errc::kUnsupported);
  EXPECT_EQ(reader.read(Bytes("\0", 1), kept).error().code, Errc::kUnsupported);
  const Bytes endless("\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 11);
  EXPECT_EQ(reader.read(endless, kept).error().code, Errc::kCorruption);
  // 2^20 + 1 points that need no bytes.
  Bytes many("\x03\x00\x81\x80\x40", 5);
  for (int column = 0; column < 4; ++column) many += Bytes(9, '\0');
  EXPECT_EQ(reader.read(many, kept).error().code, Errc::kCorruption);
  many[2] = '\x80';  // 2^20
  EXPECT_TRUE(reader.read(many, kept));
  EXPECT_THAT(kept.ids, SizeIs(kPointsMax));
  EXPECT_EQ(reader.read(many + many, kept).error().code, Errc::kCorruption)
      << "the bound is one of the payload";
}

TEST(LogRecords, AVisitorsErrorEndsTheReading) {
  class Refusing final : public SectionVisitor {
   public:
    Result<void> name(const NameRecord&) override { return fail(Errc::kInternal, "no"); }
    Result<void> series(const SeriesRecord&) override { return {}; }
    Result<void> points(const PointColumns&) override { return {}; }
  };
  Bytes payload;
  append_name(payload, {1, 1, "x"});
  Refusing refusing;
  SectionReader reader;
  EXPECT_EQ(reader.read(payload, refusing).error().message, "no");
}

template <class Value>
void expect_round_trip(const std::vector<Value>& values) {
  Bytes bytes;
  append_column(bytes, std::span<const Value>(values));
  bytes += "rest";
  BytesView rest = bytes;
  std::vector<Value> read;
  ASSERT_TRUE(read_column(rest, values.size(), read));
  EXPECT_EQ(read, values);
  EXPECT_EQ(rest, "rest");
}

TEST(LogColumns, ComeBackWhateverTheyHold) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t count = random() % 40;
    const unsigned shift = random() % 64;
    const std::uint64_t base = random();
    const std::uint64_t step = random() % 3 == 0 ? 0 : random() >> (random() % 64);
    std::vector<std::uint64_t> wide;
    for (std::size_t i = 0; i < count; ++i) wide.push_back(base + i * step + (random() >> shift));
    expect_round_trip(wide);
    expect_round_trip(std::vector<std::int64_t>(wide.begin(), wide.end()));
    std::vector<std::uint32_t> ids;
    std::vector<std::uint8_t> bytes;
    for (const std::uint64_t value : wide) {
      ids.push_back(static_cast<std::uint32_t>(value));
      bytes.push_back(static_cast<std::uint8_t>(value));
    }
    expect_round_trip(ids);
    expect_round_trip(bytes);
  }
}

TEST(LogColumns, TakeTheNarrowestWidth) {
  const auto bytes_of = [](const std::vector<std::uint64_t>& values) {
    Bytes bytes;
    append_column(bytes, std::span<const std::uint64_t>(values));
    return bytes.size();
  };
  EXPECT_EQ(bytes_of({}), 0u);
  EXPECT_EQ(bytes_of({~0ull}), 9u);
  EXPECT_EQ(bytes_of({7, 7, 7}), 9u);
  EXPECT_EQ(bytes_of({0, 255, 3}), 9u + 3);
  EXPECT_EQ(bytes_of({0, 256, 3}), 9u + 6);
  EXPECT_EQ(bytes_of({0, 65536, 3}), 9u + 12);
  EXPECT_EQ(bytes_of({0, 1ull << 32, 3}), 9u + 24);
  EXPECT_EQ(bytes_of({0, 1ull << 40, 2ull << 40}), 17u) << "even steps";
  EXPECT_EQ(bytes_of({0, 1000, 2001, 3000}), 17u + 3) << "nearly even steps";
}

TEST(LogColumns, RefuseValuesThatDoNotFit) {
  const std::vector<std::uint64_t> wide = {1, 1ull << 32};
  Bytes bytes;
  append_column(bytes, std::span<const std::uint64_t>(wide));
  BytesView rest = bytes;
  std::vector<std::uint32_t> narrow;
  EXPECT_EQ(read_column(rest, wide.size(), narrow).error().code, Errc::kCorruption);
  Bytes width_three("\x03", 1);
  width_three += Bytes(20, '\0');
  rest = width_three;
  EXPECT_EQ(read_column(rest, 2, narrow).error().code, Errc::kCorruption);
}

}  // namespace
}  // namespace halite::storage::log_records
