// The common answer of /api/put, /api/rollup and /api/histogram: how many points were stored. With
// the parameters summary, details, sync and sync_timeout also which were not, and why (put.cc).
#pragma once

#include "common/result.h"
#include "ingest/writer.h"
#include "web/endpoint.h"

namespace halite::web {

// The options in the parameters.
[[nodiscard]] Result<ingest::PutOptions> parse_put_options(const Target& target);

[[nodiscard]] Response put_answer(const Call& call, const ingest::PutOptions& put_options,
                                  const Result<ingest::PutOutcome>& put);

}  // namespace halite::web
