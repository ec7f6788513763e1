#include "storage/chunk/head_block.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/check.h"
#include "storage/chunk/decimal_floats.h"
#include "storage/chunk/full_doubles.h"
#include "storage/chunk/packed_ints.h"
#include "storage/chunk/wire.h"

// A block: the number of points less one, 0x80 for a constant step; the first time; the step, or
// the steps packed. Then a byte of types (bits 0 and 1), of kHasSteps for values as differences,
// and of how numbers become values (bits 3 to 7); for both types a bit a point; the first number;
// the numbers less it, or their differences, packed.
namespace halite::storage::chunk {
namespace {

constexpr std::uint8_t kSteady = 0x80;
constexpr std::uint8_t kHasSteps = 0x04;
constexpr unsigned kCodecShift = 3;
constexpr unsigned kOrdered = 16;  // below it: decimals with that exponent
constexpr unsigned kIntegers = 17;
constexpr unsigned kBits = 18;  // integers and doubles as they are
enum Types : std::uint8_t { kNoFloats, kAllFloats, kSomeFloats };

using Numbers = std::array<std::uint64_t, kHeadBlockPointsMax>;

// The exponent all doubles of the block need; kOrdered if one is no decimal.
unsigned exponent_of(PointsView points, Types types) {
  unsigned exponent = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (types == kSomeFloats && !points.is_float(i)) continue;
    const double value = as_double(points.values[i]);
    while (!to_mantissa(value, kPowersOfTen[exponent]).exact) {
      if (++exponent > kDecimalExponentMax) return kOrdered;
    }
  }
  return exponent;
}

// Fills `numbers` and says by which codec.
unsigned to_numbers(PointsView points, Types types, Numbers& numbers) {
  const std::size_t count = points.size();
  if (types == kNoFloats) {
    std::ranges::copy(points.values, numbers.begin());
    return kIntegers;
  }
  const unsigned exponent = exponent_of(points, types);
  if (exponent <= kDecimalExponentMax) {
    const double power = kPowersOfTen[exponent];
    const auto whole_power = static_cast<std::int64_t>(power);
    bool fits = true;
    for (std::size_t i = 0; i < count && fits; ++i) {
      if (types == kAllFloats || points.is_float(i)) {
        // A later double may have raised the exponent beyond what an earlier one can bear.
        const Mantissa one = to_mantissa(as_double(points.values[i]), power);
        fits = one.exact;
        numbers[i] = one.mantissa;
      } else {
        std::int64_t mantissa = 0;
        fits = !__builtin_mul_overflow(as_integer(points.values[i]), whole_power, &mantissa);
        numbers[i] = static_cast<std::uint64_t>(mantissa);
      }
    }
    if (fits) return exponent;
  }
  if (types == kSomeFloats) {
    std::ranges::copy(points.values, numbers.begin());
    return kBits;
  }
  for (std::size_t i = 0; i < count; ++i) numbers[i] = ordered_double(points.values[i]);
  return kOrdered;
}

std::uint64_t spread(std::span<const std::uint64_t> numbers) {
  auto least = static_cast<std::int64_t>(numbers[0]);
  std::int64_t most = least;
  for (const std::uint64_t number : numbers) {
    least = std::min(least, static_cast<std::int64_t>(number));
    most = std::max(most, static_cast<std::int64_t>(number));
  }
  return static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
}

void append_block_times(std::span<const TimestampMs> times, Bytes& out) {
  Numbers steps{};
  const std::size_t count = times.size() - 1;
  std::uint64_t differing = 0;
  for (std::size_t i = 0; i < count; ++i) {
    steps[i] = static_cast<std::uint64_t>(times[i + 1]) - static_cast<std::uint64_t>(times[i]);
    differing |= steps[i] ^ steps[0];
  }
  out.push_back(static_cast<char>(count | (differing == 0 ? kSteady : 0)));
  append_signed(out, static_cast<std::uint64_t>(times[0]));
  if (differing == 0) {
    append_varint(out, steps[0]);
  } else {
    append_packed(std::span(steps).first(count), out);
  }
}

void append_numbers(std::span<std::uint64_t> numbers, Bytes& out, std::uint8_t& head) {
  append_signed(out, numbers[0]);
  if (numbers.size() == 1) return;
  Numbers steps{};
  for (std::size_t i = 1; i < numbers.size(); ++i) steps[i - 1] = numbers[i] - numbers[i - 1];
  const auto differences = std::span(steps).first(numbers.size() - 1);
  const std::uint64_t first = numbers[0];
  for (std::uint64_t& number : numbers) number -= first;
  if (spread(differences) < spread(numbers)) {
    head |= kHasSteps;
    append_packed(differences, out);
  } else {
    append_packed(numbers.subspan(1), out);
  }
}

bool read_block_times(Reader& from, bool steady, std::span<TimestampMs> times) {
  std::uint64_t time = from.signed_varint();
  Numbers steps{};
  const std::size_t count = times.size() - 1;
  if (steady) {
    const std::uint64_t step = from.varint();
    std::fill_n(steps.begin(), count, step);
  } else {
    read_packed(from, std::span(steps).first(count));
  }
  times[0] = static_cast<TimestampMs>(time);
  for (std::size_t i = 0; i < count; ++i) {
    time += steps[i];
    times[i + 1] = static_cast<TimestampMs>(time);
  }
  return from.ok();
}

void undo_numbers(const FloatBits& floats, std::size_t begin, unsigned codec,
                  std::span<ValueBits> values) {
  if (codec == kOrdered) return undo_ordered_doubles(values);
  if (codec > kDecimalExponentMax) return;
  const double power = kPowersOfTen[codec];
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = floats[begin + i]
                    ? double_bits(from_mantissa(values[i], power))
                    : integer_bits(as_integer(values[i]) / static_cast<std::int64_t>(power));
  }
}

