// Bodies of OTLP's ExportMetricsServiceRequest, in protobuf or JSON. docs/data-model.md has the
// mapping of their metrics to series.
//
//   Parts     the data points, in the order of the body.
//   Memory    protobuf is read where it lies. Of JSON there is a copy, an index of up to 4 bytes a
//             byte while it is read, and its protobuf, of up to 5 bytes a byte.
//   Lifetime  the body's bytes outlive the object.
//   Threads   one at a time; series_name() from any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/formats/point_receiver.h"
#include "ingest/options.h"

namespace halite::ingest {

enum class OtlpEncoding : std::uint8_t { kProtobuf, kJson };

struct OtlpOptions {
  IngestLimits limits;
  // Keys of attributes of resources that become tags, besides those that make `job` and `instance`.
  std::vector<std::string> resource_attributes = {};
};

// `body` is not compressed.
[[nodiscard]] std::unique_ptr<PointBody> make_otlp_body(OtlpEncoding encoding,
                                                        std::string_view body, OtlpOptions options);

}  // namespace halite::ingest
