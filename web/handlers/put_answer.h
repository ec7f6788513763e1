// What /api/put, /api/rollup and /api/histogram answer alike: how many points were taken, and by
// the parameters summary, details, sync and sync_timeout which were not and why (put.cc).
#pragma once

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "ingest/writer.h"
#include "web/endpoint.h"

namespace halite::web {

// Waits until what was taken is durable. The call lives until then.
[[nodiscard]] boost::asio::awaitable<Response> put_answer(Call& call,
                                                          Result<ingest::PutOutcome> taken);

}  // namespace halite::web