// The types, then the values, of as many points as `values` has room for.
void read_block_values(Reader& from, FloatBits& floats, std::span<ValueBits> values) {
  const std::uint8_t head = from.byte();
  const unsigned types = head & 3u;
  const unsigned codec = head >> kCodecShift;
  const std::size_t begin = floats.size();
  if (types > kSomeFloats || codec > kBits) return from.set_bad();
  if (types == kSomeFloats) {
    const BytesView bits = from.take((values.size() + 7) / 8);
    for (std::size_t i = 0; i < values.size() && from.ok(); ++i) {
      floats.push_back((static_cast<std::uint8_t>(bits[i / 8]) >> (i % 8) & 1) != 0);
    }
  } else {
    floats.append(values.size(), types == kAllFloats);
  }
  const std::uint64_t first = from.signed_varint();
  read_packed(from, values.subspan(1));
  if (!from.ok()) return;
  values[0] = first;
  std::uint64_t before = first;
  for (std::uint64_t& value : values.subspan(1)) {
    value += before;
    before = (head & kHasSteps) != 0 ? value : first;
  }
  undo_numbers(floats, begin, codec, values);
}

}  // namespace

void append_head_block(PointsView points, Bytes& out) {
  const std::size_t count = points.size();
  HALITE_CHECK(count > 0 && count <= kHeadBlockPointsMax, "a head block of 1 to 128 points");
  append_block_times(points.times, out);
  const std::size_t floats = points.float_count();
  const Types types = floats == 0 ? kNoFloats : floats == count ? kAllFloats : kSomeFloats;
  Numbers numbers;
  const unsigned codec = to_numbers(points, types, numbers);
  const std::size_t head_at = out.size();
  auto head = static_cast<std::uint8_t>(types | codec << kCodecShift);
  out.push_back(0);
  if (types == kSomeFloats) {
    for (std::size_t i = 0; i < count; i += 8) {
      unsigned bits = 0;
      for (std::size_t k = i; k < std::min(i + 8, count); ++k) {
        bits |= (points.is_float(k) ? 1u : 0u) << (k - i);
      }
      out.push_back(static_cast<char>(bits));
    }
  }
  append_numbers(std::span(numbers).first(count), out, head);
  out[head_at] = static_cast<char>(head);
}

Result<void> decode_head_block(BytesView& blocks, Points& out) {
  Reader from(blocks);
  const std::uint8_t head = from.byte();
  const std::size_t count = (head & ~std::size_t{kSteady}) + 1;
  const std::size_t begin = out.size();
  out.times.resize(begin + count);
  out.values.resize(begin + count);
  if (read_block_times(from, (head & kSteady) != 0, std::span(out.times).subspan(begin))) {
    read_block_values(from, out.floats, std::span(out.values).subspan(begin));
  }
  if (!from.ok()) {
    out.times.resize(begin);
    out.values.resize(begin);
    out.floats.truncate(begin);
    return fail(Errc::kCorruption, "a head block ends early or is no head block");
  }
  blocks = from.left();
  return {};
}

}  // namespace halite::storage::chunk
