#include "ingest/graphite/pickle_values.h"

#include <cstddef>
#include <cstdint>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/bytes/utf8.h"
#include "ingest/formats/number_text.h"

namespace halite::ingest {
namespace {

using Kind = PickleItem::Kind;

// Of "\xHH" and "\uXXXX": the number of the hexadecimal digits.
std::optional<char32_t> hex_number(std::string_view digits, std::size_t count) {
  if (digits.size() < count) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits.substr(0, count)) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(digit);
  }
  if (value > 0x10FFFF) return std::nullopt;
  return static_cast<char32_t>(value);
}

}  // namespace

bool append_raw_unicode(std::string& to, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digits = !text.substr(i).starts_with('\\')     ? 0
                               : text.substr(i + 1).starts_with('u') ? 4
                               : text.substr(i + 1).starts_with('U') ? 8
                                                                     : 0;
    if (digits == 0) {
      append_utf8(to, static_cast<unsigned char>(text[i]));
      continue;
    }
    const auto unit = hex_number(text.substr(i + 2), digits);
    if (!unit || (*unit >= 0xD800 && *unit < 0xE000)) return false;
    append_utf8(to, *unit);
    i += 1 + digits;
  }
  return true;
}

bool append_python_string(std::string& to, std::string_view text) {
  constexpr std::string_view kLetters = "\\'\"nrt";
  constexpr std::string_view kBytes = "\\'\"\n\r\t";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      to += text[i];
      continue;
    }
    if (++i == text.size()) return false;
    if (const std::size_t at = kLetters.find(text[i]); at != std::string_view::npos) {
      to += kBytes[at];
      continue;
    }
    const auto byte = text[i] == 'x' ? hex_number(text.substr(i + 1), 2) : std::nullopt;
    if (!byte) return false;
    to += static_cast<char>(*byte);
    i += 2;
  }
  return true;
}

std::optional<PickleItem> integer_of(std::string_view text) {
  std::int64_t integer = 0;
  if (read_number(text, integer)) return PickleItem::of_integer(integer);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || count_digits(digits) != digits.size()) return std::nullopt;
  double real = 0;
  if (read_double(text, real)) return PickleItem::of_real(real);
  return PickleItem::of_kind(Kind::kHuge);
}

PickleItem integer_of_bytes(std::string_view bytes) {
  constexpr std::size_t kBytesMax = sizeof(__int128);
  const bool negative = !bytes.empty() && static_cast<signed char>(bytes.back()) < 0;
  const char sign = negative ? '\xFF' : '\0';
  while (bytes.size() > kBytesMax && bytes.back() == sign) bytes.remove_suffix(1);
  if (bytes.size() > kBytesMax ||
      (bytes.size() == kBytesMax && (static_cast<signed char>(bytes.back()) < 0) != negative)) {
    return PickleItem::of_kind(Kind::kHuge);
  }
  auto value = negative ? ~static_cast<unsigned __int128>(0) : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  const auto integer = static_cast<__int128>(value);
  if (integer >= INT64_MIN && integer <= INT64_MAX) {
    return PickleItem::of_integer(static_cast<std::int64_t>(integer));
  }
  return PickleItem::of_real(static_cast<double>(integer));
}

}  // namespace halite::ingest
