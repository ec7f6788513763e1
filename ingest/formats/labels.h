// Labels of Prometheus' text formats: a="b",c="d", also with quoted names. Private to
// ingest/formats and ingest/remote_write.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/data_point.h"
#include "ingest/options.h"
#include "ingest/rules/refusal.h"

namespace halite::ingest {

// How strings are escaped: as the exposition formats do it, or as Go does.
enum class Escapes : std::uint8_t { kExposition, kGo };

// The series of a name and what is between the braces. The name may be empty and among the labels,
// as {"metric",..} or as __name__="metric". Names without quotes may have any bytes but blanks,
// quotes, braces, commas and '='.
[[nodiscard]] std::expected<SeriesName, Refused> parse_labels(std::string_view name,
                                                              std::string_view labels,
                                                              Escapes escapes,
                                                              const IngestLimits& limits);

// The position behind the '}' that ends the labels, whose '{' is before `labels`; npos: no end.
[[nodiscard]] std::size_t labels_end(std::string_view labels);

// name{a="b"}, or {"na.me","l.x"="b"} where a name has other characters than letters, digits, '_'
// and, in the metric, ':'.
void append_exposition_series(std::string& to, const SeriesName& name);

// {__name__="name", a="b"}, in byte order, as Go quotes.
void append_go_series(std::string& to, const SeriesName& name);

}  // namespace halite::ingest
