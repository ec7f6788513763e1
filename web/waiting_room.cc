#include "web/waiting_room.h"

#include <chrono>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>

#include "common/json_string.h"
#include "common/thread_name.h"
#include "web/listen_address.h"
#include "web/sniff.h"

namespace halite::web {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// Whether there is no more to wait for before an answer.
bool is_whole(std::string_view bytes) {
  if (bytes.empty()) return false;
  if (sniff(bytes) == Protocol::kTelnet) return bytes.find('\n') != std::string_view::npos;
  return bytes.find("\r\n\r\n") != std::string_view::npos;
}

std::string http_answer(int status, std::string_view phrase, std::string_view type,
                        std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nRetry-After: 5\r\n"
      "Connection: close\r\n\r\n{}",
      status, phrase, type, body.size(), body);
}

std::string answer_to(std::string_view request, const std::string& reason) {
  if (sniff(request) == Protocol::kTelnet) return fmt::format("put: not ready: {}\n", reason);
  const std::size_t begin = request.find(' ') + 1;
  const std::string_view target =
      request.substr(begin, request.find_first_of(" ?\r", begin) - begin);
  if (target == "/-/healthy") return http_answer(200, "OK", "text/plain", "ok\n");
  constexpr std::string_view kUnavailable = "Service Unavailable";
  if (!target.starts_with("/api"))
    return http_answer(503, kUnavailable, "text/plain", reason + "\n");
  return http_answer(
      503, kUnavailable, "application/json; charset=UTF-8",
      fmt::format(R"({{"error":{{"code":503,"message":{}}}}})", json_string(reason)));
}

}  // namespace

struct WaitingRoom::State {
  explicit State(WaitingRoomLimits wanted) : limits(wanted), acceptor(context) {}

  const WaitingRoomLimits limits;
  asio::io_context context;
  tcp::acceptor acceptor;
  std::size_t connections = 0;  // only on the thread
  std::mutex mutex;
  std::string reason;  // guarded by mutex
  std::thread thread;

  std::string reason_now() {
    const std::lock_guard lock(mutex);
    return reason;
  }

  static asio::awaitable<void> accept(State& state) {
    for (;;) {
      auto [error, socket] = co_await state.acceptor.async_accept(kAwait);
      if (error == asio::error::operation_aborted) co_return;
      if (error || state.connections >= state.limits.connections_max) continue;
      ++state.connections;
      asio::co_spawn(state.context, serve(state, std::make_shared<tcp::socket>(std::move(socket))),
                     asio::detached);
    }
  }

  static asio::awaitable<void> serve(State& state, std::shared_ptr<tcp::socket> shared) {
    tcp::socket& socket = *shared;
    asio::steady_timer deadline(state.context,
                                std::chrono::milliseconds(state.limits.request_ms_max));
    deadline.async_wait([shared](const boost::system::error_code& error) {
      boost::system::error_code ignored;
      if (!error) shared->close(ignored);
    });
    std::string request;
    std::string piece(4096, '\0');
    bool open = true;
    while (open && !is_whole(request) && request.size() < state.limits.request_bytes_max) {
      const auto [error, count] = co_await socket.async_read_some(asio::buffer(piece), kAwait);
      open = !error;
      request.append(piece, 0, count);
    }
    if (is_whole(request)) {
      const std::string answer = answer_to(request, state.reason_now());
      std::ignore = co_await asio::async_write(socket, asio::buffer(answer), kAwait);
      boost::system::error_code ignored;
      socket.shutdown(tcp::socket::shutdown_send, ignored);
      // The rest is read, or the sender might be reset before it has read the answer.
      for (std::size_t left = state.limits.request_bytes_max; open && left > piece.size();) {
        const auto [error, count] = co_await socket.async_read_some(asio::buffer(piece), kAwait);
        open = !error;
        left -= count;
      }
    }
    deadline.cancel();
    --state.connections;
  }
};

WaitingRoom::WaitingRoom(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<WaitingRoom>> WaitingRoom::open(const WebOptions& options,
                                                       std::string reason,
                                                       WaitingRoomLimits limits) {
  auto state = std::make_unique<State>(limits);
  state->reason = std::move(reason);
  TRY_VOID(bind_acceptor(options, state->acceptor));
  boost::system::error_code error;
  state->acceptor.listen(static_cast<int>(options.backlog), error);
  if (error) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot listen on {}: {}", options.address, error.message()));
  }
  asio::co_spawn(state->context, State::accept(*state), asio::detached);
  state->thread = std::thread([&own = *state] {
    name_this_thread("waiting-room");
    own.context.run();
  });
  return std::unique_ptr<WaitingRoom>(new WaitingRoom(std::move(state)));
}

WaitingRoom::~WaitingRoom() {
  state_->context.stop();
  state_->thread.join();
}

void WaitingRoom::set_reason(std::string reason) {
  const std::lock_guard lock(state_->mutex);
  state_->reason = std::move(reason);
}

std::uint16_t WaitingRoom::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace halite::web
