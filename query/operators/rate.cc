#include "query/operators/rate.h"

#include <cstddef>

namespace halite::query {
namespace {

// a - b + c in 64 bits that wrap.
double wrapped(ValueBits a, ValueBits b, ValueBits c) {
  return static_cast<double>(as_integer(a - b + c));
}

}  // namespace

void RateOperator::add(const PointColumns& points, PointColumns& out) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    const TimestampMs before = time_;
    const ValueBits base = value_;
    const bool base_is_float = is_float_;
    time_ = points.times[i];
    value_ = points.values[i];
    is_float_ = points.floats[i] != 0;

    const bool integers = !base_is_float && !is_float_;
    const double seconds = static_cast<double>(time_ - before) / 1000.0;
    const double now = double_of(value_, is_float_);
    const double then = double_of(base, base_is_float);
    const double difference = integers ? wrapped(value_, base, 0) : now - then;
    if (!spec_.counter || !(difference < 0)) {
      out.push(time_, difference / seconds);
      continue;
    }
    if (spec_.drop_resets) continue;
    const double rolled = integers ? wrapped(integer_bits(spec_.counter_max), base, value_)
                                   : static_cast<double>(spec_.counter_max) - then + now;
    const double rate = rolled / seconds;
    const bool reset = spec_.reset_value > 0 && rate > static_cast<double>(spec_.reset_value);
    out.push(time_, reset ? 0.0 : rate);
  }
}

}  // namespace halite::query
