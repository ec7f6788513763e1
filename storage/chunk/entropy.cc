#include "storage/chunk/entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "storage/chunk/rans.h"

namespace halite::storage::chunk {
namespace {

constexpr unsigned kMantissaMax = 4;
constexpr std::size_t kBucketsMax = (64 - kMantissaMax + 1) << kMantissaMax;

struct Bucket {
  std::uint64_t base = 0;
  unsigned bits = 0;  // below it
};

Bucket bucket_at(std::size_t index, unsigned mantissa) {
  const std::size_t exact = std::size_t{2} << mantissa;
  if (index < exact) return {index, 0};
  const auto bits = static_cast<unsigned>((index >> mantissa) - 1);
  const std::uint64_t top = (index & ((std::size_t{1} << mantissa) - 1)) + (exact >> 1);
  return {top << bits, bits};
}

std::size_t bucket_of(std::uint64_t magnitude, unsigned mantissa) {
  const int above = std::bit_width(magnitude) - 1 - static_cast<int>(mantissa);
  const unsigned bits = above > 0 ? static_cast<unsigned>(above) : 0;
  return (std::size_t{bits} << mantissa) + static_cast<std::size_t>(magnitude >> bits);
}

std::uint64_t magnitude_of(std::uint64_t number, const EntropyShape& shape) {
  const std::uint64_t distance = number - shape.centre;
  return shape.zigzag ? zigzag(distance) : distance;
}

struct Count {
  std::size_t bucket = 0;
  std::uint32_t count = 0;
};

// How often the finest buckets come, those that come at all, in order.
std::vector<Count> count_buckets(std::span<const std::uint64_t> numbers, const EntropyShape& shape,
                                 std::vector<std::uint32_t>& histogram) {
  histogram.assign(kBucketsMax, 0);
  for (const std::uint64_t number : numbers) {
    ++histogram[bucket_of(magnitude_of(number, shape), kMantissaMax)];
  }
  std::vector<Count> counts;
  for (std::size_t i = 0; i < kBucketsMax; ++i) {
    if (histogram[i] != 0) counts.push_back({i, histogram[i]});
  }
  return counts;
}

// The same with fewer, wider buckets.
std::vector<Count> coarser(const std::vector<Count>& fine, unsigned mantissa) {
  std::vector<Count> counts;
  for (const Count& one : fine) {
    const std::size_t bucket = bucket_of(bucket_at(one.bucket, kMantissaMax).base, mantissa);
    if (counts.empty() || counts.back().bucket != bucket) counts.push_back({bucket, 0});
    counts.back().count += one.count;
  }
  return counts;
}

// Bits for all the numbers, without the table.
double cost_bits(const std::vector<Count>& counts, unsigned mantissa) {
  double all = 0;
  double bits = 0;
  for (const Count& one : counts) {
    all += one.count;
    bits += one.count * (bucket_at(one.bucket, mantissa).bits - std::log2(one.count));
  }
  return all == 0 ? 0 : bits + all * std::log2(all);
}

double table_cost_bits(std::size_t buckets) { return 40 + 9.0 * static_cast<double>(buckets); }

// Sets the shape's mantissa and costs to the cheapest. `scale`: numbers to come for one counted.
void choose_mantissa(const std::vector<Count>& fine, double scale, EntropyShape& shape) {
  double best = std::numeric_limits<double>::infinity();
  double all = 0;
  for (const Count& one : fine) all += one.count;
  for (unsigned mantissa = 0; mantissa <= kMantissaMax; ++mantissa) {
    const std::vector<Count> counts = coarser(fine, mantissa);
    if (counts.size() > kRansSymbolsMax) break;
    const double bits = cost_bits(counts, mantissa);
    const double table = table_cost_bits(counts.size());
    if (bits * scale + table < best) {
      best = bits * scale + table;
      shape.mantissa = mantissa;
      shape.bits = bits / all;
      shape.table_bits = table;
    }
  }
}

// An unsigned shape's centre came from a sample: take the least of all numbers if that is near.
void lower_centre(std::span<const std::uint64_t> numbers, EntropyShape& shape) {
  auto least = static_cast<std::int64_t>(numbers[0]);
  std::int64_t most = least;
  for (const std::uint64_t number : numbers) {
    least = std::min(least, static_cast<std::int64_t>(number));
    most = std::max(most, static_cast<std::int64_t>(number));
  }
  const auto centre = static_cast<std::int64_t>(shape.centre);
  if (least >= centre) return;
  const std::uint64_t below = shape.centre - static_cast<std::uint64_t>(least);
  const std::uint64_t above = static_cast<std::uint64_t>(most) - shape.centre;
  if (below <= above / 4) shape.centre = static_cast<std::uint64_t>(least);
}

constexpr std::uint8_t kZigzag = 0x08;

// How a symbol of rANS becomes a number again.
struct Alphabet {
  // Of the first `size` symbols; others never come.
  std::array<std::uint64_t, kRansSymbolsMax> bases;
  std::array<std::uint8_t, kRansSymbolsMax> bits;
  std::size_t size = 0;
  unsigned bits_most = 0;
};

// An Elias gamma code: the bits of value + 1, after as many zeros as there are below its top one.
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

// Numbers from symbols and the bits below their buckets. kLongest: the most bits a number has
// there; up to 56 are in one word wherever they begin.
template <bool kOver56>
void add_low_bits(BytesView low, const Alphabet& alphabet, std::span<const std::uint8_t> symbols,
                  bool is_zigzag, std::uint64_t centre, std::span<std::uint64_t> numbers) {
  // The last numbers read past the end: they have a copy with zeros behind it.
  constexpr std::size_t kStride = 32;
  constexpr std::size_t kReach = kStride * 8 + 9;
  std::array<char, 2 * kReach> tail{};
  const char* from = low.data();
  std::size_t size = low.size();
  std::size_t position = 0;  // in bits, from `from`
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

}  // namespace

EntropyShape choose_shape(std::span<const std::uint64_t> sample, double scale,
                          EntropyScratch& scratch) {
  scratch.sorted.assign(sample.begin(), sample.end());
  const auto middle = scratch.sorted.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  const auto by_sign = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);
  };
  std::nth_element(scratch.sorted.begin(), middle, scratch.sorted.end(), by_sign);
  EntropyShape around{.zigzag = true, .centre = *middle};
  EntropyShape above{.zigzag = false,
                     .centre = *std::min_element(scratch.sorted.begin(), middle + 1, by_sign)};
  for (EntropyShape* shape : {&around, &above}) {
    choose_mantissa(count_buckets(sample, *shape, scratch.histogram), scale, *shape);
  }
  const auto total = [&](const EntropyShape& shape) {
    return shape.bits * static_cast<double>(sample.size()) * scale + shape.table_bits;
  };
  return total(above) < total(around) ? above : around;
}

