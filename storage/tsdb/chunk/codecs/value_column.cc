#include "storage/tsdb/chunk/codecs/value_column.h"

#include <algorithm>
#include <cmath>

#include "storage/tsdb/chunk/codecs/decimal_floats.h"
#include "storage/tsdb/chunk/codecs/full_doubles.h"

namespace halite::storage::chunk {
namespace {

constexpr double kExactIntegerMax = 0x1p53;  // doubles represent all integers up to here
constexpr std::int64_t kMantissaMax = std::int64_t{1} << 51;
constexpr std::size_t kExceptionBytes = 10;  // approximate: a gap and eight bytes

enum class Mix : std::uint8_t { kIntegers, kDoubles, kBoth };

Mix mix_of(PointsView points) {
  const std::size_t floats = points.float_count();
  if (floats == 0) return Mix::kIntegers;
  return floats == points.size() ? Mix::kDoubles : Mix::kBoth;
}

std::int64_t power_of_ten(unsigned exponent) {
  return static_cast<std::int64_t>(kPowersOfTen[exponent]);
}

// Sets scratch.numbers to mantissas and scratch.exceptions to the positions where these are
// inexact.
void to_decimals(PointsView points, Mix mix, unsigned exponent, ValueScratch& scratch) {
  constexpr std::size_t kBlock = 64;
  constexpr std::size_t kInexactMax = 4;  // blocks; more cost more than exact ones save
  std::size_t inexact = 0;
  const double power = kPowersOfTen[exponent];
  const std::int64_t whole_power = power_of_ten(exponent);
  const std::int64_t integer_most = exponent == 0 ? INT64_MAX : kMantissaMax / whole_power;
  scratch.numbers.resize(points.size());
  scratch.exceptions.clear();
  std::uint64_t before = 0;
  for (std::size_t begin = 0; begin < points.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, points.size());
    if (mix == Mix::kDoubles && inexact < kInexactMax &&
        to_mantissas(points.values.subspan(begin, end - begin), power,
                     scratch.numbers.data() + begin)) {
      before = scratch.numbers[end - 1];
      continue;
    }
    ++inexact;
    for (std::size_t i = begin; i < end; ++i) {
      const ValueBits value = points.values[i];
      Mantissa one;
      if (mix == Mix::kDoubles || points.is_float(i)) {
        one = to_mantissa(as_double(value), power);
      } else {
        const std::int64_t integer = as_integer(value);
        one.exact = exponent == 0 || (integer >= -integer_most && integer <= integer_most);
        if (one.exact) one.mantissa = static_cast<std::uint64_t>(integer * whole_power);
      }
      // An exception repeats its neighbour here, which costs least.
      if (one.exact) {
        before = one.mantissa;
      } else {
        scratch.exceptions.push_back(static_cast<std::uint32_t>(i));
      }
      scratch.numbers[i] = before;
    }
  }
}

void to_ordered(PointsView points, Mix mix, ValueScratch& scratch) {
  scratch.numbers.resize(points.size());
  scratch.exceptions.clear();
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    ValueBits bits = points.values[i];
    if (mix == Mix::kBoth && !points.is_float(i)) {
      const auto number = static_cast<double>(as_integer(bits));
      if (std::fabs(number) >= kExactIntegerMax) {
        scratch.exceptions.push_back(static_cast<std::uint32_t>(i));
        scratch.numbers[i] = before;
        continue;
      }
      bits = double_bits(number);
    }
    scratch.numbers[i] = before = ordered_double(bits);
  }
}

// Whether the integers are exactly the values whose decimal has no fraction.
bool whole_are_integers(PointsView points, unsigned exponent, const ValueScratch& scratch) {
  if (exponent == 0) return false;
  const std::int64_t power = power_of_ten(exponent);
  std::size_t exception = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool has_fraction = static_cast<std::int64_t>(scratch.numbers[i]) % power != 0;
    if (exception < scratch.exceptions.size() && scratch.exceptions[exception] == i) {
      has_fraction = true;  // as the reader assumes
      ++exception;
    }
    if (points.is_float(i) != has_fraction) return false;
  }
  return true;
}

