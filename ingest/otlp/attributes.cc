#include "ingest/otlp/attributes.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/base64.h"
#include "ingest/formats/number_text.h"
#include "ingest/otlp/decimal_text.h"

namespace halite::ingest {
namespace {

// Fields of AnyValue.
constexpr std::uint32_t kString = 1;
constexpr std::uint32_t kBool = 2;
constexpr std::uint32_t kInt = 3;
constexpr std::uint32_t kDouble = 4;
constexpr std::uint32_t kArray = 5;
constexpr std::uint32_t kMap = 6;
constexpr std::uint32_t kBytes = 7;

// As ECMAScript prints numbers: no exponent from 1e-6 up to 1e21.
void append_double_text(std::string& to, double value) {
  if (std::isnan(value)) {
    to += "NaN";
  } else if (std::isinf(value)) {
    to += value < 0 ? "-Infinity" : "Infinity";
  } else {
    const double size = std::abs(value);
    if (size == 0 || (size >= 1e-6 && size < 1e21)) return append_decimal(to, value);
    std::array<char, 32> text;
    const auto [end, error] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
    const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
    // An exponent of one digit is not padded: 1e-7.
    const std::size_t zero = written.find("e-0");
    to += written.substr(0, zero);
    if (zero != std::string_view::npos) to.append("e-").append(written.substr(zero + 3));
  }
}

// As Go writes JSON: other characters than these stay as they are.
void append_json_text(std::string& to, std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  to += '"';
  for (const char c : text) {
    if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
      to += '\\';
      to += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(to), "\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      to += c;
    }
  }
  to += '"';
}

void append_value(std::string& to, ProtoReader& value, std::size_t depth, bool json);

// NOLINTNEXTLINE(misc-no-recursion): no deeper than kValueDepthMax
void append_array(std::string& to, ProtoReader array, std::size_t depth) {
  to += '[';
  for (bool first = true; array.next();) {
    if (array.field() != 1) continue;
    if (!std::exchange(first, false)) to += ',';
    ProtoReader element = array.message();
    append_value(to, element, depth, true);
  }
  to += ']';
}

// In the order of keys; of equal keys the last counts.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than kValueDepthMax
void append_map(std::string& to, ProtoReader map, std::size_t depth) {
  std::map<std::string_view, std::string> members;
  while (map.next()) {
    if (map.field() != 1) continue;
    std::string_view key;
    std::string text = "null";
    for (ProtoReader member = map.message(); member.next();) {
      if (member.field() == 1) key = member.bytes();
      if (member.field() != 2) continue;
      text.clear();
      ProtoReader value = member.message();
      append_value(text, value, depth, true);
    }
    members.insert_or_assign(key, std::move(text));
  }
  to += '{';
  for (bool first = true; const auto& [key, text] : members) {
    if (!std::exchange(first, false)) to += ',';
    append_json_text(to, key);
    to.append(":").append(text);
  }
  to += '}';
}

// `json`: as part of a JSON text.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than kValueDepthMax
void append_value(std::string& to, ProtoReader& value, std::size_t depth, bool json) {
  const std::size_t begin = to.size();
  bool empty = true;
  while (value.next()) {
    if (value.field() < kString || value.field() > kBytes) continue;
    if (depth == kValueDepthMax && (value.field() == kArray || value.field() == kMap)) {
      value.refuse("is nested too deep");
      return;
    }
    to.resize(begin);  // of several values the last counts
    empty = false;
    switch (value.field()) {
      case kString:
        if (json) {
          append_json_text(to, value.bytes());
        } else {
          to += value.bytes();
        }
        break;
      case kBool:
        to += value.varint() != 0 ? "true" : "false";
        break;
      case kInt:
        append_integer(to, value.int64());
        break;
      case kDouble: {
        const double number = std::bit_cast<double>(value.double_bits());
        const bool quoted = json && !std::isfinite(number);
        if (quoted) to += '"';
        append_double_text(to, number);
        if (quoted) to += '"';
        break;
      }
      case kArray:
        append_array(to, value.message(), depth + 1);
        break;
      case kMap:
        append_map(to, value.message(), depth + 1);
        break;
      default:
        if (json) to += '"';
        to += to_base64(value.bytes());
        if (json) to += '"';
    }
  }
  if (empty && json) to += "null";
}

}  // namespace

void append_value_text(std::string& to, ProtoReader& value) { append_value(to, value, 0, false); }

void Attributes::make_text(ProtoReader value, Attribute& attribute) {
  attribute.is_made = true;
  attribute.begin = made_.size();
  append_value_text(made_, value);
  attribute.size = made_.size() - attribute.begin;
}

}  // namespace halite::ingest
