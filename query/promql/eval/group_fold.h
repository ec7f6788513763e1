// Folds values of series into groups while the series are read, so that no series needs a column:
// sum by (a) (rate(m[5m])) and others whose order of values does not matter.
//
//   Threads  Not thread-safe. Each shard has its own; merge() joins them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "query/promql/eval/kahan.h"
#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

class GroupFold {
 public:
  // Whether groups of this operator can be made in this way.
  [[nodiscard]] static bool folds(AggregateOp op);

  GroupFold(const Aggregation& aggregation, Steps steps);

  // The group of a series.
  [[nodiscard]] std::size_t group_of(const Labels& labels);
  void add(std::size_t group, std::size_t step, double value) {
    Cell& cell = groups_[group].cells[step];
    ++cell.count;
    switch (op_) {
      case AggregateOp::kMin:
        if (cell.count == 1 || cell.sum.sum > value || std::isnan(cell.sum.sum)) {
          cell.sum.sum = value;
        }
        return;
      case AggregateOp::kMax:
        if (cell.count == 1 || cell.sum.sum < value || std::isnan(cell.sum.sum)) {
          cell.sum.sum = value;
        }
        return;
      case AggregateOp::kSum:
      case AggregateOp::kAvg:
        cell.sum.add(value);
        return;
      default:  // the number says it all
        return;
    }
  }
  void merge(GroupFold& other);  // which is empty then

  // Whether a sum left the range of doubles, where avg() needs the values one by one.
  [[nodiscard]] bool overflows() const;
  [[nodiscard]] Vector finish();

  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] std::int64_t group_bytes() const;  // of one

 private:
  struct Cell {
    KahanSum sum;  // or the minimum, or the maximum
    std::uint64_t count = 0;
  };
  struct Group {
    Labels labels;
    std::vector<Cell> cells;  // one for each step
  };
  [[nodiscard]] double value_of(const Cell& cell) const;

  const AggregateOp op_;
  const Steps steps_;
  RowGroups numbers_;
  std::vector<Group> groups_;  // by number
};

}  // namespace halite::query::promql
