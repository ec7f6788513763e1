#include "storage/meta/objects/json_fields.h"

#include <cmath>
#include <limits>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/java/java_double.h"
#include "common/java/java_map.h"
#include "common/json/json_value.h"
#include "common/json_string.h"

namespace halite::storage {

namespace json = boost::json;

namespace {

std::unexpected<Error> wrong(std::string_view name, std::string_view wanted,
                             const json::value& value) {
  std::string found = json::serialize(value);
  if (found.size() > 80) found = found.substr(0, 80) + "...";
  return fail(Errc::kInvalidArgument,
              fmt::format("the field \"{}\" must be {}, not {}", name, wanted, found));
}

// Cuts a fraction; nullopt if the value does not fit.
std::optional<std::int64_t> whole(double value) {
  if (!(value > -9.3e18 && value < 9.3e18)) return std::nullopt;
  const double cut = std::trunc(value);
  if (cut < -9223372036854775808.0 || cut >= 9223372036854775808.0) return std::nullopt;
  return static_cast<std::int64_t>(cut);
}

std::optional<std::int64_t> whole(std::string_view text) {
  text = trim(text, kJsonBlanks);
  if (text.empty()) return 0;
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

std::optional<double> real(std::string_view text) {
  text = trim(text, kJsonBlanks);
  if (text.empty()) return 0;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity" || text == "INF") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity" || text == "-INF") return -std::numeric_limits<double>::infinity();
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  if (!read_number(text, value)) return std::nullopt;
  return value;
}

std::string number_text(const json::value& value) {
  if (value.is_double()) return java_double(value.get_double());
  return json::serialize(value);
}

template <class Fields>
void append_fields(std::string& to, const Fields& fields) {
  to += '{';
  for (const auto& [name, text] : fields) {
    if (to.back() != '{') to += ',';
    append_json_string(to, name);
    to += ':';
    append_text_or_null(to, text);
  }
  to += '}';
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  boost::system::error_code error;
  json::value value = parse_json_value(text, error);
  if (error) return fail(Errc::kInvalidArgument, "this is not JSON: " + error.message());
  return value;
}

Result<json::object> parse_json_object(std::string_view text) {
  TRY(json::value value, parse_json(text));
  if (!value.is_object()) return fail(Errc::kInvalidArgument, "expected a JSON object");
  return std::move(value.get_object());
}

Result<json::array> parse_json_array(std::string_view text) {
  TRY(json::value value, parse_json(text));
  if (!value.is_array()) return fail(Errc::kInvalidArgument, "expected a JSON array");
  return std::move(value.get_array());
}

Result<std::optional<std::string>> text_field(std::string_view name, const json::value& value) {
  if (value.is_null()) return std::nullopt;
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_bool()) return std::string(value.get_bool() ? "true" : "false");
  if (value.is_number()) return number_text(value);
  return wrong(name, "a text", value);
}

Result<std::int64_t> long_field(std::string_view name, const json::value& value) {
  std::optional<std::int64_t> number;
  if (value.is_null()) number = 0;
  if (value.is_int64()) number = value.get_int64();
  if (value.is_double()) number = whole(value.get_double());
  if (value.is_string()) number = whole(std::string_view(value.get_string()));
  if (!number) return wrong(name, "a whole number", value);
  return *number;
}

Result<std::int32_t> int_field(std::string_view name, const json::value& value) {
  TRY(const std::int64_t number, long_field(name, value));
  if (number != static_cast<std::int32_t>(number)) {
    return wrong(name, "a whole number of 32 bits", value);
  }
  return static_cast<std::int32_t>(number);
}

Result<double> double_field(std::string_view name, const json::value& value) {
  std::optional<double> number;
  if (value.is_null()) number = 0;
  if (value.is_int64()) number = static_cast<double>(value.get_int64());
  if (value.is_uint64()) number = static_cast<double>(value.get_uint64());
  if (value.is_double()) number = value.get_double();
  if (value.is_string()) number = real(std::string_view(value.get_string()));
  if (!number) return wrong(name, "a number", value);
  return *number;
}

Result<bool> bool_field(std::string_view name, const json::value& value) {
  if (value.is_null()) return false;
  if (value.is_bool()) return value.get_bool();
  if (value.is_int64()) return value.get_int64() != 0;
  if (value.is_string()) {
    const std::string_view text = trim(std::string_view(value.get_string()), kJsonBlanks);
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text.empty() || text == "false" || text == "False" || text == "FALSE") return false;
  }
  return wrong(name, "true or false", value);
}

Result<std::optional<CustomFields>> custom_field(std::string_view name, const json::value& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_object()) return wrong(name, "an object of texts", value);
  CustomFields fields;
  for (const auto& [key, element] : value.get_object()) {
    TRY(fields[std::string(key)], text_field(std::string_view(key), element));
  }
  return fields;
}

Result<std::optional<std::vector<std::string>>> texts_field(std::string_view name,
                                                            const json::value& value) {
  if (value.is_null()) return std::nullopt;
  if (!value.is_array()) return wrong(name, "a list of texts", value);
  std::vector<std::string> texts;
  for (const json::value& element : value.get_array()) {
    TRY(const std::optional<std::string> text, text_field(name, element));
    texts.push_back(text.value_or(std::string()));
  }
  return texts;
}

void append_text_or_null(std::string& to, const std::optional<std::string>& text) {
  if (text) {
    append_json_string(to, *text);
  } else {
    to += "null";
  }
}

void append_custom(std::string& to, const std::optional<CustomFields>& custom) {
  if (custom) {
    append_fields(to, *custom);
  } else {
    to += "null";
  }
}

void append_custom_java(std::string& to, const std::optional<CustomFields>& custom) {
  if (!custom) {
    to += "null";
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, text] : *custom) names.push_back(name);
  std::vector<std::pair<std::string, std::optional<std::string>>> fields;
  for (const std::string& name : java_map_order(names, kJavaMapCapacity)) {
    fields.emplace_back(name, custom->at(name));
  }
  append_fields(to, fields);
}

}  // namespace halite::storage
