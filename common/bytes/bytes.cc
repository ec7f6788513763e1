#include "common/bytes/bytes.h"

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite {

void append_be_width(Bytes& to, std::uint64_t value, unsigned width) {
  for (unsigned i = width; i-- > 0;) to.push_back(static_cast<char>(value >> (8 * i)));
}

std::uint64_t load_be_width(BytesView from) {
  std::uint64_t value = 0;
  for (const char c : from) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::string to_hex(BytesView bytes) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

Result<Bytes> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) {
    return fail(Errc::kInvalidArgument, fmt::format("odd number of hex digits: \"{}\"", hex));
  }
  Bytes bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = hex_digit(hex[i]);
    const int low = hex_digit(hex[i + 1]);
    if (high < 0 || low < 0) {
      return fail(Errc::kInvalidArgument, fmt::format("not hexadecimal: \"{}\"", hex));
    }
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

Bytes prefix_end(BytesView prefix) {
  Bytes end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xFF) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(end.back() + 1);
  return end;
}

}  // namespace halite
