#include "common/bytes/base64.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace halite {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kPadding = 127;
constexpr std::uint8_t kNone = 255;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNone);
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  values['='] = kPadding;
  return values;
}();

std::uint8_t value_of(char c) { return kValues[static_cast<unsigned char>(c)]; }

}  // namespace

Bytes to_base64(BytesView bytes) {
  Bytes text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const BytesView three = bytes.substr(0, 3);
    bytes.remove_prefix(three.size());
    const std::uint64_t bits = load_be_width(three) << (8 * (3 - three.size()));
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i > three.size() ? '=' : kAlphabet[bits >> (18 - (6 * i)) & 63]);
    }
  }
  return text;
}

Bytes from_lenient_base64(std::string_view text) {
  Bytes bytes;
  std::array<std::uint8_t, 4> four{};
  std::size_t count = 0;
  const auto push = [&bytes](int value) { bytes.push_back(static_cast<char>(value & 0xFF)); };
  for (const char c : text) {
    if (value_of(c) == kNone) continue;
    four[count++] = value_of(c);
    if (count < four.size()) continue;
    count = 0;
    push(four[0] << 2 | four[1] >> 4);
    if (four[2] != kPadding) push(four[1] << 4 | four[2] >> 2);
    if (four[3] != kPadding) push(four[2] << 6 | four[3]);
  }
  return bytes;
}

std::optional<Bytes> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  const std::size_t over = text.size() % 4;
  if (over == 1 || !std::ranges::all_of(text, [](char c) { return value_of(c) < kPadding; })) {
    return std::nullopt;
  }
  Bytes padded(text);
  padded.append(over == 0 ? 0 : 4 - over, '=');
  return from_lenient_base64(padded);
}

}  // namespace halite
