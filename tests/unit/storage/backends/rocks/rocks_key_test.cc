// Keys and values in RocksDB: docs/formats/rocks-cells.md.
#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "storage/api/wide_column.h"
#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/key.h"

namespace halite::storage::rocks {
namespace {

Bytes bytes_of(std::string_view hex) { return from_hex(hex).value(); }

TEST(RocksKey, Bytes) {
  EXPECT_EQ(to_hex(cell_key("row", "q")),
            "726F77"
            "0001"
            "71");
  EXPECT_EQ(to_hex(cell_key("row", "")),
            "726F77"
            "0001");
  EXPECT_EQ(to_hex(cell_key(bytes_of("000001"), bytes_of("0001"))),
            "00FF00FF01"
            "0001"
            "0001");
  EXPECT_EQ(to_hex(cell_key(bytes_of("00"), "")),
            "00FF"
            "0001");
  EXPECT_EQ(to_hex(cell_key(bytes_of("FF00FF"), bytes_of("00"))),
            "FF00FFFF"
            "0001"
            "00");
  EXPECT_EQ(to_hex(row_prefix_end(row_prefix("row"))),
            "726F77"
            "0002");
}

TEST(RocksKey, RowsComeBack) {
  for (const char* hex : {"00", "01", "FF", "0000", "0001", "00FF", "FF00", "000000", "616200",
                          "0061", "FFFF", "0002"}) {
    const Bytes row = bytes_of(hex);
    const Bytes key = cell_key(row, bytes_of("0001FF"));
    const auto size = row_prefix_size(key);
    ASSERT_TRUE(size) << hex;
    EXPECT_EQ(row_of_prefix(BytesView(key).substr(0, *size)).value(), row);
    EXPECT_EQ(key.substr(*size), bytes_of("0001FF"));
  }
  const Bytes longest(kRowKeyBytesMax, '\0');
  EXPECT_EQ(row_of_prefix(row_prefix(longest)).value(), longest);
}

TEST(RocksKey, OtherBytesAreNoKey) {
  for (const char* hex : {"", "61", "6100", "00FF", "00FF00", "610002", "610000", "6100FE01"}) {
    EXPECT_FALSE(row_prefix_size(bytes_of(hex))) << hex;
    EXPECT_EQ(row_of_prefix(bytes_of(hex)).error().code, Errc::kCorruption) << hex;
  }
  EXPECT_FALSE(row_of_prefix(bytes_of("61000161")));  // a prefix and more
}

// Keys sort as (row, qualifier) does, and a row's keys lie between its prefix and the prefix's end.
TEST(RocksKey, SortsAsRowsAndQualifiersDo) {
  std::mt19937 random(1);
  const auto name = [&random](std::size_t shortest) {
    Bytes bytes(shortest + random() % 4, ' ');
    for (char& byte : bytes) byte = "\x00\x01\x02\x61\xFE\xFF"[random() % 6];
    return bytes;
  };
  for (int i = 0; i < 100'000; ++i) {
    const std::pair one(name(1), name(0));
    const std::pair other(name(1), name(0));
    const Bytes one_key = cell_key(one.first, one.second);
    const Bytes other_key = cell_key(other.first, other.second);
    ASSERT_EQ(one < other, one_key < other_key)
        << to_hex(one.first) << "/" << to_hex(one.second) << " " << to_hex(other.first) << "/"
        << to_hex(other.second);
    const Bytes prefix = row_prefix(one.first);
    ASSERT_EQ(one.first == other.first, other_key >= prefix && other_key < row_prefix_end(prefix));
  }
}

TEST(RocksCell, TheValueBeginsWithItsTime) {
  Bytes stored(kCellTimeBytes, '\0');
  stored += "value";
  set_cell_time(stored.data(), 0x0102030405060708);
  EXPECT_EQ(to_hex(stored),
            "0102030405060708"
            "76616C7565");
  EXPECT_EQ(parse_cell(stored)->time, 0x0102030405060708);
  EXPECT_EQ(parse_cell(stored)->value, "value");
  EXPECT_EQ(parse_cell(stored.substr(0, 8))->value, "");
  EXPECT_FALSE(parse_cell(stored.substr(0, 7)));
  EXPECT_EQ(parse_cell_of("key", "").error().code, Errc::kCorruption);
}

}  // namespace
}  // namespace halite::storage::rocks
