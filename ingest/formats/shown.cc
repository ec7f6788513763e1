#include "ingest/formats/shown.h"

#include <cstddef>

#include <fmt/format.h>

namespace halite::ingest {

std::string shown(std::string_view text) {
  constexpr std::size_t kBytesMax = 64;
  std::string out = "\"";
  for (const char c : text.substr(0, kBytesMax)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  out += text.size() > kBytesMax ? "\".." : "\"";
  return out;
}

}  // namespace halite::ingest
