// Applies the configured retention rules to the stored classes when a data directory is opened.
#pragma once

#include <vector>

#include "common/threads/task.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::engine {

// Returns the state with exactly these rules in use. Existing metrics stay in their classes; they
// are pinned if the rules would move them. kConflict: a class that was created with a TTL cannot
// lose it.
Task<RetentionState> apply_rules(RetentionState stored, std::vector<RetentionRule> rules,
                                 const CyclicLayout& base, UidTable& uids);

}  // namespace halite::storage::engine
