#include "app/tracing/otlp_trace.h"

#include <utility>
#include <variant>

#include "common/bytes/proto_reader.h"
#include "common/bytes/varint.h"

namespace halite::app {
namespace {

// The names of attributes are those of this version.
constexpr std::string_view kSchemaUrl = "https://opentelemetry.io/schemas/1.34.0";

constexpr std::uint64_t kIsRemoteKnown = 0x100;  // in Span.flags, above those of traceparent
constexpr std::uint64_t kIsRemote = 0x200;
constexpr std::uint64_t kStatusError = 2;  // Status.StatusCode

// The fields of a message in protobuf.
class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    key(field, 0);
    append_varint(bytes_, value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    key(field, 1);
    append_little_endian(value);
  }
  void fixed32(std::uint32_t field, std::uint32_t value) {
    key(field, 5);
    append_little_endian(value);
  }
  void text(std::uint32_t field, std::string_view value) {
    key(field, 2);
    append_varint(bytes_, value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  void key(std::uint32_t field, std::uint32_t wire_type) {
    append_varint(bytes_, field << 3 | wire_type);
  }
  template <class Number>
  void append_little_endian(Number value) {
    for (std::size_t i = 0; i < sizeof(value); ++i) bytes_ += static_cast<char>(value >> 8 * i);
  }

  std::string bytes_;
};

std::string_view bytes_of(const auto& id) {
  return {reinterpret_cast<const char*>(id.data()), id.size()};
}

Message attribute(std::string_view name, const std::variant<std::string, std::int64_t>& held) {
  Message value;  // AnyValue
  if (const auto* const text = std::get_if<std::string>(&held)) {
    value.text(1, *text);
  } else {
    value.number(3, static_cast<std::uint64_t>(std::get<std::int64_t>(held)));
  }
  Message attribute;  // KeyValue
  attribute.text(1, name);
  attribute.message(2, value);
  return attribute;
}

Message span_message(const Trace& trace, const TraceSpan& span) {
  const bool remote = span.kind == SpanKind::kServer && trace.remote_parent;
  Message message;
  message.text(1, bytes_of(trace.id));
  message.text(2, bytes_of(span.id));
  if (!trace.state.empty()) message.text(3, trace.state);
  if (span.parent != SpanId{}) message.text(4, bytes_of(span.parent));
  message.text(5, span.name);
  message.number(6, static_cast<std::uint64_t>(span.kind));
  message.fixed64(7, static_cast<std::uint64_t>(span.begin_ns));
  message.fixed64(8, static_cast<std::uint64_t>(span.end_ns));
  for (const SpanAttribute& one : span.attributes) {
    message.message(9, attribute(one.key, one.value));
  }
  if (span.failed) {
    Message status;
    status.number(3, kStatusError);
    message.message(15, status);
  }
  message.fixed32(
      16, static_cast<std::uint32_t>(trace.flags | kIsRemoteKnown | (remote ? kIsRemote : 0)));
  return message;
}

Message resource(const TraceOrigin& origin) {
  Message resource;
  for (const auto& [name, value] :
       {std::pair("service.name", &origin.service), std::pair("service.version", &origin.version),
        std::pair("service.instance.id", &origin.instance), std::pair("host.name", &origin.host)}) {
    if (!value->empty()) resource.message(1, attribute(name, *value));
  }
  return resource;
}

}  // namespace

std::string otlp_traces(const TraceOrigin& origin, std::span<const Trace> traces) {
  Message scope;  // InstrumentationScope
  scope.text(1, "halite");
  scope.text(2, origin.version);
  Message spans;  // ScopeSpans
  spans.message(1, scope);
  for (const Trace& trace : traces) {
    for (const TraceSpan& span : trace.spans) spans.message(2, span_message(trace, span));
  }
  spans.text(3, kSchemaUrl);
  Message of_resource;  // ResourceSpans
  of_resource.message(1, resource(origin));
  of_resource.message(2, spans);
  of_resource.text(3, kSchemaUrl);
  Message request;
  request.message(1, of_resource);
  return request.take();
}

PartialSuccess read_partial_success(std::string_view body) {
  PartialSuccess partial;
  ProtoFault fault;
  ProtoReader answer(body, fault);
  while (answer.next()) {
    if (answer.field() != 1) continue;
    ProtoReader success = answer.message();
    while (success.next()) {
      if (success.field() == 1) partial.rejected = success.int64();
      if (success.field() == 2) partial.message = success.bytes();
    }
  }
  return fault || partial.rejected < 0 ? PartialSuccess{} : partial;
}

}  // namespace halite::app
