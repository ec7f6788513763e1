#include "web/graphite/graphite_sink.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "common/log.h"
#include "ingest/graphite/pickle.h"
#include "web/connection/awaitable.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr auto kProtocol = ingest::Protocol::kGraphite;
constexpr std::int64_t kPauseMinMs = 100;
constexpr std::int64_t kPauseMaxMs = 5'000;
constexpr std::int64_t kStepMs = 100;  // a stop is noticed so fast

}  // namespace

ingest::FormatOptions GraphiteSink::format() const {
  ingest::FormatOptions options = context_.options.graphite_format;
  options.default_time = context_.services.clock.now_ms();
  return options;
}

asio::awaitable<void> GraphiteSink::put_lines(std::string_view text) {
  const ingest::FormatOptions options = format();  // once: repeated points keep their times
  bool again = true;
  while (again) {
    auto putting = bodies_.put(
        ingest::LinesBody{.text = text, .format = ingest::Format::kGraphite, .options = options},
        kProtocol);
    const Result<ingest::BodyOutcome> put = co_await std::move(putting);
    if (!put) refuse(put.error().message, text.substr(0, text.find('\n')));
    again = co_await must_repeat(put);
  }
}

Task<void> GraphiteSink::put_pickle(std::string_view message) {
  const ingest::FormatOptions options = format();
  bool again = true;
  while (again) {
    ingest::PickleBody body(message, options, bodies_.limits());
    auto putting = bodies_.put(body, kProtocol);
    const Result<ingest::BodyOutcome> put = co_await std::move(putting);
    if (!put) co_return std::unexpected(put.error());
    again = co_await must_repeat(put);
  }
  co_return Result<void>();
}

asio::awaitable<bool> GraphiteSink::must_repeat(const Result<ingest::BodyOutcome>& put) {
  if (!put || !put->retryable_error) {
    pause_ms_ = 0;
    co_return false;
  }
  const bool first = pause_ms_ == 0;
  pause_ms_ = first ? kPauseMinMs : std::min(2 * pause_ms_, kPauseMaxMs);
  if (first) {
    log::warn("graphite: points from {} wait, and so does their sender: {}", sender(),
              put->retryable_error->message);
  }
  asio::steady_timer timer(connection_.socket().get_executor());
  for (std::int64_t slept = 0; slept < pause_ms_; slept += kStepMs) {
    if (connection_.draining() || connection_.broken()) {
      log::warn("graphite: points from {} are lost, as the server stops: {}", sender(),
                put->retryable_error->message);
      co_return false;
    }
    timer.expires_after(std::chrono::milliseconds(kStepMs));
    auto waiting = timer.async_wait(kAwaitable);
    (void)co_await std::move(waiting);
  }
  co_return true;
}

void GraphiteSink::refuse(std::string reason, std::string_view beginning) {
  bodies_.refuse(kProtocol, std::move(reason), beginning);
}

std::string GraphiteSink::sender() const {
  boost::system::error_code gone;
  const auto remote = connection_.socket().remote_endpoint(gone);
  return gone ? std::string("a sender") : remote.address().to_string();
}

}  // namespace halite::web
