#include "storage/backends/hbase/table/hbase_changes.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;

constexpr TimestampMs kWriteTime = 1'000'000;

class HBaseChanges : public testing::Test {
 protected:
  // "row: family:qualifier=value@time ... -family:qualifier@time", times without the now.
  std::vector<std::string> changes(std::vector<RowWrite> rows, TimestampMs newest = 0) {
    std::vector<std::string> texts;
    for (hbase::RowMutation& row : mutations_of(std::move(rows), {"d", "t"}, clock_)) {
      stamp_deletes(row, std::max(newest, clock_.stamp()));
      std::string text = row.row + ":";
      for (const hbase::Cell& cell : row.puts) {
        text += fmt::format(" {}:{}={}@{}", cell.family, cell.qualifier, cell.value,
                            cell.time - kWriteTime);
      }
      for (const hbase::CellDelete& one : row.deletes) {
        text += fmt::format(" -{}:{}@{}", one.family, one.qualifier, one.time - kWriteTime);
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  FakeClock now_{kWriteTime};
  HybridClock clock_{now_};
};

TEST_F(HBaseChanges, CellsAreStampedOrKeepTheirTimes) {
  EXPECT_THAT(changes({{"a", {{{0, "p"}, "1", 0}, {{1, "q"}, "2", kWriteTime - 5}}, {}},
                       {"b", {{{0, "p"}, "3", kWriteTime + 9}, {{0, "q"}, "4", 0}}, {}}}),
              ElementsAre("a: d:p=1@0 t:q=2@-5", "b: d:p=3@9 d:q=4@9"));
  EXPECT_THAT(changes({{"a", {}, {}}}), ElementsAre());
  EXPECT_THAT(changes({}), ElementsAre());
}

TEST_F(HBaseChanges, OfRepeatedCellsTheGreatestTimeWinsThenTheLast) {
  EXPECT_THAT(changes({{"a",
                        {{{0, "q"}, "1", 0},
                         {{0, "p"}, "new", kWriteTime - 1},
                         {{0, "q"}, "2", 0},
                         {{0, "p"}, "old", kWriteTime - 2}},
                        {}}}),
              ElementsAre("a: d:p=new@-1 d:q=2@0"));
}

TEST_F(HBaseChanges, ARowThatComesTwiceIsOne) {
  EXPECT_THAT(changes({{"a", {{{0, "p"}, "1", 0}}, {}},
                       {"b", {{{0, "p"}, "2", 0}}, {}},
                       {"a", {{{0, "p"}, "3", 0}, {{0, "q"}, "4", 0}}, {}}}),
              ElementsAre("a: d:p=3@0 d:q=4@0", "b: d:p=2@0"));
}

TEST_F(HBaseChanges, ADeleteTakesWhatCameBeforeItInTheSameCall) {
  EXPECT_THAT(changes({{"a", {{{0, "p"}, "1", 0}, {{0, "q"}, "2", 0}}, {}},
                       {"a", {{{1, "p"}, "3", 0}}, {{0, "p"}}}}),
              ElementsAre("a: d:q=2@0 t:p=3@0 -d:p@0"));
}

TEST_F(HBaseChanges, WhatACallPutsIsThereAfterIt) {
  EXPECT_THAT(changes({{"a", {{{0, "p"}, "1", 5}, {{0, "q"}, "2", 0}}, {{0, "p"}, {0, "q"}}}}),
              ElementsAre("a: d:p=1@1 d:q=2@1 -d:p@0 -d:q@0"));
}

TEST_F(HBaseChanges, DeletesReachCellsOfClocksAhead) {
  EXPECT_THAT(changes({{"a", {}, {{0, "p"}}}}, kWriteTime + 30), ElementsAre("a: -d:p@30"));
}

}  // namespace
}  // namespace halite::storage
