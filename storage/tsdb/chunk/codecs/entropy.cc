#include "storage/tsdb/chunk/codecs/entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "storage/tsdb/chunk/codecs/rans.h"

namespace halite::storage::chunk {
namespace {

constexpr std::uint8_t kZigzag = 0x08;

// Converts a rANS symbol back to a number.
struct Alphabet {
  // Only the first `size` symbols are used.
  std::array<std::uint64_t, kRansSymbolsMax> bases;
  std::array<std::uint8_t, kRansSymbolsMax> bits;
  std::size_t size = 0;
  unsigned bits_most = 0;
};

// An Elias gamma code: value + 1 in binary, after as many zeros as it has bits below its top one.
void put_gamma(std::uint64_t value, BitWriter& to) {
  const auto width = static_cast<unsigned>(std::bit_width(value + 1));
  to.put(0, width - 1);
  to.put(1, 1);
  to.put((value + 1) ^ (std::uint64_t{1} << (width - 1)), width - 1);
}

std::uint64_t get_gamma(BitReader& from) {
  unsigned below = 0;
  while (from.ok() && below < 32 && from.get(1) == 0) ++below;
  return ((std::uint64_t{1} << below) | from.get(below)) - 1;
}

std::uint64_t undo(std::uint64_t magnitude, bool is_zigzag, std::uint64_t centre) {
  return (is_zigzag ? unzigzag(magnitude) : magnitude) + centre;
}

// Combines symbols with the bits below their buckets. Up to 56 bits are in one word wherever they
// begin.
template <bool kOver56>
void add_low_bits(BytesView low, const Alphabet& alphabet, std::span<const std::uint8_t> symbols,
                  bool is_zigzag, std::uint64_t centre, std::span<std::uint64_t> numbers) {
  // The last numbers would read past the end: copy them and append zeros.
  constexpr std::size_t kStride = 32;
  constexpr std::size_t kReach = kStride * 8 + 9;
  std::array<char, 2 * kReach> tail{};
  const char* from = low.data();
  std::size_t size = low.size();
  std::size_t position = 0;  // in bits
  bool in_tail = false;
  for (std::size_t i = 0; i < symbols.size(); i += kStride) {
    if (!in_tail && size - position / 8 < kReach) {
      const std::size_t used = position / 8;
      std::memcpy(tail.data(), from + used, size - used);
      from = tail.data();
      position %= 8;
      in_tail = true;
    }
    const std::size_t end = std::min(i + kStride, symbols.size());
    for (std::size_t k = i; k < end; ++k) {
      const unsigned count = alphabet.bits[symbols[k]];
      std::uint64_t word;
      std::memcpy(&word, from + position / 8, sizeof word);
      word >>= position % 8;
      if constexpr (kOver56) {
        const std::uint64_t next = static_cast<std::uint8_t>(from[position / 8 + 8]);
        word |= next << 1 << (63 - position % 8);
      }
      word &= (std::uint64_t{1} << count) - 1;  // buckets have at most 63 bits below them
      position += count;
      numbers[k] = undo(alphabet.bases[symbols[k]] + word, is_zigzag, centre);
    }
  }
}

bool read_alphabet(Reader& from, unsigned mantissa, Alphabet& alphabet, RansShares& shares) {
  BitReader bits(from.left());
  const auto symbols = static_cast<std::size_t>(bits.get(8)) + 1;
  alphabet.size = symbols;
  std::uint64_t bucket = get_gamma(bits);
  for (std::size_t i = 0; i < symbols; ++i) {
    if (i > 0) bucket += get_gamma(bits) + 1;
    if (!bits.ok() || bucket >= std::size_t{65 - mantissa} << mantissa) return false;
    const Bucket one = bucket_at(bucket, mantissa);
    alphabet.bases[i] = one.base;
    alphabet.bits[i] = static_cast<std::uint8_t>(one.bits);
    alphabet.bits_most = std::max(alphabet.bits_most, one.bits);
  }
  if (symbols > 1) {
    if (!get_rans_shares(bits, symbols, shares)) return false;
  } else {
    shares.shares.clear();
  }
  from.take(bits.bytes_used());
  return bits.ok() && from.ok();
}

// Parameters that the segments of a run share.
struct Coding {
  EntropyShape shape;
  RansShares shares;                                     // empty if all numbers are in one bucket
  std::array<std::uint8_t, kBucketsMax> symbol_of{};     // of the finest buckets
  std::array<std::uint8_t, kRansSymbolsMax> low_bits{};  // of symbols
  unsigned low_bits_most = 0;
};

// Merges the finest buckets into those of the shape, and gives these symbols.
std::vector<BucketCount> symbols_of(const std::vector<BucketCount>& fine, Coding& coding) {
  const unsigned mantissa = coding.shape.mantissa;
  std::vector<BucketCount> counts;
  for (const BucketCount& one : fine) {
    std::size_t wide = one.bucket;
    for (unsigned m = kMantissaMax; m > mantissa; --m) wide = wider_bucket(wide, m - 1);
    const auto bucket = static_cast<std::uint32_t>(wide);
    if (counts.empty() || counts.back().bucket != bucket) {
      coding.low_bits[counts.size()] = static_cast<std::uint8_t>(bucket_at(bucket, mantissa).bits);
      counts.push_back({bucket, 0});
    }
    counts.back().count += one.count;
    coding.symbol_of[one.bucket] = static_cast<std::uint8_t>(counts.size() - 1);
  }
  coding.low_bits_most = coding.low_bits[counts.size() - 1];
  return counts;
}

// Sets scratch.buckets.
Coding append_coding(std::span<const std::uint64_t> numbers, EntropyShape shape,
                     EntropyScratch& scratch, Bytes& out) {
  fit_shape(numbers, shape, scratch);
  Coding coding;
  coding.shape = shape;
  const std::vector<BucketCount> counts = symbols_of(scratch.fine, coding);
  out.push_back(static_cast<char>(shape.mantissa | (shape.zigzag ? kZigzag : 0)));
  append_signed(out, shape.centre);
  std::vector<std::uint32_t> only_counts;
  only_counts.reserve(counts.size());
  BitWriter bits(out);
  bits.put(counts.size() - 1, 8);
  std::size_t next = 0;
  for (const BucketCount& one : counts) {
    put_gamma(one.bucket - next, bits);
    next = one.bucket + 1;
    only_counts.push_back(one.count);
  }
  if (counts.size() > 1) {
    coding.shares = rans_shares(only_counts);
    put_rans_shares(coding.shares, bits);
  }
  bits.finish();
  return coding;
}

// Appends the bits below the buckets. Up to 56 bits are added to at most 7 left ones in a word.
void append_low_bits(std::span<const std::uint64_t> numbers, const Coding& coding,
                     EntropyScratch& scratch, Bytes& out) {
  const std::size_t most = numbers.size() * coding.low_bits_most / 8 + 2 * sizeof(std::uint64_t);
  scratch.low_bits.resize(std::max(scratch.low_bits.size(), most));
  char* at = scratch.low_bits.data();
  std::uint64_t bits = 0;
  unsigned filled = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const unsigned count = coding.low_bits[scratch.symbols[i]];
    const std::uint64_t magnitude = magnitude_of(numbers[i], coding.shape);
    bits |= (magnitude & ((std::uint64_t{1} << count) - 1)) << filled;
    filled += count;
    store_le(at, bits);
    at += filled / 8;
    bits >>= filled & ~7u;
    filled %= 8;
  }
  if (filled > 0) *at++ = static_cast<char>(bits);
  out.append(scratch.low_bits.data(), at);
}

// Appends numbers of append_coding() from index `begin` on.
void append_coded(std::span<const std::uint64_t> numbers, std::size_t begin, const Coding& coding,
                  EntropyScratch& scratch, Bytes& out) {
  scratch.symbols.resize(std::max(scratch.symbols.size(), numbers.size()));
  const std::span symbols = std::span(scratch.symbols).first(numbers.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i] = coding.symbol_of[scratch.buckets[begin + i]];
  }
  if (!coding.shares.shares.empty()) append_rans(symbols, coding.shares, scratch.words, out);
  if (coding.low_bits_most == 0) return;
  if (coding.low_bits_most <= 56) return append_low_bits(numbers, coding, scratch, out);
  BitWriter low(out);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const unsigned count = coding.low_bits[symbols[i]];
    const std::uint64_t magnitude = magnitude_of(numbers[i], coding.shape);
    low.put(magnitude & ((std::uint64_t{1} << count) - 1), count);
  }
  low.finish();
}

