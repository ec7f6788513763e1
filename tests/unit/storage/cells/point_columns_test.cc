// Points that share a column of OpenTSDB's rows: when they do, and which of two values wins.
#include <map>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/unit/storage/cells/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr TimestampMs kLastHour = kHourBegin - 3'600'000;

class PointColumnsTest : public CellPointStoreTest {
 protected:
  void open_with(ColumnForm form, std::size_t points_max = 3600) {
    CellPointStoreOptions options;
    options.columns = {.form = form, .points_max = points_max};
    // The clock of the fixture is the real one; these points are years old for it.
    open(options);
    id_ = intern("a");
  }
  void append(PointBatch batch) {
    const Accepted accepted = run_task(points_->append(std::move(batch))).value();
    const Result<void> durable = run_task(accepted.durable.wait());
    ASSERT_TRUE(durable) << durable.error().message;
  }
  PointBatch seconds(TimestampMs begin, int count) const {
    PointBatch batch;
    for (int i = 0; i < count; ++i) batch.add(id_, begin + 1000 * i, integer_bits(i), 0);
    return batch;
  }
  // The qualifiers of all rows, in order.
  std::vector<std::string> qualifiers() {
    std::vector<std::string> found;
    const auto scanner = data_table()->scan({}, {});
    for (const Row& row : run_task(scanner->next({})).value()) {
      for (const Cell& cell : row.cells) found.push_back(to_hex(cell.qualifier));
    }
    return found;
  }

  SeriesId id_ = 0;
};

TEST_F(PointColumnsTest, ABatchOfAnHourThatIsOverIsOneColumn) {
  open_with(ColumnForm::kBackfill);
  PointBatch batch = seconds(kLastHour, 2);
  batch.add(id_, kLastHour + 1500, double_bits(1.5), kFloat | kMillis);
  batch.add(id_, kHourBegin, integer_bits(7), 0);  // alone in its row: an ordinary cell
  append(std::move(batch));
  EXPECT_THAT(qualifiers(), ElementsAre("00000010F001770B", "0000"));
  const auto scanner = data_table()->scan({}, {});
  const auto rows = run_task(scanner->next({})).value();
  EXPECT_EQ(to_hex(rows[0].cells[0].value), "00013FC0000001");  // seconds and milliseconds mixed
  EXPECT_THAT(read(), SizeIs(4));
}

TEST_F(PointColumnsTest, AnHourThatIsNotOverHasACellAPoint) {
  FakeClock clock(kHourBegin + 1'800'000);
  MemoryStore cells(clock);
  const std::shared_ptr<const OpentsdbLayout> layout = OpentsdbLayout::make(unsalted()).value();
  CellPointStoreOptions options;
  options.columns.form = ColumnForm::kBackfill;
  const auto points = run_task(CellPointStore::open({cells, layout, layout->parameters(), clock,
                                                     background_.get_executor(), metrics_},
                                                    options))
                          .value();
  const SeriesId id = intern(*points, "a");
  const auto cells_in_row = [&] {
    TableSpec spec = data_table_spec(options);
    const auto scanner = run_task(cells.open_table(spec)).value()->scan({}, {});
    return run_task(scanner->next({})).value().front().cells.size();
  };
  for (const std::size_t expected : {3u, 3u + 1u}) {
    PointBatch batch;
    for (int i = 0; i < 3; ++i) batch.add(id, kHourBegin + 1000 * i, integer_bits(i), 0);
    ASSERT_TRUE(run_task(run_task(points->append(batch)).value().durable.wait()));
    EXPECT_EQ(cells_in_row(), expected);
    clock.set(kHourBegin + 3'600'000);  // its last moment is over
  }
  ASSERT_TRUE(run_task(points->close()));
}

TEST_F(PointColumnsTest, APointWrittenAgainWinsOverTheColumnItIsIn) {
  open_with(ColumnForm::kBackfill);
  append(seconds(kLastHour, 100));
  std::map<TimestampMs, double> expected = read();
  for (int round = 0; round < 30; ++round) {
    // Alone, narrow and wide; then with its neighbours, as another column over the first.
    const TimestampMs time = kLastHour + 1000 * (round % 7);
    append(one(id_, time, 1000 * (round % 2) + round));
    expected[time] = 1000 * (round % 2) + round;
    ASSERT_EQ(read(), expected) << round;
    PointBatch batch;
    for (int i = 3; i < 9; ++i) {
      batch.add(id_, kLastHour + 1000 * i, integer_bits(round * i), 0);
      expected[kLastHour + 1000 * i] = round * i;
    }
    append(std::move(batch));
    ASSERT_EQ(read(), expected) << round;
  }
}

