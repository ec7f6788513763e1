// Small queries: to wake another thread for one costs more than to answer it. scheduler.h says
// where they run.
#pragma once

#include <memory>

#include "common/work_watch.h"
#include "query/limits.h"
#include "query/question.h"
#include "query/watch.h"

namespace halite::query {

// Whether the query looks small: few series, named by their tags or ids, over a short time.
[[nodiscard]] bool may_be_quick(const Question& question);

// The limits of such a query: about what takes a millisecond or two.
[[nodiscard]] QueryLimits quick_limits(const Question& question, QueryLimits limits);

// The budget for the store: reads of data that is not in memory fail with kUnavailable.
[[nodiscard]] std::shared_ptr<WorkWatch> watch_memory_only(std::shared_ptr<Watch> watch);

}  // namespace halite::query
