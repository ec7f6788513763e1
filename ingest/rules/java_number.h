// Numbers by Java's rules for the text, with Java's error messages, as in OpenTSDB.
//
// Texts are UTF-8. Errors are only messages ("Invalid character 'a' in abc"); the caller adds the
// context.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/data_point.h"

namespace halite::ingest {

struct Number {
  ValueBits bits = 0;
  bool is_float = false;
  bool operator==(const Number&) const = default;
};

template <class T>
using NumberOr = std::expected<T, std::string>;

// At most 19 decimal digits with an optional sign, within 64 bits.
[[nodiscard]] NumberOr<std::int64_t> parse_java_long(std::string_view text);

// Double.parseDouble: surrounding blanks, decimal or hexadecimal, a suffix f or d. May be infinite.
[[nodiscard]] NumberOr<double> parse_java_double(std::string_view text);

// Float.parseFloat: accepts these texts too, and rounds once.
[[nodiscard]] NumberOr<float> parse_java_float(std::string_view text);

// True without '.', 'e' or 'E': the value is then parsed as an integer.
[[nodiscard]] bool looks_like_integer(std::string_view text);

// The value of a point, an integer or a double by the rule above. The caller refuses infinity.
[[nodiscard]] NumberOr<Number> parse_value(std::string_view text);

// A fast variant without messages: false for infinity and for text that is not a number.
[[nodiscard]] bool parse_finite_value(std::string_view text, Number& number);

}  // namespace halite::ingest
