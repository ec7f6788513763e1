// HFiles are read back by tests/support/hfile_reader.h, which checks every byte that it can.
#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/hbase/hfile/hfile_writer.h"
#include "tests/support/hfile_reader.h"

namespace halite::storage::hbase {
namespace {

using test::ReadCell;
using test::ReadHFile;
using testing::HasSubstr;

Result<Bytes> write(const HFileOptions& options, const std::vector<ReadCell>& cells) {
  HFileWriter writer(options);
  Bytes file;
  for (const ReadCell& cell : cells) {
    TRY_VOID(writer.add({.row = cell.row,
                         .family = cell.family,
                         .qualifier = cell.qualifier,
                         .time = cell.time,
                         .value = cell.value}));
    if (writer.ready() > 1000) file += writer.take();
  }
  TRY(const HFileSummary summary, writer.finish());
  file += writer.take();
  EXPECT_EQ(summary.bytes, file.size());
  EXPECT_EQ(summary.cells, cells.size());
  EXPECT_EQ(summary.first_row, cells.front().row);
  EXPECT_EQ(summary.last_row, cells.back().row);
  return file;
}

ReadCell cell(Bytes row, Bytes qualifier, TimestampMs time, Bytes value) {
  return {.row = std::move(row),
          .family = "t",
          .qualifier = std::move(qualifier),
          .time = time,
          .value = std::move(value)};
}

std::vector<ReadCell> many(std::size_t rows) {
  std::mt19937 random(7);
  std::vector<ReadCell> cells;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = Bytes(1, '\x80') + Bytes(1, '\xFF') + fmt::format("{:09}", i * 3);
    cells.push_back(cell(row, "a", 2000, Bytes(random() % 50, 'x')));
    cells.push_back(cell(row, "a", 1000, "older"));
    cells.push_back(cell(row, Bytes("a\0", 2), 3000, fmt::format("{}", random())));
  }
  return cells;
}

// The whole of a smallest file, so that a change of the format shows.
TEST(HFileTest, BytesOfOneCell) {
  const Bytes file = write({.bloom = false, .created_ms = 1}, {cell("r", "q", 5, "v")}).value();
  const Bytes data = from_hex(
                         "44415441424C4B2A"  // DATABLK*
                         "0000001C00000018FFFFFFFFFFFFFFFF020000400000000039"
                         "0000000F00000001"                   // lengths of key and value
                         "00017201747100000000000000050476")  // row, family, q, time, put, value
                         .value();
  EXPECT_EQ(to_hex(BytesView(file).substr(0, data.size())), to_hex(data));
  const ReadHFile read = test::read_hfile(file).value();
  EXPECT_EQ(read.cells, std::vector{cell("r", "q", 5, "v")});
  EXPECT_EQ(read.levels, 1U);
  EXPECT_EQ(to_hex(read.info.at("hfile.LASTKEY")), "000172017471000000000000000504");
  EXPECT_EQ(to_hex(read.info.at("TIMERANGE")), "00000000000000050000000000000005");
  EXPECT_EQ(to_hex(read.info.at("hfile.AVG_KEY_LEN")), "0000000F");
  EXPECT_FALSE(read.info.contains("BLOOM_FILTER_TYPE"));
}

TEST(HFileTest, WhatGoesInComesOutWithEachCodec) {
  const std::vector<ReadCell> cells = many(20'000);
  std::size_t plain = 0;
  for (const auto compression :
       {HFileCompression::kNone, HFileCompression::kGz, HFileCompression::kZstd}) {
    const Bytes file = write({.compression = compression}, cells).value();
    const Result<ReadHFile> read = test::read_hfile(file);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->cells, cells);
    EXPECT_EQ(read->codec, static_cast<std::uint32_t>(compression));
    EXPECT_GT(read->data_blocks, 20U);
    EXPECT_EQ(read->levels, 1U);
    if (compression == HFileCompression::kNone) plain = file.size();
    EXPECT_LE(file.size(), compression == HFileCompression::kNone ? plain : plain / 2);
  }
}

TEST(HFileTest, TheIndexGetsAsManyLevelsAsItNeeds) {
  const std::vector<ReadCell> cells = many(20'000);
  for (const std::uint32_t index_bytes : {1'000'000, 20'000, 300, 60}) {
    const Bytes file = write({.block_bytes = 256, .index_bytes = index_bytes}, cells).value();
    const Result<ReadHFile> read = test::read_hfile(file);
    ASSERT_TRUE(read) << index_bytes << ": " << read.error().message;
    EXPECT_EQ(read->cells, cells);
    if (index_bytes == 1'000'000) {
      EXPECT_EQ(read->levels, 1U);
      continue;
    }
    if (index_bytes == 20'000) EXPECT_EQ(read->levels, 2U);
    if (index_bytes < 1000) EXPECT_GT(read->levels, 3U);
    const auto middle = std::ranges::find_if(cells, [&read](const ReadCell& one) {
      return read->middle_key.find(one.row) != Bytes::npos;
    });
    const auto at = static_cast<std::size_t>(middle - cells.begin());
    EXPECT_GT(at, cells.size() * 2 / 5);
    EXPECT_LT(at, cells.size() * 3 / 5);
  }
}

TEST(HFileTest, TheBloomFilterKnowsAllRowsAndFewOthers) {
  const std::size_t rows = 250'000;  // three chunks
  HFileWriter writer({});
  const auto row = [](std::size_t i) { return fmt::format("{:09}\xFF", i); };
  for (std::size_t i = 0; i < rows; ++i) {
    ASSERT_TRUE(writer.add({.row = row(2 * i), .family = "t", .qualifier = "q", .value = "v"}));
  }
  ASSERT_TRUE(writer.finish());
  const ReadHFile read = test::read_hfile(writer.take()).value();
  EXPECT_EQ(read.bloom_chunks, 3U);
  EXPECT_EQ(read.info.at("LAST_BLOOM_KEY"), row(2 * rows - 2));
  std::size_t false_hits = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    ASSERT_TRUE(read.may_contain(row(2 * i))) << i;
    false_hits += read.may_contain(row(2 * i + 1)) ? 1 : 0;
  }
  EXPECT_LT(false_hits, rows / 80);
}

// As HBase 2.6.4 computes them.
TEST(HFileTest, HashesAreThoseOfHBase) {
  EXPECT_EQ(bloom_hash("", 0), 0U);
  EXPECT_EQ(bloom_hash("", 12345), 0x71b7ebf6);
  EXPECT_EQ(bloom_hash("\x80", 0), 0xfdab6e14);
  EXPECT_EQ(bloom_hash("\x80", 12345), 0xa074e8f9);
  EXPECT_EQ(bloom_hash("\x01\x02\xFF", 0), 0xb9e46f43);
  EXPECT_EQ(bloom_hash("\x80\x81\x82\x83", 12345), 0xbffc543e);
  EXPECT_EQ(bloom_hash("abcde\xF0\xF1", 0), 0x5e13251U);
}

TEST(HFileTest, CellsOutOfOrderAreRefused) {
  const std::vector<std::vector<ReadCell>> wrong = {
      {cell("b", "q", 1, ""), cell("a", "q", 1, "")},
      {cell("\x80", "q", 1, ""), cell("\x7F", "q", 1, "")},
      {cell("a", "r", 1, ""), cell("a", "q", 1, "")},
      {cell("a", "q", 1, ""), cell("a", "q", 2, "")},
      {cell("a", "q", 1, ""), cell("a", "q", 1, "")},
      {{.row = "a", .family = "u", .qualifier = "q", .time = 1, .value = ""},
       cell("a", "q", 1, "")},
  };
  for (const std::vector<ReadCell>& cells : wrong) {
    const Result<Bytes> refused = write({}, cells);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("not in order"));
  }
}

TEST(HFileTest, ImpossibleCellsAreRefused) {
  const Bytes long_row(32'767, 'r');
  EXPECT_TRUE(write({}, {cell(long_row, "", 0, "")}));
  for (const ReadCell& one :
       {cell("", "q", 1, ""), cell(long_row + "r", "q", 1, ""), cell("r", "q", -1, ""),
        cell("r", Bytes(32'768, 'q'), 1, ""),
        ReadCell{.row = "r", .family = "", .qualifier = "q", .time = 1, .value = ""},
        ReadCell{
            .row = "r", .family = Bytes(128, 'f'), .qualifier = "q", .time = 1, .value = ""}}) {
    EXPECT_EQ(write({}, {one}).error().code, Errc::kInvalidArgument);
  }
  EXPECT_TRUE(write({.value_bytes_max = 10}, {cell("r", "q", 1, Bytes(10, 'v'))}));
  EXPECT_EQ(write({.value_bytes_max = 10}, {cell("r", "q", 1, Bytes(11, 'v'))}).error().code,
            Errc::kTooLarge);
  HFileWriter empty({});
  EXPECT_EQ(empty.finish().error().code, Errc::kInvalidArgument);
}

// The writer keeps little of a file that its caller takes.
TEST(HFileTest, OutputComesWhileCellsAreAdded) {
  HFileWriter writer({});
  std::size_t most = 0;
  for (std::size_t i = 0; i < 100'000; ++i) {
    const Bytes row = fmt::format("{:09}", i);
    ASSERT_TRUE(writer.add({.row = row, .family = "t", .qualifier = "q", .value = "value"}));
    most = std::max(most, writer.take().size());
  }
  EXPECT_GT(most, 64U << 10);
  EXPECT_LT(most, 128U << 10);
}

}  // namespace
}  // namespace halite::storage::hbase
