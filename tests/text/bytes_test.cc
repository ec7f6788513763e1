// Runs tests/text/bytes/*.bytes: what the storage schema writes and reads, in hex.
//
// A line that begins in the first column asks, the indented lines under it answer; '#' comments.
// HALITE_UPDATE=1 writes the answers that the code gives: read that diff like code.
//
//   layout opentsdb [uids M,K,V] [salt WIDTH/BUCKETS]
//   layout cyclic [uids M,K,V] [salt BUCKETS] [span D] [slots N] [ttl D] [future D] [forecast D]
//          [cleaning D]
//   now TIME                          the clock of what follows; seconds below 2^32, else ms
//   parameters                        what the table would remember
//   tsuid METRIC KEY=VALUE...         ids as numbers
//   salt TSUID
//   put TSUID POINT                   row and cell of TIME=VALUE: 300, 4.5, 4.5w (8 bytes),
//                                     bits:7FF8000000000001 (a double's)
//   compact TSUID POINT...            row and compacted column (opentsdb)
//   append TSUID POINT...             row and append column (opentsdb)
//   row ROW                           salt, bucket and tsuid
//   read ROW CELL... [in FROM..TO]    the points in QUALIFIER=VALUE[@CELLTIME] cells
//   metric UID SALT FROM..TO          the scans for a range; series TSUID FROM..TO
//   admit TIME
//   annotation TSUID|global START     row and qualifier (opentsdb)
//   histogram TIME                    qualifier; unhistogram CELL reads one
//   rollup INTERVAL/SPAN ID TSUID POINT      row and cell; SPAN is 1h, 2h.., 1d, 1n or 1y
//   unrollup INTERVAL/SPAN BASE CELL         what it says
//   name FORM NAME                    its bytes and those of an earlier version; FORM is utf8,
//                                     opentsdb or mixed, x:HEX stands for a name, too
//   unname FORM HEX                   the name of such bytes
//   prefix FORM PREFIX                where the names are that begin so
//   rocks ROW QUALIFIER TIME VALUE    a cell's key and value in RocksDB; unrocks KEY VALUE reads
//                                     them; '-' is empty
//   log segment SALT NUMBER AFTER     begins a segment of the log; its header
//   log group SYNCED FIRST PAYLOAD... adds a group to it; without the zeros at its end
//   log stale NUMBER SYNCED FIRST PAYLOAD...   the same, sealed for another segment
//   log damage OFFSET                 flips a bit of it
//   log read                          what a reader finds in it
//   log name KIND UID NAME            a section of a payload, and how it reads; likewise
//       series ID SHARD TSUID, points SHARD ID@POINT...
//   log sections PAYLOAD              what any payload says
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/text/answers_file.h"
#include "tests/text/bytes_questions.h"

namespace halite::storage {
namespace {

bool is_question(std::string_view line) {
  return !line.empty() && line.front() != ' ' && line.front() != '#';
}

// The file as it should be: its questions and comments with the answers that the code gives.
std::vector<std::string> answered(const std::vector<std::string>& lines) {
  bytes_text::Questions questions;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (!is_question(line)) continue;
    for (const std::string& answer : questions.answer(line)) out.push_back("  " + answer);
  }
  return out;
}

class BytesFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BytesFile, SaysWhatTheCodeDoes) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(Bytes, BytesFile, testing::ValuesIn(answers_files("bytes", ".bytes")),
                         [](const auto& test) {
                           std::string name = test.param.stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace halite::storage
