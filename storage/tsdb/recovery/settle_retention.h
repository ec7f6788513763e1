// The retention classes of a data directory: read when it is opened, brought in line with what is
// configured, kept in the settings table beside the layout's parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/gate.h"
#include "common/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::engine {

// As it was kept last; nothing but class 0 where nothing was.
Task<RetentionState> read_retention(std::shared_ptr<Table> settings);
Task<void> write_retention(std::shared_ptr<Table> settings, RetentionState state);

// The state with exactly these rules in use. Metrics that exist stay where they are: pinned, where
// the rules would have them elsewhere. kConflict: a class that was made with a TTL cannot be
// without one.
Task<RetentionState> apply_rules(RetentionState stored, std::vector<RetentionRule> rules,
                                 const CyclicLayout& base, UidTable& uids);

// Keeps metrics in their classes when their names change, one after the other. Outlives its tasks.
class PinWriter {
 public:
  PinWriter(std::shared_ptr<Table> settings, std::shared_ptr<Retention> retention)
      : settings_(std::move(settings)), retention_(std::move(retention)) {}

  // Before a metric gets a new name; durable.
  Task<void> keep_class(std::uint64_t metric_uid, std::string old_name, std::string new_name);

 private:
  const std::shared_ptr<Table> settings_;
  const std::shared_ptr<Retention> retention_;
  const std::shared_ptr<Gate> turn_ = std::make_shared<Gate>(GateLoad{1, 1});
};

}  // namespace halite::storage::engine
