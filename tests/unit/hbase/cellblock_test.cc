#include "storage/hbase/rpc/cellblock.h"

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
