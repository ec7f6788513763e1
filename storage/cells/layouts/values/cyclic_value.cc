#include "storage/cells/layouts/values/cyclic_value.h"

#include <bit>

namespace halite::storage {
namespace {

constexpr std::uint8_t kKnownFlags = kFloat | kMillis | kWide;

unsigned shortest_integer_size(ValueBits bits) {
  // The bits that differ from the sign, and the sign bit.
  const ValueBits magnitude = as_integer(bits) < 0 ? ~bits : bits;
  return bits == 0 ? 0 : static_cast<unsigned>(std::bit_width(magnitude)) / 8 + 1;
}

unsigned shortest_double_size(ValueBits bits) {
  return bits == 0 ? 0 : 8 - static_cast<unsigned>(std::countr_zero(bits)) / 8;
}

}  // namespace

Bytes cyclic_value(ValueBits value, std::uint8_t point_flags) {
  Bytes bytes(1, static_cast<char>(point_flags & kKnownFlags));
  if ((point_flags & kFloat) != 0) {
    const unsigned size = shortest_double_size(value);
    append_be_width(bytes, size == 0 ? 0 : value >> (8 * (8 - size)), size);
  } else {
    append_be_width(bytes, value, shortest_integer_size(value));
  }
  return bytes;
}

std::optional<PointValue> read_cyclic_value(BytesView value) {
  if (value.empty() || value.size() > 9) return std::nullopt;
  PointValue point;
  point.flags = static_cast<std::uint8_t>(value.front());
  if ((point.flags & ~kKnownFlags) != 0) return std::nullopt;
  const BytesView payload = value.substr(1);
  const auto size = static_cast<unsigned>(payload.size());
  if (size == 0) return point;
  const std::uint64_t bits = load_be_width(payload);
  const unsigned shift = 8 * (8 - size);
  if ((point.flags & kFloat) != 0) {
    point.bits = bits << shift;
    if (shortest_double_size(point.bits) != size) return std::nullopt;
  } else {
    point.bits = integer_bits(as_integer(bits << shift) >> shift);
    if (shortest_integer_size(point.bits) != size) return std::nullopt;
  }
  return point;
}

}  // namespace halite::storage
