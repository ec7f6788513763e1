#include "common/bytes/percent.h"

#include <iterator>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite {

std::string percent_encoded(std::string_view text, std::string_view also) {
  std::string encoded;
  for (const char byte : text) {
    const bool plain = is_digit(byte) || (byte >= 'a' && byte <= 'z') ||
                       (byte >= 'A' && byte <= 'Z') || std::string_view("-._~").contains(byte) ||
                       also.contains(byte);
    if (plain) {
      encoded += byte;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(byte));
    }
  }
  return encoded;
}

}  // namespace halite
