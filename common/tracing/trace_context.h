// The headers traceparent and tracestate: https://www.w3.org/TR/trace-context/
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/tracing/trace.h"

namespace halite {

// The trace in which a client makes a request.
struct TraceContext {
  static constexpr std::uint8_t kSampled = 0x01;
  static constexpr std::uint8_t kRandom = 0x02;  // the trace id is random

  TraceId trace_id = {};
  SpanId span_id = {};  // of the client
  std::uint8_t flags = 0;

  [[nodiscard]] bool sampled() const { return (flags & kSampled) != 0; }
};

// Nothing if it is not valid. Of later versions only what they share with version 00 is read.
[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view header);

// An id as it is written: in small letters.
[[nodiscard]] std::string id_text(std::span<const std::uint8_t> id);

inline constexpr std::size_t kTracestateBytesMax = 512;
inline constexpr std::size_t kTracestateMembersMax = 32;

// Whether it may be passed on: a list of different keys with values, within the limits above.
[[nodiscard]] bool is_tracestate(std::string_view header);

}  // namespace halite
