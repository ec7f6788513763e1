#include "common/bytes/crc32c.h"

#include <isa-l/crc.h>

namespace halite {

std::uint32_t crc32c(BytesView bytes, std::uint32_t crc) {
  // crc32_iscsi() works on the raw register, so we invert before and after. Its lengths are signed
  // and 32 bits wide.
  constexpr std::size_t kPieceBytesMax = std::size_t{1} << 30;
  std::uint32_t state = ~crc;
  while (!bytes.empty()) {
    const BytesView piece = bytes.substr(0, kPieceBytesMax);
    bytes.remove_prefix(piece.size());
    auto* const begin = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    state = crc32_iscsi(begin, static_cast<int>(piece.size()), state);
  }
  return ~state;
}

}  // namespace halite
