#include "common/bytes/shortened.h"

#include "common/bytes/utf8.h"

namespace halite {

std::string shortened(std::string_view said) {
  std::string text(utf8_prefix(said, kSaidBytesMax));
  const bool cut = text.size() < said.size();
  for (char& byte : text) {
    if (static_cast<unsigned char>(byte) < ' ' || byte == '\x7F') byte = ' ';
  }
  if (!is_utf8(text)) text = repair_utf8(text);
  return cut ? text + "..." : text;
}

}  // namespace halite
