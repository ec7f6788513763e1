#include "ingest/otlp/json_to_protobuf.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/bytes/ascii.h"
#include "common/bytes/base64.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/proto_reader.h"
#include "common/bytes/varint.h"
#include "common/json/json_fault.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/shown.h"
#include "ingest/json/json_text.h"
#include "ingest/json/json_tokens.h"
#include "ingest/json/json_values.h"
#include "ingest/otlp/attributes.h"

namespace halite::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

enum class Kind : std::uint8_t {
  kString,
  kBytes,  // base64
  kBool,
  kInt64,  // a varint
  kFixed64,
  kSignedFixed64,
  kDouble,
  kTemporality,  // an enum
  kMessage,
  kMessages,  // arrays of these three
  kFixed64s,
  kDoubles,
};

struct Field {
  std::string_view name;  // in lowerCamelCase
  std::uint32_t number = 0;
  Kind kind = Kind::kString;
  std::span<const Field> (*message)() = nullptr;  // of kMessage and kMessages
};
using Message = std::span<const Field>;

// The messages, from the innermost. Those that contain themselves need the functions.
Message no_fields() { return {}; }
Message any_value();
Message key_value() {
  static constexpr Field kFields[] = {{"key", 1, Kind::kString},
                                      {"value", 2, Kind::kMessage, any_value}};
  return kFields;
}
Message array_value() {
  static constexpr Field kFields[] = {{"values", 1, Kind::kMessages, any_value}};
  return kFields;
}
Message key_value_list() {
  static constexpr Field kFields[] = {{"values", 1, Kind::kMessages, key_value}};
  return kFields;
}
Message any_value() {
  static constexpr Field kFields[] = {{"stringValue", 1, Kind::kString},
                                      {"boolValue", 2, Kind::kBool},
                                      {"intValue", 3, Kind::kInt64},
                                      {"doubleValue", 4, Kind::kDouble},
                                      {"arrayValue", 5, Kind::kMessage, array_value},
                                      {"kvlistValue", 6, Kind::kMessage, key_value_list},
                                      {"bytesValue", 7, Kind::kBytes}};
  return kFields;
}
Message number_point() {
  static constexpr Field kFields[] = {{"attributes", 7, Kind::kMessages, key_value},
                                      {"timeUnixNano", 3, Kind::kFixed64},
                                      {"asDouble", 4, Kind::kDouble},
                                      {"asInt", 6, Kind::kSignedFixed64},
                                      {"exemplars", 5, Kind::kMessages, no_fields},
                                      {"flags", 8, Kind::kInt64}};
  return kFields;
}
Message histogram_point() {
  static constexpr Field kFields[] = {{"attributes", 9, Kind::kMessages, key_value},
                                      {"timeUnixNano", 3, Kind::kFixed64},
                                      {"count", 4, Kind::kFixed64},
                                      {"sum", 5, Kind::kDouble},
                                      {"bucketCounts", 6, Kind::kFixed64s},
                                      {"explicitBounds", 7, Kind::kDoubles},
                                      {"exemplars", 8, Kind::kMessages, no_fields},
                                      {"flags", 10, Kind::kInt64}};
  return kFields;
}
Message quantile() {
  static constexpr Field kFields[] = {{"quantile", 1, Kind::kDouble}, {"value", 2, Kind::kDouble}};
  return kFields;
}
Message summary_point() {
  static constexpr Field kFields[] = {{"attributes", 7, Kind::kMessages, key_value},
                                      {"timeUnixNano", 3, Kind::kFixed64},
                                      {"count", 4, Kind::kFixed64},
                                      {"sum", 5, Kind::kDouble},
                                      {"quantileValues", 6, Kind::kMessages, quantile},
                                      {"flags", 8, Kind::kInt64}};
  return kFields;
}
Message gauge() {
  static constexpr Field kFields[] = {{"dataPoints", 1, Kind::kMessages, number_point}};
  return kFields;
}
Message sum() {
  static constexpr Field kFields[] = {{"dataPoints", 1, Kind::kMessages, number_point},
                                      {"aggregationTemporality", 2, Kind::kTemporality},
                                      {"isMonotonic", 3, Kind::kBool}};
  return kFields;
}
Message histogram() {
  static constexpr Field kFields[] = {{"dataPoints", 1, Kind::kMessages, histogram_point},
                                      {"aggregationTemporality", 2, Kind::kTemporality}};
  return kFields;
}
Message exponential_histogram() {
  static constexpr Field kFields[] = {{"dataPoints", 1, Kind::kMessages, no_fields}};
  return kFields;
}
Message summary() {
  static constexpr Field kFields[] = {{"dataPoints", 1, Kind::kMessages, summary_point}};
  return kFields;
}
Message metric() {
  static constexpr Field kFields[] = {
      {"name", 1, Kind::kString},
      {"description", 2, Kind::kString},
      {"unit", 3, Kind::kString},
      {"gauge", 5, Kind::kMessage, gauge},
      {"sum", 7, Kind::kMessage, sum},
      {"histogram", 9, Kind::kMessage, histogram},
      {"exponentialHistogram", 10, Kind::kMessage, exponential_histogram},
      {"summary", 11, Kind::kMessage, summary}};
  return kFields;
}
Message scope_metrics() {
  static constexpr Field kFields[] = {{"metrics", 2, Kind::kMessages, metric}};
  return kFields;
}
Message resource() {
  static constexpr Field kFields[] = {{"attributes", 1, Kind::kMessages, key_value}};
  return kFields;
}
Message resource_metrics() {
  static constexpr Field kFields[] = {{"resource", 1, Kind::kMessage, resource},
                                      {"scopeMetrics", 2, Kind::kMessages, scope_metrics}};
  return kFields;
}
Message request() {
  static constexpr Field kFields[] = {{"resourceMetrics", 1, Kind::kMessages, resource_metrics}};
  return kFields;
}

