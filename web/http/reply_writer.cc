#include "web/http/reply_writer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::web {

namespace asio = boost::asio;

// The write in progress keeps it alive.
struct ReplyWriter::State : std::enable_shared_from_this<State> {
  std::shared_ptr<ClientConnection> link;
  std::size_t bytes_max;
  WebMetrics& metrics;
  std::string waiting;
  std::string going;  // being written; empty if no write is in progress
  bool broken = false;
  asio::steady_timer idle;  // cancelled when everything is sent

  State(std::shared_ptr<ClientConnection> l, std::size_t most, WebMetrics& m)
      : link(std::move(l)), bytes_max(most), metrics(m), idle(link->socket().get_executor()) {}

  void start();
  void written(boost::system::error_code error);
};

void ReplyWriter::State::start() {
  if (broken || !going.empty() || waiting.empty()) return;
  going.swap(waiting);
  link->async_write(asio::buffer(going),
                    [self = shared_from_this()](boost::system::error_code error, std::size_t) {
                      self->written(error);
                    });
}

void ReplyWriter::State::written(boost::system::error_code error) {
  metrics.bytes_written.Increment(static_cast<double>(going.size()));
  going.clear();
  if (error) {
    broken = true;
    waiting.clear();
  }
  start();
  if (going.empty()) idle.cancel();
}

ReplyWriter::ReplyWriter(std::shared_ptr<ClientConnection> link, std::size_t bytes_max,
                         WebMetrics& metrics)
    : state_(std::make_shared<State>(std::move(link), bytes_max, metrics)) {}

ReplyWriter::~ReplyWriter() = default;

void ReplyWriter::send(std::string_view lines) {
  State& state = *state_;
  if (state.broken) return;
  const std::size_t used = state.waiting.size() + state.going.size();
  std::size_t fits = lines.size();
  if (used + fits > state.bytes_max) {
    const std::size_t room = state.bytes_max - std::min(used, state.bytes_max);
    const std::size_t newline = room == 0 ? std::string_view::npos : lines.rfind('\n', room - 1);
    fits = newline == std::string_view::npos ? 0 : newline + 1;
    state.metrics.telnet_replies_dropped.Increment(
        static_cast<double>(std::ranges::count(lines.substr(fits), '\n')));
  }
  state.waiting += lines.substr(0, fits);
  state.start();
}

bool ReplyWriter::sending() const { return !state_->going.empty(); }

asio::awaitable<void> ReplyWriter::drain(std::int64_t timeout_ms) {
  const std::shared_ptr<State> state = state_;
  std::chrono::milliseconds time(timeout_ms);
  while (!state->going.empty()) {
    state->idle.expires_after(time);
    auto waiting = state->idle.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto [error] = co_await std::move(waiting);
    if (!error) {
      state->link->close();  // ends the write and drops the rest
      time = std::chrono::hours(1);
    }
  }
}

}  // namespace halite::web
