#include "ingest/json/json_values.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "ingest/json/json_text.h"
#include "ingest/json/json_tokens.h"
#include "ingest/json/sent_point.h"
#include "ingest/rules/java_number.h"

namespace halite::ingest {

namespace ondemand = simdjson::ondemand;

namespace {

Result<std::optional<TagMap>> read_tags(ondemand::value& value) {
  if (token_of(value) == "null") return std::optional<TagMap>();
  if (first_of(value) != '{') return not_json("tags: expected an object");
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

}  // namespace

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

// NOLINTNEXTLINE(misc-no-recursion): no deeper than depth_max
Result<void> skip_json(ondemand::value& value, std::size_t depth, std::size_t depth_max) {
  const char first = first_of(value);
  if (first != '{' && first != '[') {
    TRY_VOID(scalar_text(token_of(value)));
    return {};
  }
  if (depth > depth_max) {
    return not_json(fmt::format(
        "Arrays and objects are nested more than {} deep (ingest.json_depth_max)", depth_max));
  }
  if (first == '[') {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return not_json(error);
    for (auto result : array) {
      ondemand::value element;
      if (const auto error = std::move(result).get(element)) return not_json(error);
      TRY_VOID(skip_json(element, depth + 1, depth_max));
    }
    return {};
  }
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return not_json(error);
  for (auto result : object) {
    ondemand::field field;
    if (const auto error = std::move(result).get(field)) return not_json(error);
    TRY_VOID(key_text(field));
    TRY_VOID(skip_json(field.value(), depth + 1, depth_max));
  }
  return {};
}

Result<std::int64_t> read_long(std::string_view token) {
  const auto wrong = [&] {
    return not_json(fmt::format("Cannot read a long value from: {}", token.substr(0, 100)));
  };
  if (token == "null") return 0;
  if (is_json_number(token)) {
    if (looks_like_integer(token)) {
      const auto value = parse_java_long(token);
      if (value) return *value;
      // NaN and Infinity have no '.' or 'e' either: the check below handles them.
    }
    const auto value = parse_java_double(token);
    if (!value || std::abs(*value) > 0x1p63) return wrong();
    if (std::isnan(*value)) return 0;
    // Like Java's (long): the greatest double below 2^63 fits, 2^63 does not.
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

Result<void> read_point_field(std::string_view key, ondemand::value& value, SentPoint& point,
                              std::size_t depth_max) {
  if (key == "timestamp") {
    TRY(point.timestamp, read_long(token_of(value)));
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
    TRY_VOID(skip_json(value, kFieldDepth, depth_max));
  }
  return {};
}

}  // namespace halite::ingest
