// What /api/put, /api/rollup and /api/histogram answer alike: how many points were stored, and by
// the parameters summary, details, sync and sync_timeout which were not and why (put.cc).
#pragma once

#include "common/result.h"
#include "ingest/writer.h"
#include "web/endpoint.h"

namespace halite::web {

// What the parameters ask for.
[[nodiscard]] ingest::PutOptions parse_put_options(const Target& target);

[[nodiscard]] Response put_answer(const Call& call, const Result<ingest::PutOutcome>& put);

}  // namespace halite::web
