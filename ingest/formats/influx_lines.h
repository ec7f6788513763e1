// InfluxDB's line protocol: "measurement,tag=v field=1.5,other=2i 1700000000000000000".
// Private to ingest/formats.
//
// Each numeric field is a point of a series of its own. A line ends at its line feed, inside of
// strings too.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

[[nodiscard]] std::unique_ptr<PointParser> make_influx_parser(const FormatOptions& options,
                                                              const PointRules& rules);
// Writes metric as measurement, with FormatOptions::influx_value_field as the field.
[[nodiscard]] std::unique_ptr<PointWriter> make_influx_writer(const FormatOptions& options);

}  // namespace halite::ingest
