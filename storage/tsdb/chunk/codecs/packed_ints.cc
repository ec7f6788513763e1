#include "storage/tsdb/chunk/codecs/packed_ints.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace halite::storage::chunk {
namespace {

constexpr std::size_t kGroup = 8;  // this many numbers of W bits are W bytes
constexpr std::uint8_t kHasExceptions = 0x80;

std::size_t groups_of(std::size_t numbers) { return (numbers + kGroup - 1) / kGroup; }

std::uint64_t load_word(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Widths are template arguments so that shifts are constants and loops unroll.
template <unsigned kWidth>
void pack_group(const std::uint64_t* numbers, char* out) {
  std::uint64_t bits = 0;
  unsigned filled = 0;
  constexpr std::uint64_t kMask =
      kWidth == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kWidth) - 1;
#pragma clang loop unroll(full)
  for (std::size_t i = 0; i < kGroup; ++i) {
    const std::uint64_t number = numbers[i] & kMask;
    bits |= number << filled;
    if (filled + kWidth >= 64) {
      std::memcpy(out, &bits, sizeof bits);
      out += sizeof bits;
      bits = filled == 0 ? 0 : number >> (64 - filled);
      filled = filled + kWidth - 64;
    } else {
      filled += kWidth;
    }
  }
  std::memcpy(out, &bits, kWidth % 8);
}

template <unsigned kWidth>
void unpack_group(const char* from, std::uint64_t base, std::uint64_t* numbers) {
  if constexpr (kWidth == 0) {
    for (std::size_t i = 0; i < kGroup; ++i) numbers[i] = base;
  } else if constexpr (kWidth <= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kWidth);
    for (std::size_t i = 0; i < kGroup; ++i) {
      numbers[i] = base + (word >> (i * kWidth) & ((std::uint64_t{1} << kWidth) - 1));
    }
  } else {
#pragma clang loop unroll(full)
    for (std::size_t i = 0; i < kGroup; ++i) {
      // The word with the first bit of the number, or the last word of the group; never past the
      // group.
      const std::size_t bit = i * kWidth;
      const std::size_t byte = std::min<std::size_t>(bit / 8, kWidth - 8);
      const std::size_t shift = bit - byte * 8;
      std::uint64_t number = load_word(from + byte) >> shift;
      if (shift + kWidth > 64) {
        number |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(from[byte + 8]))
                  << (64 - shift);
      }
      if constexpr (kWidth < 64) number &= (std::uint64_t{1} << kWidth) - 1;
      numbers[i] = base + number;
    }
  }
}

template <unsigned kWidth>
void unpack_groups(const char* from, std::uint64_t base, std::size_t groups,
                   std::uint64_t* numbers) {
  for (; groups > 0; --groups, from += kWidth, numbers += kGroup) {
    unpack_group<kWidth>(from, base, numbers);
  }
}

template <unsigned kWidth>
void pack_groups(const std::uint64_t* numbers, std::size_t groups, char* out) {
  for (; groups > 0; --groups, out += kWidth, numbers += kGroup) pack_group<kWidth>(numbers, out);
}

using Pack = void (*)(const std::uint64_t*, std::size_t, char*);
using Unpack = void (*)(const char*, std::uint64_t, std::size_t, std::uint64_t*);

template <unsigned... kWidths>
constexpr std::array<Pack, 65> make_pack(std::integer_sequence<unsigned, kWidths...>) {
  return {pack_groups<kWidths>...};
}
template <unsigned... kWidths>
constexpr std::array<Unpack, 65> make_unpack(std::integer_sequence<unsigned, kWidths...>) {
  return {unpack_groups<kWidths>...};
}
constexpr auto kPack = make_pack(std::make_integer_sequence<unsigned, 65>());
constexpr auto kUnpack = make_unpack(std::make_integer_sequence<unsigned, 65>());

struct BlockPlan {
  std::uint64_t base = 0;
  unsigned width = 0;
  std::size_t exceptions = 0;
  std::size_t bytes = 0;  // approximate
};

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

std::size_t flat_width(Range range) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(range.most) -
                                                 static_cast<std::uint64_t>(range.least)));
}

Range range_of(std::span<const std::uint64_t> numbers) {
  auto least = static_cast<std::int64_t>(numbers[0]);
  std::int64_t most = least;
  for (const std::uint64_t number : numbers) {
    least = std::min(least, static_cast<std::int64_t>(number));
    most = std::max(most, static_cast<std::int64_t>(number));
  }
  return {least, most};
}

