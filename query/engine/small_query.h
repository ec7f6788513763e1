// Small queries: to wake another thread for one costs more than to answer it. scheduler.h says
// where they run.
#pragma once

#include "query/limits.h"
#include "query/question.h"

namespace halite::query {

// Whether the query looks small: few series, named by their tags or ids, over a short time.
[[nodiscard]] bool may_be_small(const Question& question);

// The limits of such a query: about what takes a millisecond or two.
[[nodiscard]] QueryLimits small_query_limits(const Question& question, QueryLimits limits);

}  // namespace halite::query
