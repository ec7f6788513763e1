#include "storage/tsdb/chunk_db/tables/chunk_key.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "storage/catalog/series_table.h"

namespace halite::storage::engine {
namespace {

const UidWidths kWidths;
const Bytes kTsuid = from_hex("000001000001000002").value();
const Bytes kLongerTsuid = from_hex("000001000001000002000003000004").value();

Bytes key_of(ShardSlot shard_slot, const Bytes& tsuid, const CellKey& cell) {
  Bytes key = series_prefix(shard_slot, kWidths, tsuid);
  append_cell_key(key, cell);
  return key;
}

TEST(ChunkKey, HasTheDocumentedBytes) {
  const Bytes key = key_of(
      {.shard = 5, .slot = 0x01020304}, kTsuid,
      {.period = 0x4E2A, .kind = CellKind::kSealed, .offset_ms = 0x0A0B0C0D, .flush_number = 7});
  EXPECT_EQ(to_hex(key),
            "05"
            "01020304"
            "000001"
            "01"
            "000001000002"
            "00004E2A"
            "02"
            "0A0B0C0D"
            "0000000000000007");
}

TEST(ChunkKey, ComesBackAsItWent) {
  for (const Bytes& tsuid : {kTsuid, kLongerTsuid, Bytes("\0\0\x09", 3)}) {
    const Bytes key = key_of({.shard = 255, .slot = UINT32_MAX}, tsuid,
                             {.period = UINT32_MAX,
                              .kind = CellKind::kTombstone,
                              .offset_ms = UINT32_MAX,
                              .flush_number = UINT64_MAX});
    const auto parsed = parse_key(kWidths, key);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->shard_slot.shard, 255U);
    EXPECT_EQ(parsed->shard_slot.slot, UINT32_MAX);
    EXPECT_EQ(tsuid_of(kWidths, parsed->series), tsuid);
    EXPECT_EQ(parsed->series, series_key(kWidths, tsuid));
    EXPECT_EQ(parsed->cell.period, UINT32_MAX);
    EXPECT_EQ(parsed->cell.kind, CellKind::kTombstone);
    EXPECT_EQ(parsed->cell.offset_ms, UINT32_MAX);
    EXPECT_EQ(parsed->cell.flush_number, UINT64_MAX);
  }
}

TEST(ChunkKey, NoSeriesLiesWithinAnother) {
  // The longer tsuid goes on with bytes that could be a generation.
  std::vector<Bytes> keys;
  for (std::uint32_t period : {0U, 3U, 0x00000300U, UINT32_MAX}) {
    keys.push_back(key_of({}, kTsuid, {.period = period}));
    keys.push_back(key_of({}, kLongerTsuid, {.period = period}));
  }
  std::ranges::sort(keys);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto parsed = parse_key(kWidths, keys[i]);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(tsuid_of(kWidths, parsed->series), i < 4 ? kTsuid : kLongerTsuid);
  }
}

TEST(ChunkKey, SeriesAreInTheOrderOfTheirKeys) {
  SeriesTable table({.series = 100}, kWidths);
  std::vector<const Series*> series;
  for (const std::uint64_t value : {1U, 2U, 0x0100U, 0xFF0000U}) {
    for (const std::uint64_t other : {0U, 1U, 7U}) {
      NewSeries made;
      made.metric_uid = 1;
      made.metric = "m";
      append_be_width(made.tsuid, 1, kWidths.metric);
      for (const auto& [key, uid] : {std::pair{2UL, value}, std::pair{3UL, other}}) {
        if (uid == 0) continue;
        append_be_width(made.tsuid, key, kWidths.tag_key);
        append_be_width(made.tsuid, uid, kWidths.tag_value);
        made.tags.push_back({.key = "k", .value = "v", .key_uid = key, .value_uid = uid});
      }
      series.push_back(&table.at(table.add(made).value()));
    }
  }
  const auto key = [](const Series& one) {
    Bytes bytes;
    append_series_key(bytes, one);
    EXPECT_EQ(bytes, series_key(kWidths, one.tsuid.bytes()));
    return bytes;
  };
  std::vector<SeriesPlace> sorted;
  for (const Series* const one : series) sorted.push_back({.series = one, .place = sorted.size()});
  std::ranges::reverse(sorted);
  sort_by_key(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(sorted[i].series, series[sorted[i].place]);
    if (i > 0) EXPECT_LT(key(*sorted[i - 1].series), key(*sorted[i].series));
  }
}

TEST(ChunkKey, OtherBytesAreDamage) {
  const Bytes key = key_of({.shard = 1, .slot = 2}, kTsuid, {.period = 3});
  for (std::size_t length = 0; length < key.size(); ++length) {
    EXPECT_FALSE(parse_key(kWidths, BytesView(key).substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_key(kWidths, key + "x"));
  Bytes wrong_kind = key;
  wrong_kind[key.size() - 13] = 9;
  const auto parsed = parse_key(kWidths, wrong_kind);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, Errc::kCorruption);
}

}  // namespace
}  // namespace halite::storage::engine