// The smallest width for `numbers` above `base`. A number below the base wraps around to a huge one
// and becomes an exception.
BlockPlan plan_above(std::span<const std::uint64_t> numbers, std::uint64_t base) {
  std::array<std::uint16_t, 65> of_width{};
  for (const std::uint64_t number : numbers) {
    ++of_width[static_cast<std::size_t>(std::bit_width(number - base))];
  }
  unsigned width = 64;
  while (width > 0 && of_width[width] == 0) --width;
  const std::size_t groups = groups_of(numbers.size());
  BlockPlan best{.base = base, .width = width, .exceptions = 0, .bytes = groups * width};
  std::size_t exceptions = 0;
  std::size_t bits = 0;  // of all exceptions
  for (; width > 0; --width) {
    exceptions += of_width[width];
    bits += std::size_t{of_width[width]} * width;
    // An exception takes a byte for its position, then a varint of the bits above the width.
    const std::size_t above = (bits - exceptions * (width - 1)) * 8 / 7 + exceptions * 4;
    const std::size_t bytes = groups * (width - 1) + 1 + exceptions + above / 8;
    if (exceptions < numbers.size() / 4 && bytes < best.bytes) {
      best = {.base = base, .width = width - 1, .exceptions = exceptions, .bytes = bytes};
    }
  }
  best.bytes += 1 + varint_size(zigzag(base));
  return best;
}

// The least number that is not far below nearly all others; `least` if there is none. High outliers
// need no care: they are exceptions to any base.
std::uint64_t base_without_outliers(std::span<const std::uint64_t> numbers, std::int64_t least) {
  constexpr std::size_t kTried = 16;
  if (numbers.size() < kTried) return static_cast<std::uint64_t>(least);
  // Use the second of the samples at either end, because one outlier may be among them.
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  std::int64_t lowest = kMost;
  std::int64_t low = kMost;
  std::int64_t highest = kLeast;
  std::int64_t high = kLeast;
  for (std::size_t i = 0; i < kTried; ++i) {
    const auto number = static_cast<std::int64_t>(numbers[i * numbers.size() / kTried]);
    low = std::min(low, std::max(lowest, number));
    lowest = std::min(lowest, number);
    high = std::max(high, std::min(highest, number));
    highest = std::max(highest, number);
  }
  const std::uint64_t spread = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const std::uint64_t room = static_cast<std::uint64_t>(low) - static_cast<std::uint64_t>(least);
  if (spread >= room / 2) return static_cast<std::uint64_t>(least);
  const std::int64_t fence = low - static_cast<std::int64_t>(spread);  // above `least`
  std::int64_t base = low;
  for (const std::uint64_t number : numbers) {
    const auto value = static_cast<std::int64_t>(number);
    if (value >= fence) base = std::min(base, value);
  }
  return static_cast<std::uint64_t>(base);
}

BlockPlan plan_block(std::span<const std::uint64_t> numbers) {
  const Range range = range_of(numbers);
  const auto least = static_cast<std::uint64_t>(range.least);
  const std::uint64_t spread = static_cast<std::uint64_t>(range.most) - least;
  const auto width = static_cast<unsigned>(std::bit_width(spread));
  if (width <= 1) {
    const std::size_t groups = groups_of(numbers.size());
    return {.base = least,
            .width = width,
            .exceptions = 0,
            .bytes = 1 + varint_size(zigzag(least)) + groups * width};
  }
  BlockPlan plan = plan_above(numbers, least);
  const std::uint64_t base = base_without_outliers(numbers, range.least);
  if (base != least) {
    const BlockPlan above = plan_above(numbers, base);
    if (above.bytes < plan.bytes) plan = above;
  }
  return plan;
}

