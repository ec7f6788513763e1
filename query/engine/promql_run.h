// Runs queries in PromQL (query/engine/promql.h) within their turn and limits.
#pragma once

#include <memory>

#include "common/threads/task.h"
#include "query/engine/promql.h"
#include "query/engine/promql_cache.h"
#include "query/engine/promql_stores.h"
#include "query/engine/scheduler.h"
#include "query/limits.h"
#include "query/promql/parse.h"
#include "query/run_context.h"

namespace halite::query {

// The stores, the cache and the scheduler outlive these.
Task<std::shared_ptr<const PromqlAnswer>> run_promql(PromqlStores stores, PromqlCache* cache,
                                                     Scheduler* scheduler, PromqlQuestion question,
                                                     QueryLimits limits, RunContext context);

[[nodiscard]] promql::ParseOptions parse_options(const QueryLimits& limits);

}  // namespace halite::query
