#include "query/promql/eval/group_fold.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

std::size_t GroupFold::group_of(const Labels& labels) {
  const std::size_t group = numbers_.of(labels);
  if (group == groups_.size()) {
    groups_.push_back(
        {.labels = numbers_.reduce(labels), .cells = std::vector<Cell>(steps_.count)});
  }
  return group;
}

void GroupFold::merge(GroupFold& other) {
  for (Group& from : other.groups_) {
    Group& to = groups_[group_of(from.labels)];
    for (std::size_t i = 0; i < steps_.count; ++i) {
      const Cell& cell = from.cells[i];
      if (cell.count == 0) continue;
      Cell& sum = to.cells[i];
      const std::uint64_t count = sum.count + cell.count;
      if (sum.count == 0) {
        sum = cell;
      } else if (op_ == AggregateOp::kMin || op_ == AggregateOp::kMax) {
        add(static_cast<std::size_t>(&to - groups_.data()), i, cell.sum.sum);
      } else {
        sum.sum.add(cell.sum.sum);
        sum.sum.compensation += cell.sum.compensation;
      }
      sum.count = count;
    }
    from.cells = {};
  }
}

bool GroupFold::overflows() const {
  return std::ranges::any_of(groups_, [](const Group& group) {
    return std::ranges::any_of(group.cells,
                               [](const Cell& cell) { return std::isinf(cell.sum.sum); });
  });
}

double GroupFold::value_of(const Cell& cell) const {
  if (cell.count == 0) return kAbsent;
  const auto count = static_cast<double>(cell.count);
  switch (op_) {
    case AggregateOp::kSum:
      return std::isinf(cell.sum.sum) ? cell.sum.sum : cell.sum.value();
    case AggregateOp::kAvg:
      return cell.sum.sum / count + cell.sum.compensation / count;
    case AggregateOp::kCount:
      return count;
    case AggregateOp::kGroup:
      return 1;
    default:
      return cell.sum.sum;
  }
}

Vector GroupFold::finish() {
  Vector vector;
  for (Group& group : groups_) {
    std::vector<double> values(steps_.count);
    bool any = false;
    for (std::size_t i = 0; i < steps_.count; ++i) {
      values[i] = value_of(group.cells[i]);
      any |= is_present(values[i]);
    }
    group.cells = {};
    if (any)
      vector.rows.push_back({.labels = std::move(group.labels), .values = std::move(values)});
  }
  return vector;
}

std::int64_t GroupFold::bytes() const {
  return static_cast<std::int64_t>(groups_.size()) * group_bytes();
}

std::int64_t GroupFold::group_bytes() const {
  return static_cast<std::int64_t>(sizeof(Group) + steps_.count * sizeof(Cell));
}

}  // namespace halite::query::promql
