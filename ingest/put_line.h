// One telnet line: put <metric> <timestamp> <value> <tagk=tagv> [<tagk=tagv> ...]
//
// Words are parted by single blanks: two of them make an empty word, which only the tag part
// ignores. Bytes are UTF-8 where the whole line is, else ISO-8859-1 (docs/differences.md); what is
// said about them is UTF-8.
//
// split_put_line() is the usual case, without a look at the tags; parse_put_line() is every case.
// Where the former takes a line, the latter finds the same time and value, and a series or a
// complaint that depends on nothing but the two pieces `metric` and `tags`.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "ingest/point_rules.h"

namespace halite::ingest {

// Pieces of a line, pointing into it.
struct PutPieces {
  std::string_view metric;
  std::string_view tags;  // all behind the value and its blank
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

// `line` is without its end; a '\r' before that may still be there.
[[nodiscard]] bool split_put_line(std::string_view line, PutPieces& pieces);

[[nodiscard]] std::expected<NamedPoint, Refused> parse_put_line(std::string_view line,
                                                                const PointRules& rules);

// The series behind two pieces of a line that split_put_line() took.
[[nodiscard]] std::expected<SeriesName, Refused> parse_put_series(std::string_view metric,
                                                                  std::string_view tags,
                                                                  const PointRules& rules);

}  // namespace halite::ingest
