// What reads rows of ordinary cells says the same as what reads any row.
#include "storage/cells/layouts/plain_cells.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

constexpr TimeRange kHour{kBase, kBase + kRowMs};

std::string text_of(const RowPoints& points) {
  std::string text;
  for (std::size_t i = 0; i < points.times.size(); ++i) {
    text += std::to_string(points.times[i] - kBase) + ':' + std::to_string(points.values[i]) + '/' +
            std::to_string(points.flags[i]) + ' ';
  }
  return text;
}

class PlainCells : public testing::Test {
 protected:
  // A cell without points, at the end, makes the layout go the long way.
  std::string decoded(std::vector<Cell> cells, TimeRange range) const {
    cells.push_back({Bytes("\xFF\0\0", 3), {}, 1});
    RowPoints points = before();
    const auto outcome = layout_->decode(row_, as_refs(cells), range, points);
    return outcome ? text_of(points) : "damaged";
  }

  // What was there stays.
  static RowPoints before() { return {.times = {kBase - 1}, .values = {7}, .flags = {kWide}}; }

  std::unique_ptr<OpentsdbLayout> layout_ = OpentsdbLayout::make({}).value();
  RowId row_{.salt = 0, .tsuid = Bytes("\0\0\1\0\0\1\0\0\1", 9), .bucket = kBase / 1000};
};

// What a row may hold: points in either resolution, with and without gaps and doubles, and some
// that are anything else.
Cell random_cell(std::mt19937_64& random, const OpentsdbLayout& layout) {
  const bool millis = random() % 4 == 0;
  const auto offset = static_cast<TimestampMs>(random() % kRowMs);
  const TimestampMs time = kBase + (millis ? offset : offset / 1000 * 1000);
  std::uint8_t flags = millis ? kMillis : 0;
  ValueBits value = random() >> random() % 64;
  if (random() % 2 == 0) {
    flags |= random() % 2 == 0 ? kFloat : kFloat | kWide;
    if (random() % 2 == 0) value = double_bits(static_cast<double>(random() % 900) / 8);
  }
  const PointCell made = layout.point_cell(time, value, flags);
  return {made.qualifier, made.value, static_cast<TimestampMs>(random() % 3)};
}

Cell odd_cell(std::mt19937_64& random, const OpentsdbLayout& layout) {
  Cell cell = random_cell(random, layout);
  switch (random() % 6) {
    case 0: {
      const std::vector<TimestampMs> times = {kBase + 5'000, kBase + 6'000};
      const PointCell made = compacted_cell(kBase, times, std::vector<ValueBits>{1, 2},
                                            std::vector<std::uint8_t>{0, 0});
      return {made.qualifier, made.value, 2};
    }
    case 1: {
      Bytes entries;
      append_entry(entries, kBase, kBase + 9'000, 3, 0);
      return {Bytes(kAppendQualifier), entries, 2};
    }
    case 2:
      cell.qualifier.push_back('\0');
      return cell;
    case 3:
      cell.value.push_back('\0');
      return cell;
    case 4:
      cell.qualifier.front() = static_cast<char>(random());
      return cell;
    default:
      cell.value.resize(random() % 10, '\1');
      return cell;
  }
}

TEST_F(PlainCells, BothWaysSayTheSame) {
  std::mt19937_64 random(11);
  int short_ways = 0;
  int long_ways = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool odd = round % 3 == 0;
    std::map<Bytes, Cell> row;
    for (std::size_t i = random() % 20; i > 0; --i) {
      Cell cell = random_cell(random, *layout_);
      if (odd && random() % 8 == 0) cell = odd_cell(random, *layout_);
      row.insert_or_assign(cell.qualifier, cell);
    }
    std::vector<Cell> cells;
    for (const auto& [qualifier, cell] : row) cells.push_back(cell);
    TimeRange range = kHour;
    if (random() % 2 == 0) range.begin += static_cast<TimestampMs>(random() % kRowMs);
    if (random() % 2 == 0) range.end -= static_cast<TimestampMs>(random() % kRowMs);
    const std::string expected = decoded(cells, range);
    RowPoints points = before();
    const bool read = read_plain_cells(kBase, as_refs(cells), range, points);
    ASSERT_EQ(text_of(points), read ? expected : text_of(before())) << round;
    ++(read ? short_ways : long_ways);
  }
  EXPECT_GT(short_ways, 500);
  EXPECT_GT(long_ways, 500);
}

TEST_F(PlainCells, AreReadWithoutAnyOtherWay) {
  std::vector<Cell> cells;
  for (int second = 0; second < 3600; second += 7) {
    const PointCell made = layout_->point_cell(kBase + second * 1000, integer_bits(-second), 0);
    cells.push_back({made.qualifier, made.value, 1});
  }
  RowPoints points;
  ASSERT_TRUE(read_plain_cells(kBase, as_refs(cells), kHour, points));
  ASSERT_EQ(points.times.size(), cells.size());
  EXPECT_EQ(points.times[100], kBase + 700'000);
  EXPECT_EQ(as_integer(points.values[100]), -700);
  EXPECT_TRUE(read_plain_cells(kBase, {}, kHour, points));
}

}  // namespace
}  // namespace halite::storage
