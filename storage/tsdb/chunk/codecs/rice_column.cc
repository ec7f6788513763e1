#include "storage/tsdb/chunk/codecs/rice_column.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <vector>

namespace halite::storage::chunk {
namespace {

constexpr unsigned kQuotientMax = 20;  // this many ones: the number follows in 64 bits

void put_number(std::uint64_t number, BitWriter& to) {
  const auto width = static_cast<unsigned>(std::bit_width(number));
  to.put(width, 7);
  to.put(number, width);
}

std::uint64_t get_number(BitReader& from) {
  const auto width = static_cast<unsigned>(from.get(7));
  return from.get(std::min(width, 64u));
}

std::size_t rice_bits(std::span<const std::uint64_t> numbers, unsigned low) {
  std::size_t bits = 0;
  for (const std::uint64_t number : numbers) {
    const std::uint64_t quotient = number >> low;
    bits += quotient < kQuotientMax ? quotient + 1 + low : kQuotientMax + 64;
  }
  return bits;
}

}  // namespace

void put_rice_column(std::span<const std::uint64_t> numbers, BitWriter& to) {
  if (numbers.empty()) return;
  std::vector<std::uint64_t> distances(numbers.begin(), numbers.end());
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle, {},
                           [](std::uint64_t number) { return static_cast<std::int64_t>(number); });
  const std::uint64_t centre = *middle;
  put_number(zigzag(centre), to);
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    distances[i] = zigzag(numbers[i] - centre);
    any |= distances[i];
  }
  to.put(any == 0 ? 1 : 0, 1);
  if (any == 0) return;
  unsigned best = 0;
  std::size_t best_bits = std::numeric_limits<std::size_t>::max();
  // Above the widest number, each more low bit only costs.
  const unsigned low_end = std::min(64u, static_cast<unsigned>(std::bit_width(any)) + 1);
  for (unsigned low = 0; low < low_end; ++low) {
    const std::size_t bits = rice_bits(distances, low);
    if (bits >= best_bits) continue;
    best_bits = bits;
    best = low;
  }
  to.put(best, 6);
  for (const std::uint64_t distance : distances) {
    const std::uint64_t quotient = distance >> best;
    if (quotient >= kQuotientMax) {
      to.put((1u << kQuotientMax) - 1, kQuotientMax);
      to.put(distance, 64);
      continue;
    }
    to.put((std::uint64_t{1} << quotient) - 1, static_cast<unsigned>(quotient) + 1);
    to.put(distance & ((std::uint64_t{1} << best) - 1), best);
  }
}

void get_rice_column(BitReader& from, std::span<std::uint64_t> numbers) {
  if (numbers.empty()) return;
  const std::uint64_t centre = unzigzag(get_number(from));
  if (from.get(1) == 1) {
    std::ranges::fill(numbers, centre);
    return;
  }
  const auto low = static_cast<unsigned>(from.get(6));
  for (std::uint64_t& number : numbers) {
    const std::uint64_t quotient = from.ones(kQuotientMax);
    const std::uint64_t distance =
        quotient == kQuotientMax ? from.get(64) : (quotient << low) + from.get(low);
    number = unzigzag(distance) + centre;
    if (!from.ok()) return;
  }
}

}  // namespace halite::storage::chunk
