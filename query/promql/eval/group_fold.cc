#include "query/promql/eval/group_fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "query/promql/eval/kahan.h"

namespace halite::query::promql {

bool GroupFold::folds(AggregateOp op) {
  switch (op) {
    case AggregateOp::kSum:
    case AggregateOp::kAvg:
    case AggregateOp::kCount:
    case AggregateOp::kMin:
    case AggregateOp::kMax:
    case AggregateOp::kGroup:
      return true;
    default:
      return false;
  }
}

GroupFold::GroupFold(const Aggregation& aggregation, Steps steps)
    : op_(aggregation.op), steps_(steps), numbers_(aggregation.grouping, !aggregation.without) {}

std::size_t GroupFold::group_of(const storage::Series& series, bool drops_name) {
  const std::size_t group = numbers_.of(series, !drops_name);
  if (group < groups_.size()) return group;
  Labels labels = Labels::of(series);
  if (drops_name) labels.drop_name();
  return add_group(numbers_.reduce(std::move(labels)));
}

std::size_t GroupFold::add_group(Labels labels) {
  groups_.push_back({.labels = std::move(labels),
                     .sums = std::vector<double>(steps_.count),
                     .compensations = std::vector<double>(steps_.count),
                     .counts = std::vector<std::uint64_t>(steps_.count)});
  return groups_.size() - 1;
}

void GroupFold::add(std::size_t group, std::size_t step, std::span<const double> values) {
  Group& to = groups_[group];
  double* const sums = to.sums.data() + step;
  double* const compensations = to.compensations.data() + step;
  std::uint64_t* const counts = to.counts.data() + step;
  switch (op_) {
    case AggregateOp::kMin:
    case AggregateOp::kMax:
      for (std::size_t i = 0; i < values.size(); ++i) add_extreme(to, step + i, values[i]);
      return;
    case AggregateOp::kSum:
    case AggregateOp::kAvg:
      for (std::size_t i = 0; i < values.size(); ++i) {
        KahanSum sum = {.sum = sums[i], .compensation = compensations[i]};
        sum.add(values[i]);
        const bool present = is_present(values[i]);
        sums[i] = present ? sum.sum : sums[i];
        compensations[i] = present ? sum.compensation : compensations[i];
        counts[i] += present ? 1 : 0;
      }
      return;
    default:  // the number says it all
      for (std::size_t i = 0; i < values.size(); ++i) counts[i] += is_present(values[i]) ? 1 : 0;
      return;
  }
}

void GroupFold::add_extreme(Group& group, std::size_t step, double value) const {
  if (is_absent(value)) return;
  double& extreme = group.sums[step];
  const bool replaces = op_ == AggregateOp::kMin ? extreme > value : extreme < value;
  if (group.counts[step]++ == 0 || replaces || std::isnan(extreme)) extreme = value;
}

void GroupFold::merge(GroupFold& other) {
  for (Group& from : other.groups_) {
    const std::uint32_t number = numbers_.of(from.labels);
    if (number == groups_.size()) {
      groups_.push_back(std::move(from));
      continue;
    }
    merge(groups_[number], from);
  }
  other.groups_.clear();
}

void GroupFold::merge(Group& to, const Group& from) const {
  for (std::size_t i = 0; i < steps_.count; ++i) {
    if (from.counts[i] == 0) continue;
    const std::uint64_t count = to.counts[i] + from.counts[i];
    if (to.counts[i] == 0) {
      to.sums[i] = from.sums[i];
      to.compensations[i] = from.compensations[i];
    } else if (op_ == AggregateOp::kMin || op_ == AggregateOp::kMax) {
      add_extreme(to, i, from.sums[i]);
    } else {
      KahanSum sum = {.sum = to.sums[i], .compensation = to.compensations[i]};
      sum.add(from.sums[i]);
      to.sums[i] = sum.sum;
      to.compensations[i] = sum.compensation + from.compensations[i];
    }
    to.counts[i] = count;
  }
}

bool GroupFold::overflows() const {
  return std::ranges::any_of(groups_, [](const Group& group) {
    return std::ranges::any_of(group.sums, [](double sum) { return std::isinf(sum); });
  });
}

double GroupFold::value_of(const Group& group, std::size_t step) const {
  if (group.counts[step] == 0) return kAbsent;
  const auto count = static_cast<double>(group.counts[step]);
  const KahanSum sum = {.sum = group.sums[step], .compensation = group.compensations[step]};
  switch (op_) {
    case AggregateOp::kSum:
      return std::isinf(sum.sum) ? sum.sum : sum.value();
    case AggregateOp::kAvg:
      return sum.sum / count + sum.compensation / count;
    case AggregateOp::kCount:
      return count;
    case AggregateOp::kGroup:
      return 1;
    default:
      return sum.sum;
  }
}

Vector GroupFold::finish() {
  Vector vector;
  for (Group& group : groups_) {
    std::vector<double> values(steps_.count);
    bool any = false;
    for (std::size_t i = 0; i < steps_.count; ++i) {
      values[i] = value_of(group, i);
      any |= is_present(values[i]);
    }
    if (any) {
      vector.rows.push_back({.labels = std::move(group.labels), .values = std::move(values)});
    }
  }
  groups_.clear();
  return vector;
}

std::int64_t GroupFold::bytes() const {
  return static_cast<std::int64_t>(groups_.size()) * group_bytes();
}

std::int64_t GroupFold::group_bytes() const {
  return static_cast<std::int64_t>(sizeof(Group) +
                                   steps_.count * (2 * sizeof(double) + sizeof(std::uint64_t)));
}

}  // namespace halite::query::promql
