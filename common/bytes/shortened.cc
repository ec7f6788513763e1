#include "common/bytes/shortened.h"

#include <algorithm>

#include "common/bytes/utf8.h"

namespace halite {

std::string shortened(std::string_view said) {
  std::size_t end = std::min(said.size(), kSaidBytesMax);
  while (end < said.size() && end > 0 && (said[end] & 0xC0) == 0x80) --end;
  std::string text(said.substr(0, end));
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ' || byte == '\x7F') byte = ' ';
  }
  if (!is_utf8(text)) text = repair_utf8(text);
  return end < said.size() ? text + "..." : text;
}

}  // namespace halite
