// One telnet line: put <metric> <timestamp> <value> <tagk=tagv> [<tagk=tagv> ...]
// Increments of counters have the same form and begin with "incr".
//
// A single blank separates words. Two blanks make an empty word, which only the tags may contain. A
// line that is not UTF-8 is read as ISO-8859-1 (docs/differences.md). Messages are UTF-8.
//
// split_put_line() handles common lines and does not parse tags; parse_put_line() handles all
// lines. If the former accepts a line, the latter finds an equal time and value. Its series or
// refusal depends only on the pieces `metric` and `tags`.
#pragma once

#include <expected>
#include <string_view>

#include "ingest/rules/point_rules.h"
#include "ingest/telnet/line_words.h"

namespace halite::ingest {

// Pieces of a line. They point into it.
struct PutPieces {
  std::string_view metric;
  std::string_view tags;  // everything after the value and its blank
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

// `line` has no line feed, but may end in '\r'. It is the command, or begins with it and a blank.
[[nodiscard]] bool split_put_line(std::string_view line, PutPieces& pieces,
                                  std::string_view command = kPutCommand);

[[nodiscard]] std::expected<NamedPoint, Refused> parse_put_line(
    std::string_view line, const PointRules& rules, std::string_view command = kPutCommand);

// The same two for the words behind a command and its blank.
[[nodiscard]] bool split_point_words(std::string_view words, PutPieces& pieces);
[[nodiscard]] std::expected<NamedPoint, Refused> parse_point_words(std::string_view words,
                                                                   const PointRules& rules);

// The series of two pieces from split_put_line().
[[nodiscard]] std::expected<SeriesName, Refused> parse_put_series(std::string_view metric,
                                                                  std::string_view tags,
                                                                  const PointRules& rules);

}  // namespace halite::ingest
