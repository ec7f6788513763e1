// Traces as a body of OTLP over HTTP in protobuf: ExportTraceServiceRequest. Its answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/tracing/trace.h"

namespace halite::app {

// The server that sends the traces, as attributes of the resource.
struct TraceOrigin {
  std::string service;   // service.name
  std::string version;   // service.version
  std::string instance;  // service.instance.id
  std::string host;      // host.name
};

[[nodiscard]] std::string otlp_traces(const TraceOrigin& origin, std::span<const Trace> traces);

struct PartialSuccess {
  std::int64_t rejected = 0;  // spans
  std::string message;        // may also be a warning about none
};

// Of the body of an answer with status 200; nothing was rejected if it is no valid answer.
[[nodiscard]] PartialSuccess read_partial_success(std::string_view body);

}  // namespace halite::app
