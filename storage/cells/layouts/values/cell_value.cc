#include "storage/cells/layouts/values/cell_value.h"

#include <bit>
#include <limits>

#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {
namespace {

constexpr ValueBits kSign = ValueBits{1} << 63;
constexpr ValueBits kExponent = ValueBits{0x7FF} << 52;
constexpr ValueBits kMantissa = (ValueBits{1} << 52) - 1;
constexpr unsigned kMantissaCut = 52 - 23;

bool is_nan(ValueBits bits) { return (bits & kExponent) == kExponent && (bits & kMantissa) != 0; }

// NaNs are converted bit by bit, because the processor would make a signalling NaN quiet.
std::uint32_t narrow(ValueBits bits) {
  if (is_nan(bits)) {
    return static_cast<std::uint32_t>((bits & kSign) >> 32) | 0x7F800000u |
           static_cast<std::uint32_t>((bits & kMantissa) >> kMantissaCut);
  }
  return std::bit_cast<std::uint32_t>(static_cast<float>(as_double(bits)));
}

ValueBits widen(std::uint32_t single) {
  if ((single & 0x7F800000u) == 0x7F800000u && (single & 0x007FFFFFu) != 0) {
    return ValueBits{single & 0x80000000u} << 32 | kExponent |
           ValueBits{single & 0x007FFFFFu} << kMantissaCut;
  }
  return double_bits(static_cast<double>(std::bit_cast<float>(single)));
}

template <class T>
bool fits(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

unsigned power_of_two_size(std::int64_t value) {
  if (fits<std::int8_t>(value)) return 1;
  if (fits<std::int16_t>(value)) return 2;
  if (fits<std::int32_t>(value)) return 4;
  return 8;
}

std::optional<PointValue> read_float(std::uint8_t flags, BytesView value) {
  if (value.size() == 4) return PointValue{widen(load_be<std::uint32_t>(value.data())), kFloat};
  if (value.size() != 8) return std::nullopt;
  if (value_size(flags) != 4) {
    return PointValue{load_be<std::uint64_t>(value.data()),
                      static_cast<std::uint8_t>(kFloat | kWide)};
  }
  if (load_be<std::uint32_t>(value.data()) != 0) return std::nullopt;
  return PointValue{widen(load_be<std::uint32_t>(value.data() + 4)), kFloat};
}

}  // namespace

bool fits_single(ValueBits double_value) {
  if (is_nan(double_value)) return widen(narrow(double_value)) == double_value;
  const double number = as_double(double_value);
  // The conversion is undefined outside float's range, so this is tested first; infinities are
  // valid.
  if (number > std::numeric_limits<float>::max() || number < std::numeric_limits<float>::lowest()) {
    return number == std::numeric_limits<double>::infinity() ||
           number == -std::numeric_limits<double>::infinity();
  }
  return widen(narrow(double_value)) == double_value;
}

std::uint8_t append_value(Bytes& to, ValueBits value, std::uint8_t point_flags) {
  if ((point_flags & kFloat) == 0) {
    const unsigned size = power_of_two_size(as_integer(value));
    append_be_width(to, value, size);
    return static_cast<std::uint8_t>(size - 1);
  }
  if ((point_flags & kWide) == 0 && fits_single(value)) {
    append_be<std::uint32_t>(to, narrow(value));
    return kQualifierFloat | 3;
  }
  append_be<std::uint64_t>(to, value);
  return kQualifierFloat | 7;
}

std::optional<PointValue> read_value(std::uint8_t flags, BytesView value) {
  if ((flags & kQualifierFloat) != 0) return read_float(flags, value);
  switch (value.size()) {
    case 1:
      return PointValue{integer_bits(static_cast<std::int8_t>(value.front())), 0};
    case 2:
      return PointValue{
          integer_bits(std::bit_cast<std::int16_t>(load_be<std::uint16_t>(value.data()))), 0};
    case 4:
      return PointValue{
          integer_bits(std::bit_cast<std::int32_t>(load_be<std::uint32_t>(value.data()))), 0};
    case 8:
      return PointValue{load_be<std::uint64_t>(value.data()), 0};
    default:
      return std::nullopt;
  }
}

}  // namespace halite::storage
