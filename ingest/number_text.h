// Numbers as OpenTSDB reads them: Java's rules for the text, and Java's words for what is wrong.
//
// Texts are UTF-8. Errors are messages only ("Invalid character 'a' in abc"); the caller knows
// what they are about.
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

// Decimal digits with at most one sign, at most 19 of them, within 64 bits.
[[nodiscard]] NumberOr<std::int64_t> parse_java_long(std::string_view text);

// Double.parseDouble: surrounding blanks, decimal or hexadecimal, a suffix f or d. May be infinite.
[[nodiscard]] NumberOr<double> parse_java_double(std::string_view text);

// Float.parseFloat: the same texts, rounded once.
[[nodiscard]] NumberOr<float> parse_java_float(std::string_view text);

// No '.', 'e' or 'E': such a value is read as an integer, or refused as one.
[[nodiscard]] bool looks_like_integer(std::string_view text);

// A point's value: by the rule above one or the other. Infinity is the caller's to refuse.
[[nodiscard]] NumberOr<Number> parse_value(std::string_view text);

// The same, quickly and without words: false for infinity and for what is no number.
[[nodiscard]] bool parse_finite_value(std::string_view text, Number& number);

}  // namespace halite::ingest
