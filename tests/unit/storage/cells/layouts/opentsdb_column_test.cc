#include <random>

#include <gtest/gtest.h>

#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/unit/storage/cells/layouts/examples.h"

namespace halite::storage {
namespace {

Cell cell(std::string_view qualifier, std::string_view value, TimestampMs time = 1) {
  return {hex(qualifier), hex(value), time};
}

// "0:1 500:2f" = offset in ms, value, f for floats; or the error's message.
std::string decoded_points(const std::vector<Cell>& cells, TimeRange range = {0, kBase * 2}) {
  const auto layout = OpentsdbLayout::make({}).value();
  const RowId row = layout->parse_row(hex("00000150E22700000001000001")).value();
  RowPoints points;
  const auto result = layout->decode(row, as_refs(cells), range, points);
  if (!result) {
    EXPECT_EQ(result.error().code, Errc::kCorruption);
    return result.error().message;
  }
  std::string text;
  for (std::size_t i = 0; i < points.times.size(); ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(points.times[i] - kBase) + ':';
    if ((points.flags[i] & kFloat) != 0) {
      text += std::to_string(as_double(points.values[i])).substr(0, 3) + 'f';
    } else {
      text += std::to_string(as_integer(points.values[i]));
    }
  }
  return text;
}

TEST(OpentsdbColumns, SingleCells) {
  EXPECT_EQ(decoded_points({}), "");
  EXPECT_EQ(decoded_points({cell("0000", "01"), cell("01EB", "40900000"), cell("F0007D00", "02")}),
            "0:1 500:2 30000:4.5f");
}

TEST(OpentsdbColumns, CompactedAndMixed) {
  EXPECT_EQ(decoded_points({cell("00000010", "010200")}), "0:1 1000:2");
  EXPECT_EQ(decoded_points({cell("0000F0007D00", "010201")}), "0:1 500:2");
  EXPECT_EQ(decoded_points({cell("F0000000F0007D00", "010200")}), "0:1 500:2");
}

TEST(OpentsdbColumns, AnAppendColumnsLaterEntriesWin) {
  EXPECT_EQ(decoded_points({cell("050000", "000001001002")}), "0:1 1000:2");
  EXPECT_EQ(decoded_points({cell("050000", "001002000001001003")}), "0:1 1000:3");
  EXPECT_EQ(decoded_points({cell("050000", "")}), "");
}

TEST(OpentsdbColumns, AllFormsInOneRow) {
  EXPECT_EQ(decoded_points({cell("00000010", "010200"), cell("0020", "03"),
                            cell("050000", "003004"), cell("F0007D00", "05")}),
            "0:1 500:5 1000:2 2000:3 3000:4");
}

TEST(OpentsdbColumns, OfEqualTimesTheNewestCellWins) {
  EXPECT_EQ(decoded_points({cell("0010", "01", 20), cell("001B", "40900000", 10)}), "1000:1");
  EXPECT_EQ(decoded_points({cell("0010", "01", 10), cell("001B", "40900000", 20)}), "1000:4.5f");
  EXPECT_EQ(decoded_points({cell("0010", "01", 10), cell("F000FA00", "02", 10)}), "1000:2");
  EXPECT_EQ(decoded_points({cell("00000010", "010200", 30), cell("0010", "07", 20)}), "0:1 1000:2");
}

TEST(OpentsdbColumns, ObjectsAreNoPoints) {
  EXPECT_EQ(decoded_points({cell("", "01"), cell("010000", "7B7D"), cell("01000001F4", "7B7D"),
                            cell("060000", "2A00"), cell("070000", ""), cell("05", "FF"),
                            cell("050001", "00"), cell("0010", "01")}),
            "1000:1");
}

TEST(OpentsdbColumns, OnlyTheRangeIsTaken) {
  EXPECT_EQ(decoded_points({cell("000000100020", "01020300")}, {kBase + 1000, kBase + 2000}),
            "1000:2");
  EXPECT_EQ(decoded_points({cell("000000100020", "01020300")}, {kBase + 1000, kBase + 1000}), "");
}

TEST(OpentsdbColumns, DamageNamesTheRowAndTheCell) {
  EXPECT_EQ(decoded_points({cell("0000", "010203")}),
            "row 00000150E22700000001000001 qualifier 0000: the value does not match its "
            "qualifier: value 010203");
  const std::pair<std::string_view, std::string_view> damaged[] = {
      {"F000", "01"},            // half a millisecond qualifier
      {"E100", "01"},            // second 3600
      {"00000010", "0102"},      // no last byte
      {"00000010", "01020000"},  // too long
      {"00000010", "010202"},    // a last byte of the future
      {"00000010", "01"},        // cut short
      {"00000010", ""},          // empty
      {"0000F000", "010200"},    // the second qualifier is cut
      {"00000018", "010200"},    // a float of one byte
      {"050000", "0000"},        // an entry without a value
      {"050000", "00"},          // half a qualifier
      {"050000", "000301"},      // a value cut short
      {"050000", "0002010203"},  // three bytes
      {"001B", "0000000140900000"},
  };
  for (const auto& [qualifier, value] : damaged) {
    EXPECT_NE(decoded_points({cell(qualifier, value)}).find("row 00000150E22700000001000001"),
              std::string::npos)
        << qualifier << ' ' << value;
  }
}

TEST(OpentsdbColumns, CompactingAndReadingBack) {
  std::mt19937_64 random(3);
  const auto layout = OpentsdbLayout::make({}).value();
  const RowId row = layout->parse_row(hex("00000150E22700000001000001")).value();
  for (int round = 0; round < 500; ++round) {
    RowPoints points;
    TimestampMs time = kBase;
    for (std::size_t i = 1 + random() % 40; i > 0; --i) {
      const bool millis = random() % 2 == 0;
      time += millis ? 1 + static_cast<TimestampMs>(random() % 90'000)
                     : 1000 * (1 + static_cast<TimestampMs>(random() % 60));
      if (!millis) time -= time % 1000;
      if (time >= kBase + kRowMs) break;
      if (!points.times.empty() && time <= points.times.back()) continue;
      const bool whole = random() % 2 == 0;
      points.times.push_back(time);
      points.values.push_back(whole ? random() >> random() % 64
                                    : double_bits(static_cast<double>(random() % 900) / 8));
      points.flags.push_back(static_cast<std::uint8_t>(
          (whole ? 0 : kFloat | (random() % 2 == 0 ? kWide : 0)) | (millis ? kMillis : 0)));
    }
    const PointCell one = compacted_cell(kBase, points.times, points.values, points.flags);
    Bytes appended;
    for (std::size_t i = 0; i < points.times.size(); ++i) {
      append_entry(appended, kBase, points.times[i], points.values[i], points.flags[i]);
    }
    for (const Cell& cell :
         {Cell{one.qualifier, one.value, 1}, Cell{Bytes(kAppendQualifier), appended, 1}}) {
      RowPoints read;
      ASSERT_TRUE(layout->decode(row, as_refs({&cell, 1}), {0, kBase * 2}, read));
      EXPECT_EQ(read.times, points.times);
      EXPECT_EQ(read.values, points.values);
      EXPECT_EQ(read.flags, points.flags);
    }
  }
}

}  // namespace
}  // namespace halite::storage
