// A run of one series' points in columns: the input and output of the chunk codecs.
//
//   Order    by time, without duplicate times: decoders guarantee it, encoders require it.
//   Exact    values are 64-bit patterns (data_point.h) and are not interpreted here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::storage::chunk {

// One bit for each point: whether its value is a double. Bit i is words()[i / 64] >> (i % 64) & 1;
// bits past size() are zero.
class FloatBits {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool operator[](std::size_t i) const {
    return (words_[i / 64] >> (i % 64) & 1) != 0;
  }
  [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }

  void push_back(bool is_float) {
    if (size_ % 64 == 0) words_.push_back(0);
    words_.back() |= std::uint64_t{is_float} << (size_ % 64);
    ++size_;
  }
  void append(std::size_t count, bool is_float);
  // Appends `count` bits of `words`, from bit `begin`.
  void append(std::span<const std::uint64_t> words, std::size_t begin, std::size_t count);
  void truncate(std::size_t size);  // restores an earlier, shorter state
  void clear();

  bool operator==(const FloatBits&) const = default;

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

// A view of columns. times and values have the same length.
struct PointsView {
  std::span<const TimestampMs> times;
  std::span<const ValueBits> values;
  std::span<const std::uint64_t> float_words;  // layout as in FloatBits
  std::size_t float_begin = 0;                 // bit of the first point in float_words

  [[nodiscard]] std::size_t size() const { return times.size(); }
  [[nodiscard]] bool is_float(std::size_t i) const {
    const std::size_t bit = float_begin + i;
    return (float_words[bit / 64] >> (bit % 64) & 1) != 0;
  }
  [[nodiscard]] PointsView slice(std::size_t begin, std::size_t count) const {
    return {times.subspan(begin, count), values.subspan(begin, count), float_words,
            float_begin + begin};
  }
  // The number of doubles among the values.
  [[nodiscard]] std::size_t float_count() const;
};

struct Points {
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  FloatBits floats;

  [[nodiscard]] std::size_t size() const { return times.size(); }
  [[nodiscard]] bool empty() const { return times.empty(); }
  [[nodiscard]] PointsView view() const { return {times, values, floats.words(), 0}; }
  [[nodiscard]] PointsView within(TimeRange range) const;

  void push_back(TimestampMs time, ValueBits value, bool is_float) {
    times.push_back(time);
    values.push_back(value);
    floats.push_back(is_float);
  }
  void append(PointsView points);
  void clear();

  bool operator==(const Points&) const = default;
};

}  // namespace halite::storage::chunk
