// Reads JSON fields as OpenTSDB's parser (Jackson) does, in requests and in stored cells. It
// accepts numbers and booleans as texts and texts as numbers, cuts fractions, and reads null as
// absent or 0.
//
//   Errors  kInvalidArgument, naming the field and the value found.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "common/result.h"

namespace halite::storage {

// Texts by name; a text may be null.
using CustomFields = std::map<std::string, std::optional<std::string>>;

[[nodiscard]] Result<boost::json::value> parse_json(std::string_view text);
[[nodiscard]] Result<boost::json::object> parse_json_object(std::string_view text);
[[nodiscard]] Result<boost::json::array> parse_json_array(std::string_view text);

// Each returns the value of the field `name`, which errors show.
[[nodiscard]] Result<std::optional<std::string>> text_field(std::string_view name,
                                                            const boost::json::value& value);
[[nodiscard]] Result<std::int64_t> long_field(std::string_view name,
                                              const boost::json::value& value);
[[nodiscard]] Result<std::int32_t> int_field(std::string_view name,
                                             const boost::json::value& value);
// Also accepts the texts "NaN", "Infinity" and "-Infinity".
[[nodiscard]] Result<double> double_field(std::string_view name, const boost::json::value& value);
[[nodiscard]] Result<bool> bool_field(std::string_view name, const boost::json::value& value);
[[nodiscard]] Result<std::optional<CustomFields>> custom_field(std::string_view name,
                                                               const boost::json::value& value);
// A list of texts; null is not a list. A null element becomes an empty text.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> texts_field(
    std::string_view name, const boost::json::value& value);

// Appends a quoted text, or null.
void append_text_or_null(std::string& to, const std::optional<std::string>& text);
// Appends {"a":"1","b":null} in the order of the names, or null.
void append_custom(std::string& to, const std::optional<CustomFields>& custom);
// Like append_custom(), in the order of a Java HashMap, which OpenTSDB uses where it compares the
// stored bytes before a write.
void append_custom_java(std::string& to, const std::optional<CustomFields>& custom);

}  // namespace halite::storage
