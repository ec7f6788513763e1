#include "storage/backends/hbase/rpc/cellblock.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace halite::storage::hbase {
namespace {

const CellView kPut = {.row = "row1",
                       .family = "t",
                       .qualifier = "q",
                       .time = 0x0102030405060708,
                       .kind = CellKind::kPut,
                       .value = "value"};

constexpr const char* kPutHex =
    "0000001F"          // bytes that follow
    "00000012"          // of the key
    "00000005"          // of the value
    "0004726F7731"      // row
    "0174"              // family
    "71"                // qualifier
    "0102030405060708"  // time
    "04"                // put
    "76616C7565";

TEST(HBaseCellblock, WritesWhatHBaseReads) {
  Bytes block;
  append_cell(block, kPut);
  EXPECT_EQ(to_hex(block), kPutHex);
  EXPECT_EQ(block.size(), cell_bytes(kPut));
}

TEST(HBaseCellblock, ReadsCellsOneAfterTheOther) {
  Bytes block;
  append_cell(block, kPut);
  append_cell(block, {.row = Bytes(32767, 'r'), .kind = CellKind::kDeleteFamily});
  CellReader reader(block);
  const Result<CellView> first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->row, "row1");
  EXPECT_EQ(first->family, "t");
  EXPECT_EQ(first->qualifier, "q");
  EXPECT_EQ(first->time, 0x0102030405060708U);
  EXPECT_EQ(first->kind, CellKind::kPut);
  EXPECT_EQ(first->value, "value");
  const Result<CellView> second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->row.size(), 32767U);
  EXPECT_EQ(second->family, "");
  EXPECT_EQ(second->qualifier, "");
  EXPECT_EQ(second->time, kLatestTime);
  EXPECT_EQ(second->kind, CellKind::kDeleteFamily);
  EXPECT_TRUE(reader.at_end());
}

// Cells of one row behind each other are read by comparing them with the one before.
TEST(HBaseCellblock, CellsOfARowAreReadAsAnyOther) {
  std::mt19937 random(3);
  const std::vector<Bytes> names = {"r", "r1", "r1t", "row2"};
  for (int round = 0; round < 300; ++round) {
    Bytes block;
    for (std::size_t i = 1 + random() % 30; i > 0; --i) {
      const Bytes qualifier(random() % 5, static_cast<char>(random()));
      const Bytes value(random() % 9, static_cast<char>(random()));
      const CellView cell = {.row = names[random() % 8 == 0 ? random() % 4 : 1],
                             .family = random() % 8 == 0 ? "" : "t",
                             .qualifier = qualifier,
                             .time = random(),
                             .kind = random() % 8 == 0 ? CellKind::kDeleteVersion : CellKind::kPut,
                             .value = value};
      append_cell(block, cell);
    }
    const std::size_t whole = block.size();
    if (round % 3 == 0) block.resize(random() % (whole + 1));  // a cut
    if (round % 3 == 1 && !block.empty())
      block[random() % whole] ^= static_cast<char>(1 + random() % 255);
    CellReader by_one(block);
    CellReader by_row(block);
    std::vector<CellRef> cells;  // that were read together, those still to be looked at first
    CellView last;
    while (!by_one.at_end()) {
      const Result<CellView> wanted = by_one.next();
      if (cells.empty()) {
        const Result<CellView> next = by_row.next();
        ASSERT_EQ(next.has_value(), wanted.has_value());
        if (!wanted) break;
        last = *next;
        cells.push_back({last.qualifier, last.value, static_cast<TimestampMs>(last.time)});
        const std::size_t most = random() % 20;
        by_row.next_of_row(last, most, cells);
        ASSERT_LE(cells.size(), most + 1);
      }
      ASSERT_TRUE(wanted) << "read what is damaged";
      EXPECT_EQ(wanted->row, last.row);
      EXPECT_EQ(wanted->family, last.family);
      EXPECT_EQ(wanted->qualifier, cells.front().qualifier);
      EXPECT_EQ(wanted->value, cells.front().value);
      EXPECT_EQ(static_cast<TimestampMs>(wanted->time), cells.front().time);
      cells.erase(cells.begin());
    }
    EXPECT_EQ(by_row.at_end(), by_one.at_end());
  }
}

TEST(HBaseCellblock, EveryCutIsSeen) {
  Bytes block;
  append_cell(block, kPut);
  for (std::size_t bytes = 1; bytes < block.size(); ++bytes) {
    CellReader reader(BytesView(block).substr(0, bytes));
    EXPECT_FALSE(reader.next()) << bytes;
  }
}

TEST(HBaseCellblock, LengthsThatContradictEachOtherAreSeen) {
  Bytes block;
  append_cell(block, kPut);
  for (const std::size_t at : {0U, 4U, 8U, 12U, 18U}) {  // total, key, value, row, family
    for (const char wrong : {'\x7F', '\xFF'}) {
      Bytes damaged = block;
      damaged[at] = wrong;
      CellReader reader(damaged);
      const Result<CellView> cell = reader.next();
      ASSERT_FALSE(cell) << at;
      EXPECT_EQ(cell.error().code, Errc::kCorruption);
    }
  }
}

}  // namespace
}  // namespace halite::storage::hbase
