// Prometheus' text formats, which have one shape: name{label="value"} value time. Private to
// ingest/formats.
//
//   prometheus   times in milliseconds, may be missing; '#' begins a comment
//   openmetrics  times in seconds; ends with "# EOF"; no blank lines; exemplars are skipped
//   promdump     {__name__="name", ..} value time in milliseconds; histograms are skipped
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

// `format` is one of the three.
[[nodiscard]] std::unique_ptr<PointParser> make_exposition_parser(Format format,
                                                                  const FormatOptions& options,
                                                                  const PointRules& rules);
[[nodiscard]] std::unique_ptr<PointWriter> make_exposition_writer(Format format);

}  // namespace halite::ingest
