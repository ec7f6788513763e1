#include "storage/tsdb/chunk_db/tables/chunk_key.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

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
