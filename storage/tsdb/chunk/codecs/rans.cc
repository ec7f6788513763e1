#include "storage/tsdb/chunk/codecs/rans.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "common/bytes/little_endian.h"

namespace halite::storage::chunk {
namespace {

constexpr unsigned kLog2Least = 10;
constexpr unsigned kLog2Most = 12;  // size of the decoder's table
constexpr std::size_t kStates = 4;
constexpr std::uint32_t kStateMin = 1u << 16;  // states are in [kStateMin, 2^32)

// Changes one share by `step` where that costs least.
void adjust(std::span<const std::uint32_t> counts, int step, std::vector<std::uint16_t>& shares) {
  std::size_t best = 0;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (step < 0 && shares[i] == 1) continue;
    const double share = shares[i];
    const double cost = counts[i] * std::log2(share / (share + step));
    if (cost < best_cost) {
      best_cost = cost;
      best = i;
    }
  }
  shares[best] = static_cast<std::uint16_t>(shares[best] + step);
}

}  // namespace

RansShares rans_shares(std::span<const std::uint32_t> counts) {
  std::uint64_t all = 0;
  for (const std::uint32_t count : counts) all += count;
  RansShares made;
  made.log2_total = all >= 4096 || counts.size() > 64   ? kLog2Most
                    : all >= 1024 || counts.size() > 16 ? 11
                                                        : kLog2Least;
  const std::uint64_t total = std::uint64_t{1} << made.log2_total;
  std::uint64_t given = 0;
  for (const std::uint32_t count : counts) {
    const std::uint64_t share = std::max<std::uint64_t>(1, (count * total + all / 2) / all);
    made.shares.push_back(static_cast<std::uint16_t>(share));
    given += share;
  }
  for (; given < total; ++given) adjust(counts, 1, made.shares);
  for (; given > total; --given) adjust(counts, -1, made.shares);
  return made;
}

void put_rans_shares(const RansShares& shares, BitWriter& to) {
  to.put(shares.log2_total - kLog2Least, 2);
  std::uint32_t left = 1u << shares.log2_total;
  for (std::size_t i = 0; i + 1 < shares.shares.size(); ++i) {
    // Each following share is at least one; the last gets the rest.
    const auto followers = static_cast<std::uint32_t>(shares.shares.size() - i - 1);
    to.put(shares.shares[i] - 1u, static_cast<unsigned>(std::bit_width(left - followers - 1)));
    left -= shares.shares[i];
  }
}

bool get_rans_shares(BitReader& from, std::size_t symbols, RansShares& shares) {
  shares.log2_total = kLog2Least + static_cast<unsigned>(from.get(2));
  if (shares.log2_total > kLog2Most) return false;
  std::uint32_t left = 1u << shares.log2_total;
  shares.shares.clear();
  shares.shares.reserve(symbols);
  for (std::size_t i = 0; i + 1 < symbols; ++i) {
    const auto followers = static_cast<std::uint32_t>(symbols - i - 1);
    const auto width = static_cast<unsigned>(std::bit_width(left - followers - 1));
    const auto share = static_cast<std::uint32_t>(from.get(width)) + 1;
    if (share > left - followers) return false;
    shares.shares.push_back(static_cast<std::uint16_t>(share));
    left -= share;
  }
  shares.shares.push_back(static_cast<std::uint16_t>(left));
  return true;
}

namespace {

// How a symbol changes a state.
struct Step {
  std::uint64_t reciprocal = 0;  // 2^63 / share, rounded up: exact for all states
  std::uint32_t share = 0;
  std::uint32_t begin = 0;
};

class RansEncoder {
 public:
  explicit RansEncoder(const RansShares& shares) : log2_total_(shares.log2_total) {
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < shares.shares.size(); ++i) {
      const std::uint32_t share = shares.shares[i];
      steps_[i] = {
          .reciprocal = ((std::uint64_t{1} << 63) - 1) / share + 1, .share = share, .begin = begin};
      begin += share;
    }
  }

  // Writes at most one word below `at`; the place there is changed in any case.
  void put(std::uint8_t symbol, std::uint32_t& state, std::uint16_t*& at) const {
    const Step& step = steps_[symbol];
    const bool full = state >= step.share << (32 - log2_total_);
    at[-1] = static_cast<std::uint16_t>(state);
    at -= full ? 1 : 0;
    const std::uint32_t left = full ? state >> 16 : state;
    const auto quotient =
        static_cast<std::uint32_t>(static_cast<unsigned __int128>(left) * step.reciprocal >> 63);
    const std::uint32_t rest = left - quotient * step.share;
    state = (quotient << log2_total_) + rest + step.begin;
  }

