// JSON lines of VictoriaMetrics: {"metric":{"__name__":"m","k":"v"},"values":[1,..],
// "timestamps":[ms,..]}, a series a line. Private to ingest/formats.
//
// Values are numbers or "NaN", "Infinity", "-Infinity"; null is no point. A line is refused as a
// whole.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

// Points in a line that a writer writes.
inline constexpr std::size_t kVmJsonPointsMax = 10'000;

[[nodiscard]] std::unique_ptr<PointParser> make_vm_json_parser(const PointRules& rules);
[[nodiscard]] std::unique_ptr<PointWriter> make_vm_json_writer();

}  // namespace halite::ingest
