#include "ingest/put_outcome.h"

#include <chrono>
#include <optional>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace halite::ingest {
namespace {

namespace asio = boost::asio;

// Returns whether it completed in time; 0 = no limit. It polls every few milliseconds, because a
// Completion cannot be awaited with a timeout. Only senders of sync_timeout pay for it.
asio::awaitable<bool> finished_within(Completion durable, std::int64_t timeout_ms) {
  if (timeout_ms <= 0) co_return true;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  while (!durable.finished()) {
    if (std::chrono::steady_clock::now() >= end) co_return false;
    timer.expires_after(std::chrono::milliseconds(2));
    auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
    (void)co_await std::move(waiting);
  }
  co_return true;
}

// The refused elements; with a reason for the rest also all others.
std::vector<PutFailure> failures_of(const std::vector<BatchRefusal>& refused,
                                    const std::optional<Refused>& rest,
                                    const SentElements& elements) {
  std::vector<PutFailure> failures;
  auto next = refused.begin();
  for (std::size_t origin = 0; origin < elements.texts.size(); ++origin) {
    const bool own = next != refused.end() && next->origin == origin;
    if (!own && !rest) continue;
    const std::string_view text = elements.texts[origin];
    failures.push_back({.datapoint = text.empty() ? "null" : elements.echo(text),
                        .error = http_refusal(own ? next->why : *rest)});
    if (own) ++next;
  }
  return failures;
}

}  // namespace

Task<PutOutcome> put_outcome(WriterContext& context, CommitResult committed, SentElements elements,
                             PutOptions put_options) {
  PutOutcome outcome;
  outcome.success = committed.taken;
  outcome.failed = committed.refused.size() + committed.not_taken;
  outcome.retryable_error = retryable_error_of(committed);
  std::optional<Refused> rest;  // why the other points are not stored, or may not be
  if (committed.failed) rest = refused_by_store(*committed.failed);
  const bool finished = co_await finished_within(committed.durable, put_options.sync_timeout_ms);
  if (!finished) {
    outcome.timeouts = std::exchange(outcome.success, 0);
    context.stats.unknown(Protocol::kHttp, outcome.timeouts);
  } else if (committed.taken > 0) {
    Result<void> settled =
        co_await context.await_durable(committed.durable, Protocol::kHttp, committed.taken);
    if (!settled) {
      // Points that may be stored are worth sending again, whatever the store's error code.
      Error error = std::move(settled).error();
      error.code = Errc::kUnavailable;
      rest =
          Refused{.reason = RefusalReason::kStorage,
                  .text = fmt::format("{}; it may be stored or not: send it again", error.message),
                  .passes = true};
      error.details =
          fmt::format("{} points may be stored or not: send them again", outcome.success);
      outcome.failed += std::exchange(outcome.success, 0);
      outcome.retryable_error = std::move(error);
    }
  }
  if (put_options.failures) outcome.failures = failures_of(committed.refused, rest, elements);
  co_return std::move(outcome);
}

}  // namespace halite::ingest