void append_block(std::span<const std::uint64_t> numbers, Bytes& out) {
  const BlockPlan plan = plan_block(numbers);
  out.push_back(static_cast<char>(plan.width | (plan.exceptions > 0 ? kHasExceptions : 0)));
  append_signed(out, plan.base);
  std::array<std::uint64_t, kPackedBlock> above{};
  for (std::size_t i = 0; i < numbers.size(); ++i) above[i] = numbers[i] - plan.base;
  const std::size_t groups = groups_of(numbers.size());
  const std::size_t begin = out.size();
  out.resize(begin + groups * plan.width);
  kPack[plan.width](above.data(), groups, out.data() + begin);
  if (plan.exceptions == 0) return;
  out.push_back(static_cast<char>(plan.exceptions));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (above[i] >> plan.width == 0) continue;
    out.push_back(static_cast<char>(i));
    append_varint(out, above[i] >> plan.width);
  }
}

// `packed`: complete groups of that width.
void unpack(BytesView packed, unsigned width, std::uint64_t base,
            std::span<std::uint64_t> numbers) {
  const std::size_t whole = numbers.size() / kGroup;
  kUnpack[width](packed.data(), base, whole, numbers.data());
  if (whole * kGroup == numbers.size()) return;
  std::array<std::uint64_t, kGroup> last;
  kUnpack[width](packed.data() + whole * width, base, 1, last.data());
  std::memcpy(numbers.data() + whole * kGroup, last.data(),
              (numbers.size() - whole * kGroup) * sizeof(std::uint64_t));
}

void read_block(Reader& from, std::span<std::uint64_t> numbers) {
  const std::uint8_t head = from.byte();
  const unsigned width = head & 0x7Fu;
  const std::uint64_t base = from.signed_varint();
  const std::size_t groups = groups_of(numbers.size());
  const BytesView packed = from.take(width > 64 ? 0 : groups * width);
  if (width > 64) from.set_bad();
  if (!from.ok()) return;
  unpack(packed, width, base, numbers);
  if ((head & kHasExceptions) == 0) return;
  const std::size_t exceptions = from.byte();
  for (std::size_t i = 0; i < exceptions; ++i) {
    const std::size_t position = from.byte();
    const std::uint64_t high = from.varint();
    if (position >= numbers.size() || width == 64) from.set_bad();
    if (!from.ok()) return;
    numbers[position] += high << width;
  }
}

}  // namespace

void append_packed(std::span<const std::uint64_t> numbers, Bytes& out) {
  for (std::size_t i = 0; i < numbers.size(); i += kPackedBlock) {
    append_block(numbers.subspan(i, std::min(kPackedBlock, numbers.size() - i)), out);
  }
}

std::size_t estimate_packed(std::span<const std::uint64_t> numbers) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < numbers.size(); i += kPackedBlock) {
    bytes += plan_block(numbers.subspan(i, std::min(kPackedBlock, numbers.size() - i))).bytes;
  }
  return bytes;
}

void append_flat(std::span<const std::uint64_t> numbers, Bytes& out) {
  const Range range = range_of(numbers);
  const auto base = static_cast<std::uint64_t>(range.least);
  const std::size_t width = flat_width(range);
  out.push_back(static_cast<char>(width));
  append_signed(out, base);
  std::array<std::uint64_t, kPackedBlock> above{};
  for (std::size_t i = 0; i < numbers.size(); i += kPackedBlock) {
    const auto block = numbers.subspan(i, std::min(kPackedBlock, numbers.size() - i));
    above.fill(0);
    for (std::size_t k = 0; k < block.size(); ++k) above[k] = block[k] - base;
    const std::size_t groups = groups_of(block.size());
    const std::size_t begin = out.size();
    out.resize(begin + groups * width);
    kPack[width](above.data(), groups, out.data() + begin);
  }
}

std::size_t flat_size(std::span<const std::uint64_t> numbers) {
  const Range range = range_of(numbers);
  return 1 + varint_size(zigzag(static_cast<std::uint64_t>(range.least))) +
         groups_of(numbers.size()) * flat_width(range);
}

void read_flat(Reader& from, std::span<std::uint64_t> numbers) {
  const unsigned width = from.byte();
  const std::uint64_t base = from.signed_varint();
  if (width > 64) from.set_bad();
  const BytesView packed = from.take(from.ok() ? groups_of(numbers.size()) * width : 0);
  if (from.ok()) unpack(packed, width, base, numbers);
}

void read_packed(Reader& from, std::span<std::uint64_t> numbers) {
  for (std::size_t i = 0; i < numbers.size() && from.ok(); i += kPackedBlock) {
    read_block(from, numbers.subspan(i, std::min(kPackedBlock, numbers.size() - i)));
  }
}

}  // namespace halite::storage::chunk
