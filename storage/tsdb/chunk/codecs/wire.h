// The elements of chunk encodings: variable-length numbers, bits, and a reader that cannot leave
// its bytes.
//
// Over 140 lines because the reader and the writer of each encoding stand side by side.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/bytes/bytes.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"

namespace halite::storage::chunk {

inline void append_signed(Bytes& to, std::uint64_t value) { append_varint(to, zigzag(value)); }

// Reads from the front. Missing or malformed bytes make it permanently bad; later reads return zero
// or nothing. So check ok() at the end, not after each number.
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
    const std::optional<std::uint64_t> value = take_varint(left_);
    if (!value) set_bad();
    return value.value_or(0);
  }
  std::uint64_t signed_varint() { return unzigzag(varint()); }

  // Marks the reader bad and returns nothing if there are fewer bytes.
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

// Writes numbers of 0 to 64 bits without gaps, low bit first. The last byte is padded with zeros.
class BitWriter {
 public:
  explicit BitWriter(Bytes& to) : to_(to) {}

  // The bits of `value` above `count` must be zero.
  void put(std::uint64_t value, unsigned count) {
    bits_ |= value << filled_;
    if (filled_ + count < 64) {
      filled_ += count;
      return;
    }
    append_le(to_, bits_);
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

// Reads what a BitWriter wrote. Intended for small tables.
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

  // Reads consecutive ones: `most` (at most 32), or fewer and the zero that ends them.
  unsigned ones(unsigned most) {
    const auto count = static_cast<unsigned>(std::countr_one(word()));
    if (count >= most) return skip(most) ? most : 0;
    return skip(count + 1) ? count : 0;
  }

 private:
  static constexpr unsigned kWordBits = 57;  // minimum that word() returns

  // The next bits, with zeros after the last.
  [[nodiscard]] std::uint64_t word() const {
    const std::size_t at = position_ / 8;
    std::uint64_t word = 0;
    if (bytes_.size() - at >= sizeof word) {
      word = load_le<std::uint64_t>(bytes_.data() + at);
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
