// Applies the configured retention rules to the stored classes when a data directory is opened.
#pragma once

#include <vector>

#include "common/threads/task.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::engine {

// The state with exactly these rules in use. kInvalidArgument: a class that was created with a TTL
// cannot lose it.
[[nodiscard]] Result<RetentionState> with_rules(RetentionState stored,
                                                const std::vector<RetentionRule>& rules,
                                                const CyclicLayout& base);
// Pins the existing metrics that `next` would move to their classes in `stored`. The names of all
// metrics must have rows.
Task<RetentionState> keep_classes(const RetentionState& stored, RetentionState next,
                                  UidTable& uids);

}  // namespace halite::storage::engine
