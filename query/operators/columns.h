// The points of a series between two operators: columns of times, values and types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"

namespace halite::query {

// The value as a double, whatever its type.
[[nodiscard]] inline double double_of(ValueBits value, bool is_float) {
  return is_float ? as_double(value) : static_cast<double>(as_integer(value));
}

struct PointColumns {
  std::vector<TimestampMs> times;  // strictly ascending
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> floats;  // 1: values[i] is a double

  static constexpr std::size_t kBytesPerPoint =
      sizeof(TimestampMs) + sizeof(ValueBits) + sizeof(std::uint8_t);

  [[nodiscard]] std::size_t size() const { return times.size(); }
  [[nodiscard]] bool empty() const { return times.empty(); }

  void push(TimestampMs time, ValueBits value, bool is_float) {
    times.push_back(time);
    values.push_back(value);
    floats.push_back(is_float ? 1 : 0);
  }
  void push(TimestampMs time, double value) { push(time, double_bits(value), true); }

  void reserve(std::size_t size) {
    times.reserve(size);
    values.reserve(size);
    floats.reserve(size);
  }
  void clear() { truncate(0); }
  void truncate(std::size_t size) { resize(size); }
  void resize(std::size_t size) {
    times.resize(size);
    values.resize(size);
    floats.resize(size);
  }
  void shrink_to_fit() {
    times.shrink_to_fit();
    values.shrink_to_fit();
    floats.shrink_to_fit();
  }
  // Removes the first `count` points.
  void drop_front(std::size_t count) {
    const auto n = static_cast<std::ptrdiff_t>(count);
    times.erase(times.begin(), times.begin() + n);
    values.erase(values.begin(), values.begin() + n);
    floats.erase(floats.begin(), floats.begin() + n);
  }

  [[nodiscard]] double number(std::size_t i) const { return double_of(values[i], floats[i] != 0); }
};

}  // namespace halite::query