// Reads what append_coding() wrote, then any number of runs.
class EntropyDecoder {
 public:
  explicit EntropyDecoder(Reader& from) : head_(from.byte()), centre_(from.signed_varint()) {
    const unsigned mantissa = head_ & 0x07u;
    if (mantissa > kMantissaMax || head_ >= 2 * kZigzag) from.set_bad();
    if (!from.ok()) return;
    RansShares shares;
    if (!read_alphabet(from, mantissa, alphabet_, shares)) {
      from.set_bad();
      return;
    }
    if (!shares.shares.empty()) symbols_.emplace(shares);
    if (alphabet_.bits_most > 0) return;
    for (std::size_t i = 0; i < alphabet_.size; ++i) {
      alphabet_.bases[i] = undo(alphabet_.bases[i], is_zigzag(), centre_);
    }
  }

  // Reads the first `wanted` of a run of `numbers`. If not all are wanted, consumes all of `from`.
  // Replaces the first `summed` numbers by their sum, stored in the last of them.
  void read(Reader& from, EntropyScratch& scratch, std::span<std::uint64_t> numbers,
            std::size_t wanted, std::size_t summed) const {
    if (symbols_) {
      scratch.symbols.resize(std::max(scratch.symbols.size(), wanted));
      symbols_->read(from, std::span(scratch.symbols).first(wanted), numbers.size());
    } else {
      scratch.symbols.assign(std::max(scratch.symbols.size(), wanted), 0);
    }
    if (!from.ok()) return;
    const std::span<const std::uint8_t> symbols = std::span(scratch.symbols).first(wanted);
    const bool all = wanted == numbers.size();
    numbers = numbers.first(wanted);
    if (alphabet_.bits_most == 0) {
      take_bases(symbols, numbers, summed);
      if (!all) from.take(from.left().size());
      return;
    }
    std::size_t low_bits = 0;
    for (const std::uint8_t symbol : symbols) low_bits += alphabet_.bits[symbol];
    const BytesView low = from.take((low_bits + 7) / 8);
    if (!all) from.take(from.left().size());
    if (!from.ok()) return;
    if (alphabet_.bits_most > 56) {
      add_low_bits<true>(low, alphabet_, symbols, is_zigzag(), centre_, numbers);
    } else {
      add_low_bits<false>(low, alphabet_, symbols, is_zigzag(), centre_, numbers);
    }
    if (summed == 0) return;
    numbers[summed - 1] = std::reduce(numbers.begin(), numbers.begin() + summed, std::uint64_t{0});
  }