void append_type_runs(PointsView points, Bytes& out) {
  bool is_float = false;
  std::size_t run = 0;
  for (std::size_t i = 0; i < points.size(); ++i, ++run) {
    if (points.is_float(i) == is_float) continue;
    append_varint(out, run);
    is_float = !is_float;
    run = 0;
  }
  append_varint(out, run);
}

void append_exceptions(PointsView points, const ValueScratch& scratch, Bytes& out) {
  append_varint(out, scratch.exceptions.size());
  std::size_t next = 0;
  for (const std::uint32_t position : scratch.exceptions) {
    append_varint(out, position - next);
    next = std::size_t{position} + 1;
  }
  for (const std::uint32_t position : scratch.exceptions) append_be(out, points.values[position]);
}

// Sets scratch.numbers to singles; false if some double is not a single.
bool to_singles(PointsView points, ValueScratch& scratch) {
  scratch.numbers.resize(points.size());
  scratch.exceptions.clear();
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_single(points.values[i])) return false;
    scratch.numbers[i] = ordered_single(static_cast<float>(as_double(points.values[i])));
  }
  return true;
}

struct Mapping {
  ValueCodec codec = ValueCodec::kFullDoubles;
  unsigned exponent = 0;  // of decimals
};

// Chooses the meaning of the column's integers and fills scratch with them.
Mapping map_doubles(PointsView points, Mix mix, bool small, ValueScratch& scratch) {
  const std::optional<unsigned> exponent = decimal_exponent(points);
  if (exponent) {
    to_decimals(points, mix, *exponent, scratch);
    const std::size_t exceptions = scratch.exceptions.size();
    if (exceptions <= points.size() / 64) return {ValueCodec::kDecimals, *exponent};
    const std::size_t decimals =
        estimate_ints(scratch.numbers, small, scratch.ints) + exceptions * kExceptionBytes;
    to_ordered(points, mix, scratch);
    const std::size_t doubles = estimate_ints(scratch.numbers, small, scratch.ints) +
                                scratch.exceptions.size() * kExceptionBytes;
    if (decimals <= doubles) {
      to_decimals(points, mix, *exponent, scratch);
      return {ValueCodec::kDecimals, *exponent};
    }
    return {};
  }
  if (mix == Mix::kDoubles && to_singles(points, scratch)) return {ValueCodec::kSingles, 0};
  to_ordered(points, mix, scratch);
  return {};
}

void read_type_runs(Reader& from, std::size_t count, FloatBits& floats) {
  bool is_float = false;
  for (std::size_t i = 0; i < count && from.ok(); is_float = !is_float) {
    const std::uint64_t run = from.varint();
    // Only the first run may be empty, if the first point is a double.
    if (run > count - i || (run == 0 && (i > 0 || is_float))) return from.set_bad();
    floats.append(run, is_float);
    i += run;
  }
}

struct Exceptions {
  std::vector<std::uint32_t>& positions;
  BytesView values;

  [[nodiscard]] ValueBits value(std::size_t i) const {
    return load_be<std::uint64_t>(values.data() + i * sizeof(ValueBits));
  }
};

Exceptions read_exceptions(Reader& from, std::size_t count, std::vector<std::uint32_t>& positions) {
  positions.clear();
  const std::uint64_t exceptions = from.varint();
  if (exceptions > count) from.set_bad();
  std::uint64_t position = 0;
  for (std::uint64_t i = 0; i < exceptions && from.ok(); ++i) {
    const std::uint64_t gap = from.varint();
    if (gap >= count - position) {
      from.set_bad();
      break;
    }
    position += gap;
    positions.push_back(static_cast<std::uint32_t>(position));
    ++position;
  }
  return {positions, from.take(from.ok() ? exceptions * sizeof(ValueBits) : 0)};
}

void read_whole_integers(std::span<const std::uint64_t> numbers, IndexRange part, unsigned exponent,
                         const Exceptions& exceptions, FloatBits& floats) {
  const std::int64_t power = power_of_ten(exponent);
  std::size_t exception = 0;
  while (exception < exceptions.positions.size() && exceptions.positions[exception] < part.begin) {
    ++exception;
  }
  floats.append(part.begin, false);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    bool has_fraction = static_cast<std::int64_t>(numbers[i]) % power != 0;
    if (exception < exceptions.positions.size() && exceptions.positions[exception] == i) {
      has_fraction = true;
      ++exception;
    }
    floats.push_back(has_fraction);
  }
  floats.append(numbers.size() - part.end, false);
}