namespace {

// What a run's segments have in common.
struct Coding {
  EntropyShape shape;
  RansShares shares;  // none where all numbers are in one bucket
  std::array<std::uint8_t, kBucketsMax> symbol_of{};
  bool has_low_bits = false;
};

Coding append_coding(std::span<const std::uint64_t> numbers, EntropyShape shape,
                     EntropyScratch& scratch, Bytes& out) {
  if (!shape.zigzag) lower_centre(numbers, shape);
  const std::vector<Count> fine = count_buckets(numbers, shape, scratch.histogram);
  choose_mantissa(fine, 1, shape);
  const std::vector<Count> counts = coarser(fine, shape.mantissa);

  Coding coding;
  coding.shape = shape;
  out.push_back(static_cast<char>(shape.mantissa | (shape.zigzag ? kZigzag : 0)));
  append_signed(out, shape.centre);
  std::vector<std::uint32_t> only_counts;
  BitWriter bits(out);
  bits.put(counts.size() - 1, 8);
  std::size_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    put_gamma(counts[i].bucket - next, bits);
    next = counts[i].bucket + 1;
    coding.symbol_of[counts[i].bucket] = static_cast<std::uint8_t>(i);
    only_counts.push_back(counts[i].count);
  }
  if (counts.size() > 1) {
    coding.shares = rans_shares(only_counts);
    put_rans_shares(coding.shares, bits);
  }
  bits.finish();
  coding.has_low_bits = bucket_at(counts.back().bucket, shape.mantissa).bits != 0;
  return coding;
}

void append_coded(std::span<const std::uint64_t> numbers, const Coding& coding,
                  EntropyScratch& scratch, Bytes& out) {
  const EntropyShape& shape = coding.shape;
  scratch.symbols.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    scratch.symbols[i] =
        coding.symbol_of[bucket_of(magnitude_of(numbers[i], shape), shape.mantissa)];
  }
  if (!coding.shares.shares.empty()) {
    append_rans(scratch.symbols, coding.shares, scratch.words, out);
  }
  if (!coding.has_low_bits) return;
  BitWriter low(out);
  for (const std::uint64_t number : numbers) {
    const std::uint64_t magnitude = magnitude_of(number, shape);
    const int above = std::bit_width(magnitude) - 1 - static_cast<int>(shape.mantissa);
    if (above <= 0) continue;
    low.put(magnitude & ((std::uint64_t{1} << above) - 1), static_cast<unsigned>(above));
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

  // The first `wanted` of a run of `numbers`; takes all that `from` has left if these are not all.
  // Of the first `summed` only the sum, in place of the last of them.
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

  // Where the bases are the numbers.
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
  append_coded(numbers, coding, scratch, out);
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
    append_coded(numbers.subspan(i, std::min(segment, numbers.size() - i)), coding, scratch, coded);
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
  std::size_t before = 0;  // of the segments not to be read
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
