#include "ingest/sent_point.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "common/json_string.h"
#include "ingest/json_text.h"
#include "ingest/json_tokens.h"
#include "ingest/number_text.h"

namespace halite::ingest {
namespace {

namespace ondemand = simdjson::ondemand;

// ---- the complete reading -----------------------------------------------------------------------

// The text of a scalar, as Jackson gives it where a text is wanted; nothing for null.
Result<std::optional<std::string>> scalar_text(std::string_view token) {
  using Text = std::optional<std::string>;
  if (token == "null") return Text();
  if (token == "true" || token == "false" || is_json_number(token)) return Text(token);
  if (is_json_string(token)) {
    auto text = unescape_json(token.substr(1, token.size() - 2));
    if (text) return text;
  }
  return not_json(fmt::format("Cannot read a text from: {}", token.substr(0, 100)));
}

Result<std::string> key_text(ondemand::field& field) {
  const std::string_view inner = key_of(field);
  auto text = unescape_json(inner);
  if (!text) return not_json(fmt::format("Cannot read a name from: {}", inner.substr(0, 100)));
  return *std::move(text);
}

// Walks over a value of no interest. All of the body must be JSON, also what is skipped.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than depth_max
Result<void> skip(ondemand::value& value, std::size_t depth, std::size_t depth_max) {
  const char first = first_of(value);
  if (first != '{' && first != '[') {
    TRY_VOID(scalar_text(token_of(value)));
    return {};
  }
  if (depth > depth_max) {
    return not_json(
        fmt::format("More than {} arrays and objects in each other "
                    "(ingest.json_depth_max)",
                    depth_max));
  }
  if (first == '[') {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return not_json(error);
    for (auto result : array) {
      ondemand::value element;
      if (const auto error = std::move(result).get(element)) return not_json(error);
      TRY_VOID(skip(element, depth + 1, depth_max));
    }
    return {};
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return not_json(error);
  for (auto result : object) {
    ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY_VOID(key_text(field));
    TRY_VOID(skip(field.value(), depth + 1, depth_max));
  }
  return {};
}

Result<std::int64_t> read_timestamp(std::string_view token) {
  const auto wrong = [&] {
    return not_json(fmt::format("Cannot read a long value from: {}", token.substr(0, 100)));
  };
  if (token == "null") return 0;
  if (is_json_number(token)) {
    if (looks_like_integer(token)) {
      const auto value = parse_java_long(token);
      if (value) return *value;
      // NaN and Infinity have no '.' or 'e' either: they end up below.
    }
    const auto value = parse_java_double(token);
    if (!value || std::abs(*value) > 0x1p63) return wrong();
    if (std::isnan(*value)) return 0;
    // Java's (long): the greatest double below 2^63 is well inside, 2^63 itself is not.
    if (*value >= 0x1p63 || looks_like_integer(token)) return wrong();
    return static_cast<std::int64_t>(*value);
  }
  if (!is_json_string(token)) return wrong();
  const auto text = unescape_json(token.substr(1, token.size() - 2));
  if (!text) return wrong();
  const std::string_view digits = java_trim(*text);
  if (digits.empty() || digits == "null") return 0;
  const auto value = parse_java_long(digits);
  if (!value) return wrong();
  return *value;
}

Result<std::optional<TagMap>> read_tags(ondemand::value& value) {
  if (token_of(value) == "null") return std::optional<TagMap>();
  if (first_of(value) != '{') return not_json("tags: wanted an object");
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return not_json(error);
  TagMap tags;
  for (auto result : object) {
    ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY(auto key, key_text(field));
    TRY(auto text, scalar_text(token_of(field.value())));
    tags.put(std::move(key), std::move(text));
  }
  return std::optional<TagMap>(std::move(tags));
}

Result<void> read_field(ondemand::field& field, SentPoint& point, std::size_t depth_max) {
  TRY(const auto key, key_text(field));
  ondemand::value& value = field.value();
  if (key == "timestamp") {
    TRY(point.timestamp, read_timestamp(token_of(value)));
  } else if (key == "tags") {
    TRY(point.tags, read_tags(value));
  } else if (key == "metric") {
    TRY(point.metric, scalar_text(token_of(value)));
  } else if (key == "value") {
    TRY(point.value, scalar_text(token_of(value)));
  } else if (key == "tsuid") {
    TRY(point.tsuid, scalar_text(token_of(value)));
  } else {
    constexpr std::size_t kFieldDepth = 3;  // in the point, in the array
    TRY_VOID(skip(value, kFieldDepth, depth_max));
  }
  return {};
}

void append_field(std::string& json, std::string_view name) {
  if (json.size() > 1) json += ',';
  append_json_string(json, name);
  json += ':';
}

}  // namespace

std::string echo_sent_point(const SentPoint& point) {
  std::string json = "{";
  if (point.metric) {
    append_field(json, "metric");
    append_json_string(json, *point.metric);
  }
  append_field(json, "timestamp");
  json += fmt::format("{}", point.timestamp);
  if (point.value) {
    append_field(json, "value");
    append_json_string(json, *point.value);
  }
  if (point.tags) {
    append_field(json, "tags");
    json += '{';
    for (bool first = true; const TagEntry* tag : point.tags->in_java_order()) {
      if (!first) json += ',';
      first = false;
      append_json_string(json, tag->key);
      json += ':';
      if (tag->value) {
        append_json_string(json, *tag->value);
      } else {
        json += "null";
      }
    }
    json += '}';
  }
  if (point.tsuid) {
    append_field(json, "tsuid");
    append_json_string(json, *point.tsuid);
  }
  json += '}';
  return json;
}

std::expected<NamedPoint, Refused> judge_sent_point(SentPoint point, const PointRules& rules) {
  const auto illegal = [](std::string_view text) {
    return std::unexpected(
        Refused{.reason = RefusalReason::kIllegalArgument, .text = std::string(text)});
  };
  if (!point.metric || point.metric->empty()) return illegal("Metric name was empty");
  if (point.timestamp <= 0) return illegal("Invalid timestamp");
  if (!point.value || point.value->empty()) return illegal("Empty value");
  if (!point.tags || point.tags->empty()) return illegal("Missing tags");
  const auto value = parse_value(*point.value);
  if (!value) {
    return std::unexpected(Refused{.reason = RefusalReason::kInvalidValue, .text = value.error()});
  }
  return rules.judge(*point.metric, point.timestamp, *value, *std::move(point.tags), true);
}

struct SentPointReader::Impl {
  std::size_t depth_max;
  ondemand::parser parser;
  std::string text;  // a copy, with simdjson's padding behind it
};

SentPointReader::SentPointReader(std::size_t json_depth_max)
    : impl_(std::make_unique<Impl>(json_depth_max)) {}

SentPointReader::~SentPointReader() = default;

Result<SentPoint> SentPointReader::read(std::string_view element) {
  impl_->text.assign(element);
  impl_->text.reserve(element.size() + simdjson::SIMDJSON_PADDING);
  const simdjson::padded_string_view padded(impl_->text.data(), element.size(),
                                            impl_->text.capacity());
  ondemand::document document;
  if (const auto error = impl_->parser.iterate(padded).get(document)) {
    return not_json(error);
  }
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) return not_json(error);
  SentPoint point;
  for (auto result : object) {
    ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY_VOID(read_field(field, point, impl_->depth_max));
  }
  if (!at_end(document)) return not_json("There is more behind the end of the data point");
  return point;
}

}  // namespace halite::ingest
