#include "web/connection/startup_listener.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <unordered_set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "common/exception_text.h"
#include "common/json_string.h"
#include "common/log.h"
#include "common/threads/thread_name.h"
#include "web/connection/awaitable.h"
#include "web/connection/client_connection.h"
#include "web/connection/listen_address.h"
#include "web/connection/protocol_detection.h"
#include "web/connection/tls.h"
#include "web/connection/tls_begin.h"
#include "web/http/request_head.h"
#include "web/http/target.h"
#include "web/telnet/telnet_negotiation.h"

namespace halite::web {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// The first bytes of a connection, as far as an answer needs them: a telnet line or a request's
// head.
class Opening {
 public:
  void add(std::string_view piece) {
    if (piece.empty()) return;
    if (!protocol_) protocol_ = detect_protocol(piece);  // by the first byte, as in the server
    piece.remove_prefix(negotiation_.skip(piece));
    if (http() && bytes_.empty()) {  // ignore empty lines before a request
      piece.remove_prefix(std::min(piece.find_first_not_of("\r\n"), piece.size()));
    }
    bytes_ += piece;
    end_ = http() ? head_end_.find(bytes_) : bytes_.find('\n');
  }

  [[nodiscard]] bool whole() const { return end_ != std::string::npos; }
  [[nodiscard]] bool http() const { return protocol_ == Protocol::kHttp; }
  // Includes its empty line; requires whole() and http().
  [[nodiscard]] std::string_view head() const { return std::string_view(bytes_).substr(0, end_); }

 private:
  std::optional<Protocol> protocol_;
  TelnetNegotiation negotiation_;
  HeadEnd head_end_;
  std::string bytes_;
  std::size_t end_ = std::string::npos;
};

// The target in the head. Empty if the head is invalid: the answer is a 503 in any case.
Target target_of(std::string_view head, bool grafana_prefix) {
  Target target;
  const Result<RequestHead> tidy = tidy_head(head);
  if (!tidy) return target;
  if (!tidy->text.empty()) head = tidy->text;
  const std::size_t begin = head.find(' ') + 1;
  const std::string_view text = head.substr(begin, head.find_first_of(" \r", begin) - begin);
  (void)parse_target(text, grafana_prefix, target);
  return target;
}

std::string http_answer(int status, std::string_view phrase, std::string_view type,
                        std::string_view body) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nRetry-After: 5\r\n"
      "Connection: close\r\n\r\n{}",
      status, phrase, type, body.size(), body);
}

std::string answer_to(const Opening& opening, const std::string& reason, bool grafana_prefix) {
  if (!opening.http()) return fmt::format("put: not ready: {}\n", reason);
  const Target target = target_of(opening.head(), grafana_prefix);
  if (target.path == "/-/healthy") return http_answer(200, "OK", "text/plain", "ok\n");
  constexpr std::string_view kUnavailable = "Service Unavailable";
  if (!target.api) return http_answer(503, kUnavailable, "text/plain", reason + "\n");
  return http_answer(
      503, kUnavailable, "application/json; charset=UTF-8",
      fmt::format(R"({{"error":{{"code":503,"message":{}}}}})", json_string(reason)));
}

}  // namespace

struct StartupListener::State {
  State(const WebOptions& how, StartupListenerLimits wanted)
      : options(how), limits(wanted), tls(how.tls), acceptor(context), pause(context) {}

  const WebOptions options;
  const StartupListenerLimits limits;
  Tls tls;
  asio::io_context context;
  tcp::acceptor acceptor;
  asio::steady_timer pause;                                     // of the accept loop
  bool ending = false;                                          // only on the thread
  std::unordered_set<std::shared_ptr<ClientConnection>> links;  // only on the thread
  std::mutex mutex;
  std::string reason;  // guarded by mutex
  std::thread thread;

  std::string reason_now() {
    const std::lock_guard lock(mutex);
    return reason;
  }

  static asio::awaitable<void> accept(State& state);
  static asio::awaitable<void> serve(State& state, std::shared_ptr<ClientConnection> link);
  void take(tcp::socket socket);
  int end();
};

