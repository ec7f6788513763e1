#include "web/handlers/xor_chunk.h"

#include <algorithm>
#include <array>
#include <bit>

#include "common/bytes/varint.h"

namespace halite::web {
namespace {

struct ChangeSize {
  unsigned mark = 0;
  unsigned mark_bits = 0;
  unsigned bits = 0;
};

constexpr std::array kChangeSizes = {ChangeSize{.mark = 0b10, .mark_bits = 2, .bits = 14},
                                     ChangeSize{.mark = 0b110, .mark_bits = 3, .bits = 17},
                                     ChangeSize{.mark = 0b1110, .mark_bits = 4, .bits = 20}};

// The numbers of a size are one more than those of a two's complement: the least is not used, and
// stands for one more than the greatest.
bool fits(std::int64_t change, unsigned bits) {
  const std::int64_t greatest = std::int64_t{1} << (bits - 1);
  return change > -greatest && change <= greatest;
}

}  // namespace

void XorChunk::append(TimestampMs time, ValueBits value) {
  const auto distance = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(time_);
  if (size_ == 0) {
    first_ = time;
    put_varint(zigzag(static_cast<std::uint64_t>(time)));
    put_bits(value, 64);
  } else {
    if (size_ == 1) {
      put_varint(distance);
    } else {
      put_change(distance - distance_);
    }
    put_value(value);
    distance_ = distance;
  }
  time_ = time;
  value_ = value;
  ++size_;
  bytes_[0] = static_cast<char>(size_ >> 8);
  bytes_[1] = static_cast<char>(size_);
}

void XorChunk::put_bits(std::uint64_t bits, unsigned count) {
  while (count > 0) {
    if (free_bits_ == 0) {
      bytes_ += '\0';
      free_bits_ = 8;
    }
    const unsigned taken = std::min(free_bits_, count);
    count -= taken;
    free_bits_ -= taken;
    const std::uint64_t part = (bits >> count) & ((1U << taken) - 1);
    bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) |
                                      static_cast<unsigned char>(part << free_bits_));
  }
}

void XorChunk::put_varint(std::uint64_t number) {
  std::string text;
  append_varint(text, number);
  for (const char byte : text) put_bits(static_cast<unsigned char>(byte), 8);
}

void XorChunk::put_change(std::uint64_t change) {
  if (change == 0) {
    put_bits(0, 1);
    return;
  }
  const auto* const size = std::ranges::find_if(kChangeSizes, [change](const ChangeSize& one) {
    return fits(static_cast<std::int64_t>(change), one.bits);
  });
  if (size == kChangeSizes.end()) {
    put_bits(0b1111, 4);
    put_bits(change, 64);
    return;
  }
  put_bits(size->mark, size->mark_bits);
  put_bits(change, size->bits);
}

void XorChunk::put_value(ValueBits value) {
  const std::uint64_t difference = value ^ value_;
  if (difference == 0) {
    put_bits(0, 1);
    return;
  }
  constexpr int kLeadingZerosMax = 31;  // what 5 bits can say
  const auto leading =
      static_cast<unsigned>(std::min(std::countl_zero(difference), kLeadingZerosMax));
  const auto trailing = static_cast<unsigned>(std::countr_zero(difference));
  if (any_zeros_ && leading >= leading_zeros_ && trailing >= trailing_zeros_) {
    put_bits(0b10, 2);
    put_bits(difference >> trailing_zeros_, 64 - leading_zeros_ - trailing_zeros_);
    return;
  }
  any_zeros_ = true;
  leading_zeros_ = leading;
  trailing_zeros_ = trailing;
  const unsigned bits = 64 - leading - trailing;
  put_bits(0b11, 2);
  put_bits(leading, 5);
  put_bits(bits, 6);  // 64 as 0
  put_bits(difference >> trailing, bits);
}

}  // namespace halite::web
