#include "ingest/base64.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace halite::ingest {
namespace {

constexpr std::uint8_t kPadding = 127;

std::optional<std::uint8_t> letter(char byte) {
  if (byte >= 'A' && byte <= 'Z') return static_cast<std::uint8_t>(byte - 'A');
  if (byte >= 'a' && byte <= 'z') return static_cast<std::uint8_t>(byte - 'a' + 26);
  if (byte >= '0' && byte <= '9') return static_cast<std::uint8_t>(byte - '0' + 52);
  if (byte == '+') return std::uint8_t{62};
  if (byte == '/') return std::uint8_t{63};
  if (byte == '=') return kPadding;
  return std::nullopt;
}

}  // namespace

Bytes decode_base64(std::string_view text) {
  Bytes bytes;
  std::array<std::uint8_t, 4> four{};
  std::size_t count = 0;
  const auto push = [&bytes](int value) { bytes.push_back(static_cast<char>(value & 0xFF)); };
  for (const char byte : text) {
    const auto value = letter(byte);
    if (!value) continue;
    four[count++] = *value;
    if (count < four.size()) continue;
    count = 0;
    push(four[0] << 2 | four[1] >> 4);
    if (four[2] != kPadding) push(four[1] << 4 | four[2] >> 2);
    if (four[3] != kPadding) push(four[2] << 6 | four[3]);
  }
  return bytes;
}

}  // namespace halite::ingest
