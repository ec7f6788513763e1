// The headers traceparent and tracestate: what is read reads again from its own text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/check.h"
#include "common/tracing/trace_context.h"

namespace halite {
namespace {

void read_parent(std::string_view header) {
  const auto context = parse_traceparent(header);
  if (!context) return;
  HALITE_CHECK(context->trace_id != TraceId{} && context->span_id != SpanId{}, "ids are not 0");
  const auto again = parse_traceparent(fmt::format("00-{}-{}-{:02x}", id_text(context->trace_id),
                                                   id_text(context->span_id), context->flags));
  HALITE_CHECK(again && again->trace_id == context->trace_id &&
                   again->span_id == context->span_id && again->flags == context->flags,
               "it reads again");
}

void read_state(std::string_view header) {
  if (!is_tracestate(header)) return;
  HALITE_CHECK(header.size() <= kTracestateBytesMax && header.contains('='), "it has a member");
  const std::string twice = fmt::format("{},{}", header, header);
  HALITE_CHECK(!is_tracestate(twice), "keys are different");
}

}  // namespace
}  // namespace halite

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  halite::read_parent(text);
  halite::read_state(text);
  return 0;
}