 private:
  std::array<Step, kRansSymbolsMax> steps_;  // only those of symbols are set
  const unsigned log2_total_;
};

}  // namespace

void append_rans(std::span<const std::uint8_t> symbols, const RansShares& shares,
                 std::vector<std::uint16_t>& words, Bytes& out) {
  const RansEncoder encoder(shares);
  // Encodes backwards, because a state returns its symbols last in, first out. Each step writes at
  // most one word.
  words.resize(std::max(words.size(), symbols.size() + 2 * kStates));
  std::uint16_t* const end = words.data() + words.size();
  std::uint16_t* at = end;
  std::array<std::uint32_t, kStates> states;
  states.fill(kStateMin);
  std::size_t i = symbols.size();
  while (i % kStates != 0) {
    --i;
    encoder.put(symbols[i], states[i % kStates], at);
  }
  for (; i > 0; i -= kStates) {
#pragma clang loop unroll(full)
    for (std::size_t k = kStates; k-- > 0;) {
      encoder.put(symbols[i - kStates + k], states[k], at);
    }
  }
  for (std::size_t k = kStates; k-- > 0;) {
    *--at = static_cast<std::uint16_t>(states[k]);
    *--at = static_cast<std::uint16_t>(states[k] >> 16);
  }
  const auto count = static_cast<std::size_t>(end - at);
  append_varint(out, count);
  static_assert(std::endian::native == std::endian::little);
  out.append(reinterpret_cast<const char*>(at), count * sizeof *at);
}

RansDecoder::RansDecoder(const RansShares& shares) : log2_total_(shares.log2_total) {
  std::uint32_t* place = places_.data();
  std::uint8_t* symbol = symbols_.data();
  for (std::size_t i = 0; i < shares.shares.size(); ++i) {
    const std::uint32_t share = shares.shares[i];
    for (std::uint32_t within = 0; within < share; ++within) *place++ = share << 16 | within;
    symbol = std::fill_n(symbol, share, static_cast<std::uint8_t>(i));
  }
}

void RansDecoder::read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const {
  switch (log2_total_) {  // as a constant, it halves the cost of shifts and masks
    case kLog2Least:
      return read<kLog2Least>(from, symbols, total);
    case kLog2Least + 1:
      return read<kLog2Least + 1>(from, symbols, total);
    default:
      return read<kLog2Most>(from, symbols, total);
  }
}

template <unsigned kLog2Total>
void RansDecoder::read(Reader& from, std::span<std::uint8_t> symbols, std::size_t total) const {
  static_assert(kLog2Least + 2 == kLog2Most);
  const std::uint64_t words = from.varint();
  if (words < 2 * kStates || words > total + 2 * kStates) from.set_bad();
  const BytesView bytes = from.take(words * 2);
  if (!from.ok()) return;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::array<std::uint32_t, kStates> states;
  for (std::uint32_t& state : states) {
    state = static_cast<std::uint32_t>(load_le<std::uint16_t>(at) << 16 |
                                       load_le<std::uint16_t>(at + 2));
    if (state < kStateMin) return from.set_bad();
    at += 4;
  }
  const auto step = [this](std::uint32_t state, std::uint8_t& symbol) {
    const std::uint32_t low = state & ((1U << kLog2Total) - 1);
    const std::uint32_t place = places_[low];
    symbol = symbols_[low];
    return (place >> 16) * (state >> kLog2Total) + (place & 0xFFFF);
  };
  std::size_t i = 0;
  // Four symbols take at most four words, so no bounds checks are needed between them.
  for (; i + kStates <= symbols.size() && end - at >= 8; i += kStates) {
#pragma clang loop unroll(full)
    for (std::size_t k = 0; k < kStates; ++k) {
      const std::uint32_t state = step(states[k], symbols[i + k]);
      const std::uint32_t refilled = state << 16 | load_le<std::uint16_t>(at);
      at += state < kStateMin ? 2 : 0;
      states[k] = state < kStateMin ? refilled : state;
    }
  }
  for (; i < symbols.size(); ++i) {
    std::uint32_t& state = states[i % kStates];
    state = step(state, symbols[i]);
    if (state < kStateMin) {
      if (at == end) return from.set_bad();
      state = state << 16 | load_le<std::uint16_t>(at);
      at += 2;
    }
  }
  if (symbols.size() < total) return;
  // The encoder starts with these states; damaged bytes hardly ever end in them.
  const bool all_back = std::ranges::all_of(states, [](auto state) { return state == kStateMin; });
  if (at != end || !all_back) from.set_bad();
}

}  // namespace halite::storage::chunk
