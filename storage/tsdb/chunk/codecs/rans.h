// Static range asymmetric numeral system (rANS): runs of symbols at the cost their shares imply.
// Four states take turns, so that a processor decodes four symbols at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kRansSymbolsMax = 256;

// How often each symbol comes, as shares of 2^log2_total that add up to it; none is zero.
struct RansShares {
  unsigned log2_total = 10;  // 10 to 12
  std::vector<std::uint16_t> shares;
};

// counts: of each symbol, none zero; at least 2 symbols, at most kRansSymbolsMax.
[[nodiscard]] RansShares rans_shares(std::span<const std::uint32_t> counts);

// The shares in some bits a symbol; the number of symbols is not among them.
void put_rans_shares(const RansShares& shares, BitWriter& to);
// Nothing of use, and `from` may have gone bad, if the bits are no shares: ask both.
[[nodiscard]] bool get_rans_shares(BitReader& from, std::size_t symbols, RansShares& shares);

// symbols: indexes into the shares. `words` is scratch memory.
void append_rans(std::span<const std::uint8_t> symbols, const RansShares& shares,
                 std::vector<std::uint16_t>& words, Bytes& out);

// Decodes any number of runs that were made with the same shares.
class RansDecoder {
 public:
  explicit RansDecoder(const RansShares& shares);

  // Fills `symbols` with indexes into the shares: the first of a run of `total`, all bytes of which
  // it takes. Makes the reader bad if they are not of that many, as far as it looks.
  void read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const;

 private:
  static constexpr std::size_t kPlacesMax = std::size_t{1} << 12;

  template <unsigned kLog2Total>
  void read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const;

  // What one of the 2^log2_total places in a state's low bits says: the share of its symbol (upper
  // 16 bits), the place within that (lower 16), and the symbol.
  std::array<std::uint32_t, kPlacesMax> places_;
  std::array<std::uint8_t, kPlacesMax> symbols_;
  const unsigned log2_total_;
};

}  // namespace halite::storage::chunk
