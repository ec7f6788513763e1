#include "storage/tsdb/chunk/codecs/number.h"

#include <bit>

namespace halite::storage::chunk {
namespace {

constexpr std::uint8_t kIsFloat = 0x80;
constexpr std::uint8_t kLengthMax = 8;

}  // namespace

void append_number(Bytes& to, ValueBits value, bool is_float) {
  // Zigzag puts the sign of an integer into the low bit, so that small negative ones are short too.
  const std::uint64_t bits = is_float ? value : zigzag(value);
  const unsigned zero_bits =
      static_cast<unsigned>(is_float ? std::countr_zero(bits) : std::countl_zero(bits));
  const unsigned length = kLengthMax - zero_bits / 8;
  to.push_back(static_cast<char>(length | (is_float ? kIsFloat : 0)));
  append_be_width(to, is_float && length > 0 ? bits >> (64 - 8 * length) : bits, length);
}

TypedValue read_number(Reader& from) {
  const std::uint8_t head = from.byte();
  const bool is_float = (head & kIsFloat) != 0;
  const unsigned length = head & 0x7Fu;
  if (length > kLengthMax) from.set_bad();
  const BytesView bytes = from.take(length > kLengthMax ? 0 : length);
  if (!from.ok() || length == 0) return {0, is_float};
  const std::uint64_t bits = load_be_width(bytes);
  return {is_float ? bits << (64 - 8 * length) : unzigzag(bits), is_float};
}

}  // namespace halite::storage::chunk