 private:
  [[nodiscard]] bool is_zigzag() const { return (head_ & kZigzag) != 0; }

  // For buckets without low bits: the bases are the numbers.
  void take_bases(std::span<const std::uint8_t> symbols, std::span<std::uint64_t> numbers,
                  std::size_t summed) const {
    if (summed > 0) {
      std::uint64_t sum = 0;
      for (const std::uint8_t symbol : symbols.first(summed)) sum += alphabet_.bases[symbol];
      numbers[summed - 1] = sum;
    }
    for (std::size_t i = summed; i < numbers.size(); ++i) numbers[i] = alphabet_.bases[symbols[i]];
  }

  const std::uint8_t head_;
  const std::uint64_t centre_;
  Alphabet alphabet_;  // without low bits: the bases are the numbers
  std::optional<RansDecoder> symbols_;
};

}  // namespace

void append_entropy(std::span<const std::uint64_t> numbers, EntropyShape shape,
                    EntropyScratch& scratch, Bytes& out) {
  const Coding coding = append_coding(numbers, shape, scratch, out);
  append_coded(numbers, 0, coding, scratch, out);
}

void read_entropy(Reader& from, EntropyScratch& scratch, std::span<std::uint64_t> numbers,
                  std::size_t wanted, std::size_t summed) {
  const EntropyDecoder decoder(from);
  if (from.ok()) decoder.read(from, scratch, numbers, wanted, summed);
}

void append_entropy_segments(std::span<const std::uint64_t> numbers, EntropyShape shape,
                             std::size_t segment, EntropyScratch& scratch, Bytes& out) {
  const Coding coding = append_coding(numbers, shape, scratch, out);
  Bytes coded;
  for (std::size_t i = 0; i < numbers.size(); i += segment) {
    const std::size_t before = coded.size();
    append_coded(numbers.subspan(i, std::min(segment, numbers.size() - i)), i, coding, scratch,
                 coded);
    append_varint(out, coded.size() - before);
  }
  out.append(coded);
}

void read_entropy_segments(Reader& from, SegmentsWanted wanted, EntropyScratch& scratch,
                           std::span<std::uint64_t> numbers) {
  const EntropyDecoder decoder(from);
  const auto [segment, begin, end, summed] = wanted;
  const std::size_t segments = (numbers.size() + segment - 1) / segment;
  const std::size_t segments_end = (end + segment - 1) / segment;
  std::size_t all = 0;     // bytes
  std::size_t before = 0;  // of skipped segments
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < segments && from.ok(); ++i) {
    const std::uint64_t size = from.varint();
    if (size > from.left().size()) from.set_bad();
    all += size;
    if (i < begin) before += size;
    if (i >= begin && i < segments_end) sizes.push_back(size);
  }
  const BytesView bytes = from.take(all);
  if (!from.ok()) return;
  Reader coded(bytes.substr(before));
  for (std::size_t i = begin; i < segments_end; ++i) {
    Reader one(coded.take(sizes[i - begin]));
    const std::size_t at = i * segment;
    const auto of_segment = numbers.subspan(at, std::min(segment, numbers.size() - at));
    decoder.read(one, scratch, of_segment, std::min(of_segment.size(), end - at),
                 i == begin ? summed : 0);
    if (!one.ok() || !one.left().empty()) return from.set_bad();
  }
}

}  // namespace halite::storage::chunk
