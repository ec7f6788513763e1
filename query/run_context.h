// What a run of a query gets from its caller besides the question.
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include "common/tracing/span_log.h"

namespace halite::query {

struct RunContext {
  RunContext() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): for callers that want no spans
  RunContext(std::stop_token token, std::shared_ptr<SpanLog> log = nullptr)
      : stop(std::move(token)), spans(std::move(log)) {}

  std::stop_token stop;            // request_stop() ends the work soon with kCancelled
  std::shared_ptr<SpanLog> spans;  // null: the steps of the run are not recorded
};

}  // namespace halite::query
