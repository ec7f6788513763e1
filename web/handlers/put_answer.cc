#include "web/handlers/put_answer.h"

#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/json_list.h"
#include "common/json_string.h"
#include "common/log.h"
#include "web/error_map.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

// 0 = wait as long as it takes.
std::int64_t sync_timeout_ms(const Target& target) {
  if (!target.has("sync")) return 0;
  const std::string_view text = target.get("sync_timeout");
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Whether the outcome came in time. It looks every few milliseconds, since a Completion cannot be
// awaited with a timeout; only those who send sync_timeout pay for it.
asio::awaitable<bool> finished_within(Completion durable, std::int64_t timeout_ms) {
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

struct Counts {
  std::uint64_t success = 0;
  std::uint64_t failed = 0;
  std::uint64_t timeouts = 0;
  bool show_timeouts = false;
};

std::string counts_json(const Counts& counts, const std::vector<ingest::PutFailure>* failures) {
  std::string json = fmt::format("{{\"success\":{},\"failed\":{}", counts.success, counts.failed);
  if (counts.show_timeouts) {
    fmt::format_to(std::back_inserter(json), ",\"timeouts\":{}", counts.timeouts);
  }
  if (failures != nullptr) {
    json += ",\"errors\":";
    append_json_list(json, *failures, [&json](const ingest::PutFailure& failure) {
      fmt::format_to(std::back_inserter(json), "{{\"datapoint\":{},\"error\":", failure.datapoint);
      append_json_string(json, failure.error);
      json += '}';
    });
  }
  json += '}';
  return json;
}

Response answer_of(const Call& call, const Counts& counts, const ingest::PutOutcome& outcome) {
  const bool details = call.target.has("details");
  const bool good = counts.failed == 0 && counts.timeouts == 0;
  // Agents drop what a 400 refuses, and send again what a 503 does.
  const int bad = outcome.away ? http_status(Errc::kUnavailable) : 400;
  if (details || call.target.has("summary")) {
    return json_response(good ? 200 : bad,
                         counts_json(counts, details ? &outcome.failures : nullptr));
  }
  if (good) return json_response(204, "");
  if (outcome.away) return error_response(call, Error{Errc::kUnavailable, *outcome.away, {}});
  if (counts.timeouts != 0) {
    log::warn("put: {} points were not durable within sync_timeout", counts.timeouts);
    return error_response(call, 400,
                          fmt::format("The put call has timedout with {} successful writes, {} "
                                      "failed writes and {} timed out writes.",
                                      counts.success, counts.failed, counts.timeouts),
                          "Please see the TSD logs or append \"details\" to the put request");
  }
  return error_response(call, 400, "One or more data points had errors",
                        "Please see the TSD logs or append \"details\" to the put request");
}

}  // namespace

asio::awaitable<Response> put_answer(Call& call, Result<ingest::PutOutcome> taken) {
  if (!taken) co_return error_response(call, taken.error());
  const ingest::PutOutcome outcome = std::move(*taken);
  Counts counts{.success = outcome.success, .failed = outcome.failed};

  const std::int64_t timeout_ms = sync_timeout_ms(call.target);
  counts.show_timeouts = timeout_ms > 0;
  bool finished = true;
  if (timeout_ms > 0) finished = co_await finished_within(outcome.durable, timeout_ms);
  if (!finished) {
    counts.timeouts = std::exchange(counts.success, 0);
    co_return answer_of(call, counts, outcome);
  }
  const Result<void> durable = co_await outcome.durable.wait();
  if (!durable) co_return error_response(call, durable.error());
  co_return answer_of(call, counts, outcome);
}

}  // namespace halite::web
