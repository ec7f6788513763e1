#include "common/crc32c.h"

#ifdef __SSE4_2__
#include <nmmintrin.h>
#else
#include <array>
#endif

namespace halite {

#ifdef __SSE4_2__

std::uint32_t crc32c(BytesView bytes, std::uint32_t crc) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    state = _mm_crc32_u64(state, word);
    bytes.remove_prefix(sizeof word);
  }
  auto last = static_cast<std::uint32_t>(state);
  for (const char byte : bytes) last = _mm_crc32_u8(last, static_cast<unsigned char>(byte));
  return ~last;
}

#else

namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82F63B78u : 0u);
    table[i] = crc;
  }
  return table;
}

}  // namespace

std::uint32_t crc32c(BytesView bytes, std::uint32_t crc) {
  static constexpr std::array<std::uint32_t, 256> kTable = make_table();
  crc = ~crc;
  for (const char byte : bytes) {
    crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  return ~crc;
}

#endif

}  // namespace halite
