// Static range asymmetric numeral system (rANS): an entropy coder for runs of symbols. Four
// interleaved states let a processor decode four symbols at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/tsdb/chunk/codecs/wire.h"

namespace halite::storage::chunk {

inline constexpr std::size_t kRansSymbolsMax = 256;

// The frequency of each symbol as a share of 2^log2_total; the shares add up to it, and none is
// zero.
struct RansShares {
  unsigned log2_total = 10;  // 10 to 12
  std::vector<std::uint16_t> shares;
};

// counts: of each symbol, none zero; 2 to kRansSymbolsMax symbols.
[[nodiscard]] RansShares rans_shares(std::span<const std::uint32_t> counts);

// Writes the shares in a few bits for each symbol, without the number of symbols.
void put_rans_shares(const RansShares& shares, BitWriter& to);
// False if the bits are not valid shares; `from` may be bad too, so check both.
[[nodiscard]] bool get_rans_shares(BitReader& from, std::size_t symbols, RansShares& shares);

// symbols: indexes into the shares. `words` is scratch memory.
void append_rans(std::span<const std::uint8_t> symbols, const RansShares& shares,
                 std::vector<std::uint16_t>& words, Bytes& out);

// Decodes any number of runs that were encoded with the same shares.
class RansDecoder {
 public:
  explicit RansDecoder(const RansShares& shares);

  // Fills `symbols` with the first indexes of a run of `total`, and consumes all bytes of the run.
  // Marks the reader bad if they do not contain that many, as far as it can tell.
  void read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const;

 private:
  static constexpr std::size_t kPlacesMax = std::size_t{1} << 12;

  template <unsigned kLog2Total>
  void read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const;

  // For each of the 2^log2_total values of a state's low bits: the share of its symbol (upper 16
  // bits), the position within the share (lower 16), and the symbol.
  std::array<std::uint32_t, kPlacesMax> places_;
  std::array<std::uint8_t, kPlacesMax> symbols_;
  const unsigned log2_total_;
};

}  // namespace halite::storage::chunk
