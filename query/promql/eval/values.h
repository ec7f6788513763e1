// What expressions evaluate to: columns with one value for each step of the query.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"
#include "query/promql/eval/labels.h"

namespace halite::query::promql {

// The times at which an expression is evaluated: begin, begin + step, ...
struct Steps {
  TimestampMs begin = 0;
  std::int64_t step_ms = 1;  // > 0
  std::size_t count = 1;     // > 0

  [[nodiscard]] TimestampMs at(std::size_t i) const {
    return begin + static_cast<std::int64_t>(i) * step_ms;
  }
  [[nodiscard]] TimestampMs last() const { return at(count - 1); }
  bool operator==(const Steps&) const = default;
};

// In a column: no value at this step. It is the staleness marker, which is never a value. No
// arithmetic results in it: it is a signalling NaN.
inline constexpr double kAbsent = std::bit_cast<double>(kStaleMarker);
[[nodiscard]] inline bool is_absent(double value) {
  return std::bit_cast<std::uint64_t>(value) == kStaleMarker;
}
[[nodiscard]] inline bool is_present(double value) { return !is_absent(value); }

// Steps of many rows that are computed together: a cache line of each column, and
// a bit for each in a byte.
inline constexpr std::size_t kStepsTogether = 8;

// An element of an instant vector over all steps.
struct Row {
  Labels labels;
  std::vector<double> values;  // one for each step, or kAbsent
};

// No two rows with equal labels have values at the same step.
struct Vector {
  std::vector<Row> rows;
  bool ordered = false;  // the order of the rows is part of the result: sort(), topk()
};

struct Scalar {
  std::vector<double> values;  // one for each step, none absent
};

// Of a query with one step only: a range vector that no function consumes.
struct MatrixRow {
  Labels labels;
  std::vector<TimestampMs> times;
  std::vector<double> values;
};
struct Matrix {
  std::vector<MatrixRow> rows;
};

using Value = std::variant<Scalar, std::string, Vector, Matrix>;

// A sample of a counter whose value is below the one before it.
struct CounterReset {
  std::size_t place = 0;  // of the sample; places grow
  double before = 0;      // the value before it
};

// What rate() and its like make of the times of a window alone. Windows of regular samples repeat,
// so that it is computed once for many of them.
struct Extrapolation {
  // Of the window that it is for, in milliseconds.
  std::int64_t before = 0;   // from its begin to the first sample
  std::int64_t sampled = 0;  // from the first sample to the last one
  std::int64_t behind = 0;   // from the last sample to its end
  std::size_t size = 0;      // samples; 0: it is for none yet

  // In seconds.
  double sampled_s = 0;
  double to_begin_s = 0;  // how far it reaches before the first sample and behind the last one
  double to_end_s = 0;
  double range_s = 0;
  double factor = 0;  // by how much a difference grows: of increase(), and of rate()
  double factor_per_second = 0;
};

// Samples of a series in a window of time: begin is excluded, end is included. Functions that
// extend it also get samples around it.
struct Window {
  const TimestampMs* times = nullptr;  // ascending
  const double* values = nullptr;      // none is a staleness marker
  std::size_t size = 0;                // > 0
  TimestampMs begin = 0;
  TimestampMs end = 0;
  TimestampMs now = 0;  // the time of the evaluation; differs from `end` with offset and @
  // Of the samples but the first, if the maker of the window knows them.
  std::optional<std::span<const CounterReset>> resets = {};
  Extrapolation* extrapolation = nullptr;  // that of an earlier window; null: none is kept
};

// Windows of samples at equal distances. Each window and its samples are those of the window before
// it, `shift` samples later.
struct ShiftedWindows {
  Window first;
  std::size_t shift = 0;  // in samples
};

}  // namespace halite::query::promql
