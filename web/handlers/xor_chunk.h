// A chunk of samples with doubles, in the encoding XOR of Prometheus (tsdb/chunkenc/xor.go there):
//
//   number of samples (2 bytes, big-endian)
//   first sample    its time (zigzag varint), its value (64 bits)
//   second one      the distance of its time (varint), its value as below
//   others          the difference of that distance to the last one: 0, or 10, 110, 1110, 1111 and
//                   14, 17, 20, 64 bits
//                   the value XOR the last one: 0 if it is 0; 10 and the bits between the zeros of
//                   an earlier one; 11, the number of leading zeros (5 bits), of bits (6; 0: 64),
//                   and the bits
//
// Bits fill bytes from the highest one. Gorilla (Pelkonen et al., 2015) describes the idea.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::web {

class XorChunk {
 public:
  static constexpr std::size_t kSamplesMax = 120;  // as many as Prometheus puts into one

  // Times ascend. The value is that of a double. At most kSamplesMax.
  void append(TimestampMs time, ValueBits value);

  [[nodiscard]] std::size_t size() const { return size_; }
  // The following need a sample.
  [[nodiscard]] TimestampMs first() const { return first_; }
  [[nodiscard]] TimestampMs last() const { return time_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  void put_bits(std::uint64_t bits, unsigned count);  // the lowest ones
  void put_varint(std::uint64_t number);
  void put_change(std::uint64_t change);
  void put_value(ValueBits value);

  std::string bytes_ = std::string(2, '\0');
  unsigned free_bits_ = 0;  // of the last byte
  std::size_t size_ = 0;
  TimestampMs first_ = 0;
  // Of the last sample.
  TimestampMs time_ = 0;
  std::uint64_t distance_ = 0;
  ValueBits value_ = 0;
  // Of the bits that a value may use again.
  bool any_zeros_ = false;
  unsigned leading_zeros_ = 0;
  unsigned trailing_zeros_ = 0;
};

}  // namespace halite::web
