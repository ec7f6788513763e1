// Where a ViewStore writes totals, if not into its own table, and what it must ask if other
// processes write points.
#pragma once

#include <optional>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/views/view_changes.h"
#include "storage/views/view_rules.h"
#include "storage/views/view_totals.h"

namespace halite::storage {

class TotalsSink {
 public:
  virtual ~TotalsSink() = default;
  // Replaces the totals of these units of a metric (uid). It may be repeated.
  virtual Task<void> replace(const ViewRule& rule, Bytes metric, UnitRange units,
                             const GroupTotals& totals) = 0;
  // The begin of the first row of the metric with points at this time or later; nullopt: none.
  virtual Task<std::optional<TimestampMs>> first_time(Bytes metric, TimestampMs since) = 0;
};

}  // namespace halite::storage