asio::awaitable<void> StartupListener::State::accept(State& state) {
  while (!state.ending) {
    auto [error, socket] = co_await state.acceptor.async_accept(kAwaitable);
    if (state.ending) co_return;
    if (error) {
      co_await pause_accepting(state.pause, error);
    } else if (state.links.size() < state.limits.connections_max) {
      state.take(std::move(socket));
    }
  }
}

void StartupListener::State::take(tcp::socket socket) {
  auto link = std::make_shared<ClientConnection>(std::move(socket));
  links.insert(link);
  asio::co_spawn(context, serve(*this, link), [this, link](const std::exception_ptr& thrown) {
    if (thrown) {
      log::error("an exception ended a connection before the store was open: {}",
                 exception_text(thrown));
    }
    link->close();
    links.erase(link);
  });
}

asio::awaitable<void> StartupListener::State::serve(State& state,
                                                    std::shared_ptr<ClientConnection> link) {
  asio::steady_timer deadline(state.context,
                              std::chrono::milliseconds(state.limits.request_ms_max));
  deadline.async_wait([link](const boost::system::error_code& error) {
    if (!error) link->post_abort();
  });
  auto beginning = begin_tls(*link, state.tls, state.tls.only(), state.options, 0);
  const TlsBegin begun = co_await std::move(beginning);
  if (begun != TlsBegin::kDone) co_return;
  Opening opening;
  std::size_t came = 0;
  std::string piece(4096, '\0');
  while (!opening.whole() && came < state.limits.request_bytes_max) {
    auto reading = link->read_some(piece.data(), piece.size(), 0, false);
    const Result<std::size_t> count = co_await std::move(reading);
    if (!count || *count == 0) break;
    came += *count;
    opening.add(std::string_view(piece).substr(0, *count));
  }
  if (!opening.whole()) co_return;
  const std::string answer = answer_to(opening, state.reason_now(), state.options.grafana_prefix);
  auto writing = link->write(answer, 0);
  const Result<void> written = co_await std::move(writing);
  // Reads the rest; otherwise a reset could reach the sender before the answer.
  if (written) co_await link->linger(state.limits.request_ms_max);
}

// Ends the sessions, then the thread. The listening socket stays open.
int StartupListener::State::end() {
  int listening = -1;
  asio::post(context, [this, &listening] {
    ending = true;
    boost::system::error_code none;  // it is open
    listening = acceptor.release(none);
    pause.cancel();
    for (const std::shared_ptr<ClientConnection>& link : links) link->post_abort();
  });
  thread.join();
  return listening;
}

StartupListener::StartupListener(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<StartupListener>> StartupListener::open(const WebOptions& options,
                                                               std::string reason,
                                                               StartupListenerLimits limits) {
  auto state = std::make_unique<State>(options, limits);
  state->reason = std::move(reason);
  TRY_VOID(state->tls.load());
  TRY_VOID(bind_acceptor({options.address, options.port}, state->acceptor));
  boost::system::error_code error;
  state->acceptor.listen(static_cast<int>(options.backlog), error);
  if (error) {
    return fail(Errc::kUnavailable,
                fmt::format("cannot listen on {}: {}", options.address, error.message()));
  }
  asio::co_spawn(state->context, State::accept(*state), [](const std::exception_ptr& thrown) {
    if (thrown) log::error("an exception ended the start-up listener: {}", exception_text(thrown));
  });
  state->thread = std::thread([&own = *state] {
    name_this_thread("startup");
    own.context.run();
  });
  return std::unique_ptr<StartupListener>(new StartupListener(std::move(state)));
}

StartupListener::~StartupListener() {
  if (state_->thread.joinable()) ::close(state_->end());
}

Result<void> StartupListener::hand_over(tcp::acceptor& to) {
  boost::system::error_code error;
  const tcp::endpoint endpoint = state_->acceptor.local_endpoint(error);
  const int listening = state_->end();
  if (!error) to.assign(endpoint.protocol(), listening, error);
  if (!error) return {};
  ::close(listening);
  return fail(Errc::kUnavailable,
              fmt::format("cannot listen on {}: {}", state_->options.address, error.message()));
}

void StartupListener::set_reason(std::string reason) {
  const std::lock_guard lock(state_->mutex);
  state_->reason = std::move(reason);
}

std::uint16_t StartupListener::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace halite::web
