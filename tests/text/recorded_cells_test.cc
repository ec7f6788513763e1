// Holds the schema against tables that OpenTSDB 2.4.1 wrote: tests/text/bytes/recorded/*.cells.
//
//   layout opentsdb ...               as in .bytes files
//   put TSUID POINT                   what was sent, in order: names already replaced by their ids,
//                                     'w' where HTTP sent a float
//   annotation, histogram, rollup     likewise
//   cell ROW QUALIFIER=VALUE          what the table held afterwards
//
// These files are recordings: HALITE_UPDATE does not touch them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/cells/layouts/column.h"
#include "tests/text/bytes_questions.h"

namespace halite::storage {
namespace {

namespace fs = std::filesystem;
using bytes_text::Layouts;
using bytes_text::Lines;

using OneCell = std::tuple<Bytes, Bytes, Bytes>;  // row, qualifier, value
using Values = std::map<Bytes, std::map<TimestampMs, std::pair<ValueBits, bool>>>;  // by tsuid

struct Recording {
  Layouts layouts;
  std::set<OneCell> points_sent;  // each alone, as a cell
  Values last_sent;
  std::set<std::pair<Bytes, Bytes>> objects;  // annotations, histograms: row and qualifier
  std::set<OneCell> rollups;
  std::map<Bytes, std::vector<Cell>> rows;
};

// "row 00.11" and "cell 22 = 33" or "qualifier 22" → the bytes.
OneCell parse_answer(const Lines& answer) {
  const std::vector<std::string> row = bytes_text::words_of(answer.at(0));
  const std::vector<std::string> cell = bytes_text::words_of(answer.at(1));
  return {bytes_text::hex(row.at(1)), bytes_text::hex(cell.at(1)),
          cell.size() > 3 ? bytes_text::hex(cell.at(3)) : Bytes()};
}

void take(Recording& recording, bytes_text::Questions& questions, const std::string& line) {
  const std::vector<std::string> words = bytes_text::words_of(line);
  if (words[0] == "layout") {
    ASSERT_TRUE(questions.answer(line).empty());
    recording.layouts = *bytes_text::make_layouts(std::span(words).subspan(1));
  } else if (words[0] == "put") {
    recording.points_sent.insert(parse_answer(questions.answer(line)));
    const bytes_text::Point point = bytes_text::point(words[2]);
    recording.last_sent[bytes_text::hex(words[1])][point.time] = {point.value,
                                                                  (point.flags & kFloat) != 0};
  } else if (words[0] == "annotation") {
    const OneCell at = parse_answer(questions.answer(line));
    recording.objects.emplace(std::get<0>(at), std::get<1>(at));
  } else if (words[0] == "histogram") {
    const Bytes row =
        recording.layouts.any()->row_key(bytes_text::hex(words[1]), bytes_text::time_ms(words[2]));
    recording.objects.emplace(row,
                              bytes_text::hex(questions.answer("histogram " + words[2]).at(0)));
  } else if (words[0] == "rollup") {
    recording.rollups.insert(parse_answer(questions.answer(line)));
  } else if (words[0] == "cell") {
    recording.rows[bytes_text::hex(words[1])].push_back(bytes_text::cell(words[2]));
  } else {
    FAIL() << line;
  }
}

// Takes one cell apart and puts it together again.
void check_cell(const Recording& recording, const Bytes& row, const Cell& cell) {
  const OpentsdbLayout& layout = *recording.layouts.opentsdb;
  const TimestampMs base = layout.parse_row(row)->bucket * 1000;
  auto reader = ColumnReader::open(cell.qualifier, cell.value);
  ASSERT_TRUE(reader) << to_hex(cell.qualifier) << " is explained by nothing that was sent";
  RowPoints points;
  PointCell again{Bytes(kAppendQualifier), {}};
  ColumnPoint point;
  while (reader->next(point) == ColumnReader::Step::kPoint) {
    const TimestampMs time = base + point.qualifier.offset_ms;
    const std::uint8_t flags = point_flags(point);
    const PointCell alone = layout.point_cell(time, point.value.bits, flags);
    if (!recording.points_sent.empty()) {
      EXPECT_TRUE(recording.points_sent.contains({row, alone.qualifier, alone.value}))
          << to_hex(alone.qualifier) << " = " << to_hex(alone.value) << " was never sent";
    }
    append_entry(again.value, base, time, point.value.bits, flags);
    points.times.push_back(time);
    points.values.push_back(point.value.bits);
    points.flags.push_back(flags);
  }
  EXPECT_EQ(reader->problem(), nullptr);
  if (reader->form() != ColumnReader::Form::kAppend) {
    again = compacted_cell(base, points.times, points.values, points.flags);
  }
  EXPECT_EQ(to_hex(again.qualifier), to_hex(cell.qualifier));
  EXPECT_EQ(to_hex(again.value), to_hex(cell.value));
}

class RecordedCells : public testing::TestWithParam<fs::path> {};

TEST_P(RecordedCells, AreWhatWeWriteAndRead) {
  Recording recording;
  bytes_text::Questions questions;
  std::ifstream in(GetParam());
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.front() != '#') take(recording, questions, line);
  }
  const OpentsdbLayout& layout = *recording.layouts.opentsdb;

  std::size_t objects = 0;
  std::size_t rollups = 0;
  Values read;
  for (const auto& [row, cells] : recording.rows) {
    const auto id = layout.parse_row(row);
    ASSERT_TRUE(id) << id.error().message;
    EXPECT_EQ(to_hex(layout.key_of(*id)), to_hex(row));
    EXPECT_EQ(id->salt, layout.salt_of(id->tsuid));
    for (const Cell& cell : cells) {
      if (recording.objects.contains({row, cell.qualifier})) {
        ++objects;
      } else if (recording.rollups.contains({row, cell.qualifier, cell.value})) {
        ++rollups;
      } else {
        check_cell(recording, row, cell);
      }
    }
    if (!recording.rollups.empty()) continue;  // no points in these rows
    RowPoints points;
    const auto decoded = layout.decode(*id, as_refs(cells), {0, TimestampMs{1} << 60}, points);
    ASSERT_TRUE(decoded) << decoded.error().message;
    for (std::size_t i = 0; i < points.times.size(); ++i) {
      read[id->tsuid][points.times[i]] = {points.values[i], (points.flags[i] & kFloat) != 0};
    }
  }
  EXPECT_EQ(objects, recording.objects.size());
  EXPECT_EQ(rollups, recording.rollups.size());
  if (!recording.points_sent.empty()) EXPECT_EQ(read, recording.last_sent);
}

std::vector<fs::path> files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(HALITE_SOURCE_DIR "/tests/text/bytes/recorded")) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Bytes, RecordedCells, testing::ValuesIn(files()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace halite::storage
