// Fields of JSON objects as OpenTSDB's parser (Jackson) takes them, in requests and in stored
// cells: numbers and booleans where a text is wanted, texts where a number is wanted, fractions
// cut, null for "nothing" or zero.
//
//   Errors  kInvalidArgument, naming the field and what was found.
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

// Each takes the value of the field called `name`, which the errors show.
[[nodiscard]] Result<std::optional<std::string>> text_field(std::string_view name,
                                                            const boost::json::value& value);
[[nodiscard]] Result<std::int64_t> long_field(std::string_view name,
                                              const boost::json::value& value);
[[nodiscard]] Result<std::int32_t> int_field(std::string_view name,
                                             const boost::json::value& value);
// Also from the texts "NaN", "Infinity" and "-Infinity".
[[nodiscard]] Result<double> double_field(std::string_view name, const boost::json::value& value);
[[nodiscard]] Result<bool> bool_field(std::string_view name, const boost::json::value& value);
[[nodiscard]] Result<std::optional<CustomFields>> custom_field(std::string_view name,
                                                               const boost::json::value& value);
// A list of texts; null is no list. An element that is null becomes an empty text.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> texts_field(
    std::string_view name, const boost::json::value& value);

// A text in quotes, or null.
void append_text_or_null(std::string& to, const std::optional<std::string>& text);
// {"a":"1","b":null} in the order of the names, or null.
void append_custom(std::string& to, const std::optional<CustomFields>& custom);
// The same in the order in which a Java HashMap has them: that is how OpenTSDB stores them where it
// compares the stored bytes before it writes.
void append_custom_java(std::string& to, const std::optional<CustomFields>& custom);

}  // namespace halite::storage
