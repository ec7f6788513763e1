// JSON lines of VictoriaMetrics: {"metric":{"__name__":"m","k":"v"},"values":[1,..],
// "timestamps":[ms,..]}, a series a line. Private to ingest/formats.
//
// Values are numbers or "NaN", "Infinity", "-Infinity"; null is no point. A line is refused as a
// whole.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<PointParser> make_vm_json_parser(const PointRules& rules);
[[nodiscard]] std::unique_ptr<PointWriter> make_vm_json_writer(const FormatOptions& options);

}  // namespace halite::ingest
