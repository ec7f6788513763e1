// The retention classes of a data directory: read when it is opened, brought in line with what is
// configured, kept in the settings table beside the layout's parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/task.h"
#include "storage/engine/options.h"
#include "storage/engine/retention.h"
#include "storage/schema/uid_table.h"
#include "storage/wide_column.h"

namespace halite::storage::engine {

// As it was kept last; nothing but class 0 where nothing was.
Task<RetentionState> read_retention(std::shared_ptr<Table> settings);
Task<void> write_retention(std::shared_ptr<Table> settings, RetentionState state);

// The state with exactly these rules in use. Metrics that exist stay where they are: pinned, where
// the rules would have them elsewhere. kConflict: a class that was made with a TTL cannot be
// without one.
Task<RetentionState> apply_rules(RetentionState stored, std::vector<RetentionRule> rules,
                                 const CyclicLayout& base, UidTable& uids);

// Before a metric gets a new name: it stays in its class.
Task<void> keep_class(std::shared_ptr<Table> settings, std::shared_ptr<Retention> retention,
                      std::uint64_t metric_uid, std::string old_name, std::string new_name);

}  // namespace halite::storage::engine
