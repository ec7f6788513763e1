#include "query/promql/eval/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "common/check.h"
#include "query/promql/eval/aggregate.h"
#include "query/promql/eval/kahan.h"
#include "query/promql/eval/merge.h"

namespace halite::query::promql {
namespace {

struct Groups {
  std::vector<std::uint32_t> of_rows;
  Vector result;  // a row of each group, without values yet
};

Groups group_rows(const Vector& input, RowGroups& groups, std::size_t steps) {
  Groups made;
  made.of_rows.reserve(input.rows.size());
  for (const Row& row : input.rows) {
    const std::uint32_t group = groups.of(row.labels);
    if (group == made.result.rows.size()) {
      made.result.rows.push_back({groups.reduce(row.labels), std::vector<double>(steps, kAbsent)});
    }
    made.of_rows.push_back(group);
  }
  return made;
}

// `combine` takes what the group has so far, maybe kAbsent, and the next value, which may be too.
template <class Combine>
void fold(const Vector& input, Groups& groups, Combine combine) {
  for (std::size_t r = 0; r < input.rows.size(); ++r) {
    std::vector<double>& to = groups.result.rows[groups.of_rows[r]].values;
    const double* from = input.rows[r].values.data();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = combine(to[i], from[i]);
  }
}

void add_column(double* sums, double* compensations, const double* values, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) {
    const double x = values[i];
    const bool first = is_absent(sums[i]);
    const bool present = is_present(x);
    KahanSum sum = {.sum = sums[i], .compensation = compensations[i]};
    sum.add(x);
    const double next = present ? sum.sum : sums[i];
    sums[i] = first ? x : next;
    compensations[i] = present && !first ? sum.compensation : compensations[i];
  }
}

void sum(const Vector& input, Groups& groups, std::size_t steps) {
  std::vector<double> compensations(groups.result.rows.size() * steps, 0);
  for (std::size_t r = 0; r < input.rows.size(); ++r) {
    const std::uint32_t group = groups.of_rows[r];
    add_column(groups.result.rows[group].values.data(), compensations.data() + group * steps,
               input.rows[r].values.data(), steps);
  }
  const double* compensation = compensations.data();
  for (Row& row : groups.result.rows) {
    for (double& value : row.values) {
      if (is_present(value)) value += *compensation;
      ++compensation;
    }
  }
}

// Welford's, without compensation.
class Variance {
 public:
  void add(double x) {
    count_ += 1;
    if (count_ == 1) {
      mean_ = x;
      if (!std::isfinite(x)) squares_ = std::numeric_limits<double>::quiet_NaN();
      return;
    }
    const double delta = x - mean_;
    mean_ += delta / count_;
    squares_ += delta * (x - mean_);
  }
  [[nodiscard]] double value() const { return squares_ / count_; }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

struct Deviation : Variance {
  [[nodiscard]] double value() const { return std::sqrt(Variance::value()); }
};

template <class State>
void accumulate(const Vector& input, Groups& groups, std::size_t steps) {
  std::vector<State> states(groups.result.rows.size() * steps);
  for (std::size_t r = 0; r < input.rows.size(); ++r) {
    const std::uint32_t group = groups.of_rows[r];
    State* state = states.data() + group * steps;
    std::vector<double>& to = groups.result.rows[group].values;
    const double* from = input.rows[r].values.data();
    for (std::size_t i = 0; i < steps; ++i) {
      if (is_absent(from[i])) continue;
      state[i].add(from[i]);
      to[i] = 0;  // for now: it will have a value
    }
  }
  const State* state = states.data();
  for (Row& row : groups.result.rows) {
    for (double& value : row.values) {
      if (is_present(value)) value = state->value();
      ++state;
    }
  }
}

void quantile(const Vector& input, Groups& groups, std::span<const double> quantiles) {
  const std::size_t count = groups.result.rows.size();
  std::vector<std::size_t> begins(count + 1);  // of each group among all rows
  for (const std::uint32_t group : groups.of_rows) ++begins[group + 1];
  for (std::size_t g = 0; g < count; ++g) begins[g + 1] += begins[g];
  std::vector<double> values(input.rows.size() * kStepsTogether);
  std::vector<std::uint32_t> sizes(count * kStepsTogether);
  const auto place = [&](std::size_t group, std::size_t step) {
    return values.data() + begins[group] * kStepsTogether +
           (begins[group + 1] - begins[group]) * step;
  };
  for (std::size_t begin = 0; begin < quantiles.size(); begin += kStepsTogether) {
    const std::size_t width = std::min(kStepsTogether, quantiles.size() - begin);
    std::ranges::fill(sizes, 0);
    for (std::size_t r = 0; r < input.rows.size(); ++r) {
      const std::uint32_t group = groups.of_rows[r];
      for (std::size_t s = 0; s < width; ++s) {
        const double value = input.rows[r].values[begin + s];
        if (is_present(value)) place(group, s)[sizes[group * kStepsTogether + s]++] = value;
      }
    }
    for (std::size_t g = 0; g < count; ++g) {
      for (std::size_t s = 0; s < width; ++s) {
        const std::size_t size = sizes[g * kStepsTogether + s];
        if (size == 0) continue;
        groups.result.rows[g].values[begin + s] =
            quantile_of(quantiles[begin + s], {place(g, s), size});
      }
    }
  }
}

}  // namespace

Vector reduce(AggregateOp op, const Vector& input, RowGroups& row_groups,
              std::span<const double> quantiles, std::size_t steps) {
  Groups groups = group_rows(input, row_groups, steps);
  switch (op) {
    case AggregateOp::kSum:
      sum(input, groups, steps);
      break;
    case AggregateOp::kAvg:
      accumulate<KahanMean>(input, groups, steps);
      break;
    case AggregateOp::kStdvar:
      accumulate<Variance>(input, groups, steps);
      break;
    case AggregateOp::kStddev:
      accumulate<Deviation>(input, groups, steps);
      break;
    case AggregateOp::kCount:
      fold(input, groups, [](double count, double x) {
        const double next = is_absent(count) ? 1 : count + 1;
        return is_absent(x) ? count : next;
      });
      break;
    case AggregateOp::kGroup:
      fold(input, groups, [](double one, double x) { return is_absent(x) ? one : 1; });
      break;
    case AggregateOp::kMin:  // kAbsent is a NaN too
      fold(input, groups, [](double least, double x) {
        const double next = least > x || std::isnan(least) ? x : least;
        return is_absent(x) ? least : next;
      });
      break;
    case AggregateOp::kMax:
      fold(input, groups, [](double most, double x) {
        const double next = most < x || std::isnan(most) ? x : most;
        return is_absent(x) ? most : next;
      });
      break;
    case AggregateOp::kQuantile:
      quantile(input, groups, quantiles);
      break;
    default:
      HALITE_CHECK(false, "an aggregation that makes one row of a group");
  }
  remove_empty(groups.result);
  return std::move(groups.result);
}

}  // namespace halite::query::promql
