// Traces in the terms of OpenTelemetry: one request as spans, of which the first contains the
// others.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halite {

using TraceId = std::array<std::uint8_t, 16>;
using SpanId = std::array<std::uint8_t, 8>;

struct SpanAttribute {
  std::string_view key;  // a literal
  std::variant<std::string, std::int64_t> value;
};

enum class SpanKind : std::uint8_t { kInternal = 1, kServer = 2 };  // OTLP's numbers

struct TraceSpan {
  SpanId id = {};
  SpanId parent = {};  // all 0: none
  std::string name;
  SpanKind kind = SpanKind::kInternal;
  std::int64_t begin_ns = 0;  // since 1970
  std::int64_t end_ns = 0;
  bool failed = false;
  std::vector<SpanAttribute> attributes = {};
};

struct Trace {
  TraceId id = {};
  std::uint8_t flags = 0;      // of traceparent
  bool remote_parent = false;  // the parent of the first span is the client's
  std::string state;           // of tracestate
  std::vector<TraceSpan> spans;
};

// Where finished traces go.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Does not wait. Call from any thread.
  virtual void add(Trace trace) = 0;
};

}  // namespace halite
