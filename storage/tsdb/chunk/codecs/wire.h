// The small pieces chunks are written in: variable-length numbers, bits, and a reader that cannot
// leave its bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/bytes.h"

namespace halite::storage::chunk {

// Small magnitudes of either sign to small numbers: 0 -1 1 -2 2 to 0 1 2 3 4. Any 64 bits.
[[nodiscard]] inline std::uint64_t zigzag(std::uint64_t value) {
  return (value << 1) ^ (std::uint64_t{0} - (value >> 63));
}
[[nodiscard]] inline std::uint64_t unzigzag(std::uint64_t value) {
  return (value >> 1) ^ (std::uint64_t{0} - (value & 1));
}

// Seven bits a byte, the low ones first; the top bit says that more follow. At most 10 bytes.
inline void append_varint(Bytes& to, std::uint64_t value) {
  char bytes[10];
  std::size_t size = 0;
  while (value >= 0x80) {
    bytes[size++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[size++] = static_cast<char>(value);
  to.append(bytes, size);
}
inline void append_signed(Bytes& to, std::uint64_t value) { append_varint(to, zigzag(value)); }

[[nodiscard]] inline std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Reads from the front. What is missing or malformed makes it bad for good, and everything read
// after that zero or empty: callers ask ok() where it matters, not at each number.
class Reader {
 public:
  explicit Reader(BytesView bytes) : left_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] BytesView left() const { return left_; }
  void set_bad() {
    ok_ = false;
    left_ = {};
  }

  std::uint8_t byte() {
    if (left_.empty()) {
      set_bad();
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      if (shift == 63 && part > 1) break;
      value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
      if (part < 0x80) return value;
    }
    set_bad();
    return 0;
  }
  std::uint64_t signed_varint() { return unzigzag(varint()); }

  // Empty and bad if there are fewer.
  BytesView take(std::size_t size) {
    if (size > left_.size()) {
      set_bad();
      return {};
    }
    const BytesView taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

 private:
  BytesView left_;
  bool ok_ = true;
};

// Numbers of 0 to 64 bits one behind the other, the low bit first; the last byte is filled with
// zeros.
class BitWriter {
 public:
  explicit BitWriter(Bytes& to) : to_(to) {}

  // The bits of `value` above `count` are zero.
  void put(std::uint64_t value, unsigned count) {
    bits_ |= value << filled_;
    if (filled_ + count < 64) {
      filled_ += count;
      return;
    }
    char word[8];
    std::memcpy(word, &bits_, sizeof word);
    static_assert(std::endian::native == std::endian::little);
    to_.append(word, sizeof word);
    bits_ = filled_ == 0 ? 0 : value >> (64 - filled_);
    filled_ = filled_ + count - 64;
  }

  void finish() {
    for (; filled_ > 0; filled_ -= filled_ < 8 ? filled_ : 8) {
      to_.push_back(static_cast<char>(bits_));
      bits_ >>= 8;
    }
  }

 private:
  Bytes& to_;
  std::uint64_t bits_ = 0;
  unsigned filled_ = 0;  // of bits_, below 64
};

// Reads what a BitWriter wrote. For small tables.
class BitReader {
 public:
  explicit BitReader(BytesView bytes) : bytes_(bytes) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t bytes_used() const { return (position_ + 7) / 8; }

  std::uint64_t get(unsigned count) {
    if (count > kWordBits) {
      const std::uint64_t low = get(32);
      return low | get(count - 32) << 32;
    }
    const std::uint64_t value = word() & ((std::uint64_t{1} << count) - 1);
    return skip(count) ? value : 0;
  }

  // Reads ones: up to `most` (at most 32), or fewer and the zero that ends them.
  unsigned ones(unsigned most) {
    const auto count = static_cast<unsigned>(std::countr_one(word()));
    if (count >= most) return skip(most) ? most : 0;
    return skip(count + 1) ? count : 0;
  }

 private:
  static constexpr unsigned kWordBits = 57;  // that word() has at the least

  // The bits that come next, zeros behind the last.
  [[nodiscard]] std::uint64_t word() const {
    const std::size_t at = position_ / 8;
    std::uint64_t word = 0;
    if (bytes_.size() - at >= sizeof word) {
      std::memcpy(&word, bytes_.data() + at, sizeof word);
      static_assert(std::endian::native == std::endian::little);
    } else {
      for (std::size_t i = bytes_.size(); i-- > at;) {
        word = word << 8 | static_cast<std::uint8_t>(bytes_[i]);
      }
    }
    return word >> (position_ % 8);
  }

  bool skip(unsigned count) {
    const std::size_t end = bytes_.size() * 8;
    if (count > end - position_) {
      ok_ = false;
      position_ = end;
      return false;
    }
    position_ += count;
    return true;
  }

  BytesView bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace halite::storage::chunk
