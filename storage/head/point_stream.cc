#include "storage/head/point_stream.h"

namespace halite::storage {

using namespace point_stream;  // NOLINT(google-build-using-namespace): its own inside

namespace {

std::uint64_t unzigzag(std::uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

std::uint64_t load_low(const std::uint8_t* from, unsigned length) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < length; ++i) value |= std::uint64_t{from[i]} << (8 * i);
  return value;
}

std::uint64_t take_varint(const std::uint8_t*& from) {
  std::uint64_t value = 0;
  unsigned shift = 0;
  while ((*from & 0x80) != 0) {
    value |= std::uint64_t{*from++ & 0x7FU} << shift;
    shift += 7;
  }
  return value | std::uint64_t{*from++} << shift;
}

}  // namespace

StreamPoint decode_point(const std::uint8_t*& from, StreamState& state) {
  const std::uint8_t control = *from++;
  auto step = static_cast<std::uint64_t>(std::int64_t{state.step});
  if ((control & kShortBit) != 0) {
    state.time = static_cast<TimestampMs>(static_cast<std::uint64_t>(state.time) + step);
    state.value += unzigzag(control & ~std::uint64_t{kShortBit});
    return {.time = state.time, .value = state.value, .is_float = false};
  }
  if ((control & kTimeBit) != 0) step += unzigzag(take_varint(from));
  state.time = static_cast<TimestampMs>(static_cast<std::uint64_t>(state.time) + step);
  state.step = kept_step(step);
  const unsigned length = control & kLengthMask;
  std::uint64_t change = load_low(from, length);
  from += length;
  const bool is_float = (control & kFloatBit) != 0;
  if (is_float) {
    if ((control & kHighBit) != 0) change <<= 8 * (8 - length);
    state.value ^= change;
  } else {
    state.value += unzigzag(change);
  }
  return {.time = state.time, .value = state.value, .is_float = is_float};
}

}  // namespace halite::storage
