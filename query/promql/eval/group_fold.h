// Folds values of series into groups while the series are read, so that no series needs a column:
// sum by (a) (rate(m[5m])) and others whose order of values does not matter.
//
//   Threads  Not thread-safe. Each shard has its own; merge() joins them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/promql/eval/row_groups.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"

namespace halite::query::promql {

class GroupFold {
 public:
  // Whether groups of this operator can be made in this way.
  [[nodiscard]] static bool folds(AggregateOp op);

  GroupFold(const Aggregation& aggregation, Steps steps);

  // The group of a series, which has lost its name if `drops_name`.
  [[nodiscard]] std::size_t group_of(const storage::Series& series, bool drops_name);
  // Values of a series at the steps from `step` on; those that are absent do not count.
  void add(std::size_t group, std::size_t step, std::span<const double> values);
  void merge(GroupFold& other);  // which is empty then

  // Whether a sum left the range of doubles, where avg() needs the values one by one.
  [[nodiscard]] bool overflows() const;
  [[nodiscard]] Vector finish();

  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] std::int64_t group_bytes() const;  // of one

 private:
  struct Group {
    Labels labels;
    // For each step. Of min() and max(), `sums` are the extremes.
    std::vector<double> sums;
    std::vector<double> compensations;  // of sums
    std::vector<std::uint64_t> counts;
  };
  std::size_t add_group(Labels labels);  // returns its number
  void add_extreme(Group& group, std::size_t step, double value) const;
  void merge(Group& to, const Group& from) const;
  [[nodiscard]] double value_of(const Group& group, std::size_t step) const;

  const AggregateOp op_;
  const Steps steps_;
  RowGroups numbers_;
  std::vector<Group> groups_;  // by number
};

}  // namespace halite::query::promql