// A name of a .proto file, or its lowerCamelCase, is that of the field.
bool is_name_of(std::string_view sent, std::string_view camel) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < sent.size(); ++i, ++at) {
    const bool next_word = sent[i] == '_' && i + 1 < sent.size();
    const char c = next_word ? to_upper(sent[++i]) : sent[i];
    if (at == camel.size() || camel[at] != c) return false;
  }
  return at == camel.size();
}

const Field* find(Message message, std::string_view name) {
  const auto exact = std::ranges::find(message, name, &Field::name);
  if (exact != message.end()) return &*exact;
  if (!name.contains('_')) return nullptr;
  const auto other =
      std::ranges::find_if(message, [&](const Field& one) { return is_name_of(name, one.name); });
  return other == message.end() ? nullptr : &*other;
}

std::unexpected<Error> wrong_json(std::string_view what) {
  return fail(Errc::kInvalidArgument, fmt::format("not an OTLP request in JSON: {}", what));
}
std::unexpected<Error> wrong_json(simdjson::error_code error) {
  return wrong_json(json_fault(error));
}
std::unexpected<Error> wrong_value(std::string_view field, std::string_view wanted,
                                   std::string_view token) {
  const bool quoted = is_json_string(token);
  return wrong_json(fmt::format("{}: {} is not {}", field,
                                shown(quoted ? token.substr(1, token.size() - 2) : token), wanted));
}

// An integer of T; also 1e3 and 1.0.
template <class T>
std::optional<std::uint64_t> read_integer(std::string_view text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop == end && error == std::errc()) return static_cast<std::uint64_t>(value);
  constexpr double kEnd = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
  double real = 0;
  if (!read_double(text, real) || std::trunc(real) != real || real >= kEnd) return std::nullopt;
  if (real < static_cast<double>(std::numeric_limits<T>::min())) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<T>(real));
}

class Encoder {
 public:
  explicit Encoder(const IngestLimits& limits) : skip_depth_max_(limits.json_depth_max) {}

  Bytes out;

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDepthMax
  Result<void> append(ondemand::object& object, Message message) {
    if (depth_ == kDepthMax) {
      return wrong_json(fmt::format("nested more than {} messages deep", kDepthMax));
    }
    ++depth_;
    for (auto result : object) {
      ondemand::field field;
      if (const auto error = std::move(result).get(field)) return wrong_json(error);
      const std::string_view name = key_of(field);
      const Field* const known = find(message, name);
      if (known != nullptr) {
        TRY_VOID(append_field(field.value(), *known));
      } else if (const auto skipped = skip_json(field.value(), 1, skip_depth_max_); !skipped) {
        return wrong_json(skipped.error().details);
      } else if (has_escape(name) && !unescape_json(name)) {
        return wrong_json(fmt::format("{} is not a name", shown(name)));
      }
    }
    --depth_;
    return {};
  }