// For points of both types: doubles use the column's codec, integers are integers.
void undo_mixed(const FloatBits& floats, std::size_t float_begin, ValueCodec codec,
                unsigned exponent, std::span<ValueBits> values) {
  const std::int64_t power = power_of_ten(exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool is_float = floats[float_begin + i];
    if (codec == ValueCodec::kDecimals) {
      values[i] = is_float ? double_bits(from_mantissa(values[i], kPowersOfTen[exponent]))
                           : integer_bits(as_integer(values[i]) / power);
      continue;
    }
    values[i] = ordered_double(values[i]);
    if (is_float) continue;
    const double number = as_double(values[i]);
    // An exception has its neighbour's number here, which need not be an integer.
    const bool is_integer = std::fabs(number) < kExactIntegerMax;
    values[i] = is_integer ? integer_bits(static_cast<std::int64_t>(number)) : 0;
  }
}

}  // namespace

ValueCodecs append_values(PointsView points, bool small, ValueScratch& scratch, Bytes& out) {
  const Mix mix = mix_of(points);
  if (mix == Mix::kIntegers) {
    append_ints(points.values, small, scratch.ints, out);
    return {TypeCodec::kIntegers, ValueCodec::kIntegers};
  }
  const Mapping mapping = map_doubles(points, mix, small, scratch);
  const bool decimals = mapping.codec == ValueCodec::kDecimals;
  ValueCodecs codecs;
  codecs.values = mapping.codec;
  codecs.types = mix == Mix::kDoubles ? TypeCodec::kDoubles
                 : decimals && whole_are_integers(points, mapping.exponent, scratch)
                     ? TypeCodec::kWholeIntegers
                     : TypeCodec::kRuns;
  if (codecs.types == TypeCodec::kRuns) append_type_runs(points, out);
  if (decimals) out.push_back(static_cast<char>(mapping.exponent));
  append_exceptions(points, scratch, out);
  append_ints(scratch.numbers, small, scratch.ints, out);
  return codecs;
}

void read_values(Reader& from, ValueCodecs codecs, ValueScratch& scratch,
                 std::span<ValueBits> values, FloatBits& floats, IndexRange part) {
  part.end = std::min(part.end, values.size());
  const std::size_t float_begin = floats.size();
  if (codecs.types == TypeCodec::kRuns) read_type_runs(from, values.size(), floats);
  if (codecs.values == ValueCodec::kIntegers) {
    if (codecs.types != TypeCodec::kIntegers) return from.set_bad();
    floats.append(values.size(), false);
    return read_ints(from, scratch.ints, values, part);
  }
  const bool decimals = codecs.values == ValueCodec::kDecimals;
  const unsigned exponent = decimals ? from.byte() : 0;
  const Exceptions exceptions = read_exceptions(from, values.size(), scratch.exceptions);
  const bool by_fraction = codecs.types == TypeCodec::kWholeIntegers;
  if (exponent > kDecimalExponentMax || codecs.types == TypeCodec::kIntegers ||
      (by_fraction && !decimals) ||
      (codecs.values == ValueCodec::kSingles && codecs.types != TypeCodec::kDoubles)) {
    from.set_bad();
  }
  if (!from.ok()) return;
  read_ints(from, scratch.ints, values, part);
  if (!from.ok()) return;

  const std::span<ValueBits> wanted = values.subspan(part.begin, part.end - part.begin);
  if (codecs.types == TypeCodec::kDoubles) {
    floats.append(values.size(), true);
    if (decimals) {
      undo_mantissas(wanted, exponent);
    } else if (codecs.values == ValueCodec::kSingles) {
      undo_singles(wanted);
    } else {
      undo_ordered_doubles(wanted);
    }
  } else {
    if (by_fraction) read_whole_integers(values, part, exponent, exceptions, floats);
    undo_mixed(floats, float_begin + part.begin, codecs.values, exponent, wanted);
  }
  for (std::size_t i = 0; i < exceptions.positions.size(); ++i) {
    values[exceptions.positions[i]] = exceptions.value(i);
  }
}

}  // namespace halite::storage::chunk
