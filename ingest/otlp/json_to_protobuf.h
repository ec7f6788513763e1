// OTLP's JSON as the protobuf that says the same, so that one reader serves both. Private to
// ingest/otlp.
//
//   Names      lowerCamelCase, and those of the .proto files (time_unix_nano).
//   Integers   as numbers or strings. Doubles too, and "NaN", "Infinity", "-Infinity".
//   Enums      as numbers, or by their names.
//   null       counts as absent.
//   Unknown    fields are checked to be JSON, and skipped. So are those that Halite does not use;
//              exemplars and points of exponential histograms remain as empty messages.
#pragma once

#include <string_view>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "ingest/options.h"

namespace halite::ingest {

// An error: the body is not JSON, or not that of an ExportMetricsServiceRequest.
[[nodiscard]] Result<Bytes> otlp_json_to_protobuf(std::string_view body,
                                                  const IngestLimits& limits);

}  // namespace halite::ingest