 private:
  // Above the attributes of a data point there are 6 messages; a value in a value has 2 or 3.
  static constexpr std::size_t kDepthMax = 10 + 3 * kValueDepthMax;

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDepthMax
  Result<void> append_field(ondemand::value& value, const Field& field) {
    if (first_of(value) == 'n' && token_of(value) == "null") return {};
    if (field.kind < Kind::kMessages) return append_one(value, field);
    if (first_of(value) != '[') return wrong_value(field.name, "an array", token_of(value));
    Field element = field;
    element.kind = field.kind == Kind::kMessages  ? Kind::kMessage
                   : field.kind == Kind::kDoubles ? Kind::kDouble
                                                  : Kind::kFixed64;
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return wrong_json(error);
    for (auto result : array) {
      ondemand::value one;
      if (const auto error = std::move(result).get(one)) return wrong_json(error);
      TRY_VOID(append_one(one, element));
    }
    return {};
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDepthMax
  Result<void> append_one(ondemand::value& value, const Field& field) {
    if (field.kind == Kind::kMessage) return append_message(value, field);
    const std::string_view token = token_of(value);
    if (field.kind == Kind::kBool) {
      if (token != "true" && token != "false") return wrong_value(field.name, "a boolean", token);
      append_varint_field(field.number, token == "true" ? 1 : 0);
      return {};
    }
    if (field.kind == Kind::kString || field.kind == Kind::kBytes) {
      return append_text(token, field);
    }
    const bool quoted = is_json_string(token);
    if (!quoted && !is_json_number(token)) return wrong_value(field.name, "a number", token);
    return append_number(quoted ? token.substr(1, token.size() - 2) : token, field);
  }

  // NOLINTNEXTLINE(misc-no-recursion): no deeper than kDepthMax
  Result<void> append_message(ondemand::value& value, const Field& field) {
    if (first_of(value) != '{') return wrong_value(field.name, "an object", token_of(value));
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return wrong_json(error);
    append_tag(field.number, ProtoWire::kBytes);
    const std::size_t at = out.size();
    out.append(kLengthBytes, '\0');
    TRY_VOID(append(object, field.message()));
    // A varint with leading zeros, since its length is known only now.
    std::size_t length = out.size() - at - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7) {
      const std::size_t more = i + 1 < kLengthBytes ? 0x80 : 0;
      out[at + i] = static_cast<char>((length & 0x7F) | more);
    }
    return {};
  }

  Result<void> append_text(std::string_view token, const Field& field) {
    if (!is_json_string(token)) return wrong_value(field.name, "a string", token);
    const std::string_view inner = token.substr(1, token.size() - 2);
    if (field.kind == Kind::kString && !has_escape(inner)) {
      append_bytes_field(field.number, inner);
      return {};
    }
    const auto text = unescape_json(inner);
    if (!text) return wrong_value(field.name, "a string", token);
    if (field.kind == Kind::kString) {
      append_bytes_field(field.number, *text);
      return {};
    }
    const auto bytes = from_base64(*text);
    if (!bytes) return wrong_value(field.name, "base64", token);
    append_bytes_field(field.number, *bytes);
    return {};
  }

  Result<void> append_number(std::string_view text, const Field& field) {
    if (field.kind == Kind::kDouble) {
      const auto bits = read_go_double(text);
      if (!bits) return wrong_value(field.name, "a double", text);
      append_tag(field.number, ProtoWire::kFixed64);
      append_le(out, *bits);
      return {};
    }
    if (field.kind == Kind::kTemporality && text.starts_with("AGGREGATION_TEMPORALITY_")) {
      append_varint_field(field.number, text.ends_with("_CUMULATIVE") ? 2
                                        : text.ends_with("_DELTA")    ? 1
                                                                      : 0);
      return {};
    }
    const bool is_unsigned = field.kind == Kind::kFixed64;
    const auto integer =
        is_unsigned ? read_integer<std::uint64_t>(text) : read_integer<std::int64_t>(text);
    if (!integer) {
      return wrong_value(field.name,
                         is_unsigned ? "an unsigned integer of 64 bits" : "an integer of 64 bits",
                         text);
    }
    if (is_unsigned || field.kind == Kind::kSignedFixed64) {
      append_tag(field.number, ProtoWire::kFixed64);
      append_le(out, *integer);
    } else {
      append_varint_field(field.number, *integer);
    }
    return {};
  }

  void append_tag(std::uint32_t number, ProtoWire wire) {
    append_varint(out, number << 3 | static_cast<std::uint32_t>(wire));
  }
  void append_varint_field(std::uint32_t number, std::uint64_t value) {
    append_tag(number, ProtoWire::kVarint);
    append_varint(out, value);
  }
  void append_bytes_field(std::uint32_t number, std::string_view bytes) {
    append_tag(number, ProtoWire::kBytes);
    append_varint(out, bytes.size());
    out += bytes;
  }

  static constexpr std::size_t kLengthBytes = 5;

  const std::size_t skip_depth_max_;
  std::size_t depth_ = 0;
};

// Points of another kind of request must not be lost silently.
bool is_of_another_kind(ondemand::object& object) {
  bool has_members = false;
  if (object.reset().get(has_members) != simdjson::SUCCESS || !has_members) return false;
  return object.find_field_unordered("resourceMetrics").error() == simdjson::NO_SUCH_FIELD &&
         object.find_field_unordered("resource_metrics").error() == simdjson::NO_SUCH_FIELD;
}

}  // namespace

Result<Bytes> otlp_json_to_protobuf(std::string_view body, const IngestLimits& limits) {
  const simdjson::padded_string padded(body);
  ondemand::parser parser;
  ondemand::document document;
  if (const auto error = parser.iterate(padded).get(document)) return wrong_json(error);
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) return wrong_json(error);
  Encoder encoder(limits);
  TRY_VOID(encoder.append(object, request()));
  if (!at_end(document)) return wrong_json("text behind the object");
  if (encoder.out.empty() && is_of_another_kind(object)) return wrong_json("no resourceMetrics");
  return std::move(encoder.out);
}

}  // namespace halite::ingest