TEST_F(PointColumnsTest, ALongRowIsSeveralColumns) {
  open_with(ColumnForm::kBackfill, 10);
  append(seconds(kLastHour, 21));
  EXPECT_THAT(qualifiers(), ElementsAre(SizeIs(40), SizeIs(40), SizeIs(4)));
  EXPECT_THAT(read(), SizeIs(21));
}

TEST_F(PointColumnsTest, AppendedPointsWinInTheOrderOfArrival) {
  open_with(ColumnForm::kAppend);
  append(seconds(kLastHour, 3));
  append(one(id_, kLastHour + 1000, 300));
  append(one(id_, kLastHour + 500, 5));
  EXPECT_THAT(qualifiers(), ElementsAre("050000"));
  EXPECT_EQ(
      read(),
      (std::map<TimestampMs, double>{
          {kLastHour, 0}, {kLastHour + 500, 5}, {kLastHour + 1000, 300}, {kLastHour + 2000, 2}}));
}

TEST_F(PointColumnsTest, WhatIsDeletedOfAColumnMayBeWrittenAgain) {
  for (const ColumnForm form : {ColumnForm::kBackfill, ColumnForm::kAppend}) {
    if (points_ != nullptr) ASSERT_TRUE(run_task(points_->close()));
    open_with(form);
    append(seconds(kLastHour, 5));
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points_->select(query, {})).value();
    EXPECT_EQ(run_task(points_->delete_range(selection, {kLastHour + 1000, kLastHour + 4000})), 3u);
    append(one(id_, kLastHour + 2000, 9));
    EXPECT_EQ(read(), (std::map<TimestampMs, double>{
                          {kLastHour, 0}, {kLastHour + 2000, 9}, {kLastHour + 4000, 4}}));
  }
}

// Also of another daemon, after the column was read.
TEST_F(PointColumnsTest, WhatComesWhileAColumnIsDeletedStays) {
  for (const bool whole : {false, true}) {
    if (points_ != nullptr) ASSERT_TRUE(run_task(points_->close()));
    open_with(ColumnForm::kAppend);
    append(seconds(kLastHour, 5));
    const Bytes row = run_task(data_table()->scan({}, {})->next({})).value().front().key;
    CellAppend more{row, {0, Bytes(kAppendQualifier)}, {}};
    append_entry(more.value, kLastHour, kLastHour + 9000, integer_bits(9), 0);
    append_entry(more.value, kLastHour, kLastHour + 2000, integer_bits(8), 0);  // in the range
    unruly_.meanwhile = [table = data_table(), more] {
      return table->append(std::vector<CellAppend>(1, more));
    };
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points_->select(query, {})).value();
    const TimeRange range{whole ? kLastHour : kLastHour + 1000, kLastHour + 5000};
    EXPECT_EQ(run_task(points_->delete_range(selection, range)), whole ? 5u : 4u);
    std::map<TimestampMs, double> left = {{kLastHour, 0}, {kLastHour + 9000, 9}};
    if (whole) left.erase(kLastHour);
    EXPECT_EQ(read(), left);
    EXPECT_THAT(qualifiers(), ElementsAre("050000"));
    EXPECT_EQ(run_task(points_->delete_range(selection, {kLastHour, kLastHour + 10'000})),
              left.size());
    EXPECT_THAT(qualifiers(), testing::IsEmpty());
  }
}

TEST_F(PointColumnsTest, OtherRowsHaveACellAPoint) {
  const std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make({}).value();
  CellPointStoreOptions options;
  options.columns.form = ColumnForm::kAppend;
  points_ = run_task(CellPointStore::open({unruly_store_, layout, layout->parameters(), clock_,
                                           background_.get_executor(), metrics_},
                                          options))
                .value();
  id_ = intern("a");
  append(seconds(kLastHour, 5));
  EXPECT_THAT(qualifiers(), SizeIs(5));
}

TEST_F(PointColumnsTest, PointsThatComeTooLateAreRefused) {
  CellPointStoreOptions options;
  options.append.late_max_ms = 60'000;
  open(options);
  const TimestampMs now = clock_.now_ms();
  PointBatch batch;
  batch.add(intern("a"), now - 120'000, integer_bits(1), 0);
  batch.add(intern("a"), now, integer_bits(1), 0);
  const Accepted accepted = run_task(points_->append(std::move(batch))).value();
  ASSERT_THAT(accepted.refused, SizeIs(1));
  EXPECT_THAT(accepted.refused[0].error.message, testing::HasSubstr("hbase.late_max_ms"));
}

}  // namespace
}  // namespace halite::storage
