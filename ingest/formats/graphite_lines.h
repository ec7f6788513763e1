// Graphite's plain text: "path value time", times in seconds. Private to ingest/formats.
//
// The time -1 or N is FormatOptions::default_time. NaN is refused. All values are doubles.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<PointParser> make_graphite_parser(const FormatOptions& options,
                                                                const PointRules& rules);
[[nodiscard]] std::unique_ptr<PointWriter> make_graphite_writer();

}  // namespace halite::ingest
