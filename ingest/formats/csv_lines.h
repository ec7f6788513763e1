// CSV: a header line "metric,time,value,<tag key>,..", then a line a point; quotes as in RFC 4180.
// Private to ingest/formats.
//
// The columns may have any order. Each may occur once more as a tag key: the first "value" is the
// value, the second a tag "value". An empty field is no tag. A further header line changes the
// columns; a writer writes one when a series has other tag keys. A field ends on its line.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<PointParser> make_csv_parser(const FormatOptions& options,
                                                           const PointRules& rules);
// As header_behind().
[[nodiscard]] std::string csv_header_behind(const FormatOptions& options, std::string_view header,
                                            std::string_view lines);
// With FormatOptions::csv_columns the first header names these; they begin with metric,time,value.
[[nodiscard]] std::unique_ptr<PointWriter> make_csv_writer(const FormatOptions& options);

}  // namespace halite::ingest
