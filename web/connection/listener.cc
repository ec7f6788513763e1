#include "web/connection/listener.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <fmt/format.h>

#include "common/exception_text.h"
#include "common/log.h"
#include "common/threads/gauge_guard.h"
#include "web/access/access_control.h"
#include "web/connection/awaitable.h"
#include "web/connection/client_connection.h"
#include "web/connection/connection_quota.h"
#include "web/connection/listen_address.h"
#include "web/connection/protocol_detection.h"
#include "web/connection/startup_listener.h"
#include "web/connection/tls_begin.h"
#include "web/graphite/graphite_line_session.h"
#include "web/graphite/graphite_pickle_session.h"
#include "web/http/http_session.h"
#include "web/telnet/telnet_session.h"

namespace halite::web {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::size_t kSniffBytes = 16 << 10;
constexpr std::chrono::seconds kStillWaiting(1);  // between two log lines about it

// The port's setting and address; none: it is off.
struct Port {
  std::string_view setting;
  std::optional<ListenAddress> address;
};
Port port_of(PortProtocol protocol, const WebOptions& options) {
  switch (protocol) {
    case PortProtocol::kHttpAndTelnet:
      break;
    case PortProtocol::kGraphiteLines:
      return {.setting = "graphite.listen", .address = options.graphite};
    case PortProtocol::kGraphitePickle:
      return {.setting = "graphite.pickle_listen", .address = options.graphite_pickle};
  }
  return {.setting = "listen",
          .address = ListenAddress{.address = options.address, .port = options.port}};
}

// Starts TLS if the client begins with it. Returns whether the connection may continue.
asio::awaitable<bool> secure(ClientConnection& link, WebContext& context, std::int64_t deadline,
                             bool required) {
  auto securing = begin_tls(link, context.tls, required, context.options, deadline);
  const TlsBegin how = co_await std::move(securing);
  if (how == TlsBegin::kFailed) context.metrics.tls_failed.Increment();
  if (how == TlsBegin::kMissing) context.metrics.tls_missing.Increment();
  co_return how == TlsBegin::kDone;
}

// From the first byte to the last. Few senders of Graphite can use TLS, so none has to.
asio::awaitable<void> run_graphite(std::shared_ptr<ClientConnection> link, WebContext& context,
                                   PortProtocol protocol) {
  const GaugeGuard counted(context.metrics.connections_graphite);
  if (context.tls.on()) {
    const std::int64_t deadline =
        ClientConnection::deadline_in(context.options.telnet_idle_timeout_ms);
    const bool may_go_on = co_await secure(*link, context, deadline, false);
    if (!may_go_on) co_return link->close();
  }
  if (protocol == PortProtocol::kGraphiteLines) {
    GraphiteLineSession session(*link, context);
    co_await session.run();
  } else {
    GraphitePickleSession session(*link, context);
    co_await session.run();
  }
  link->close();
}

// The same for HTTP and telnet.
asio::awaitable<void> run_connection(std::shared_ptr<ClientConnection> link, WebContext& context) {
  const std::int64_t deadline = ClientConnection::deadline_in(context.options.idle_timeout_ms);
  if (context.tls.on()) {
    const bool may_go_on = co_await secure(*link, context, deadline, context.tls.only());
    if (!may_go_on) co_return link->close();
  }
  std::string early(kSniffBytes, '\0');
  const Result<std::size_t> count =
      co_await link->read_some(early.data(), early.size(), deadline, true);
  if (!count && count.error().code == Errc::kTimeout) context.metrics.timeouts.Increment();
  if (count && *count != 0) {
    context.metrics.bytes_read.Increment(static_cast<double>(*count));
    early.resize(*count);
    if (detect_protocol(early) == Protocol::kHttp) {
      const GaugeGuard counted(context.metrics.connections_http);
      HttpSession session(*link, context, std::move(early));
      co_await session.run();
    } else {
      const GaugeGuard counted(context.metrics.connections_telnet);
      TelnetSession session(link, context, early);
      co_await session.run();
    }
  }
  link->close();
}

// The interval of deadline checks: a quarter of the shortest deadline, between 10 ms and 1 s.
std::chrono::milliseconds sweep_period(const WebOptions& options) {
  std::int64_t shortest = 4'000;
  for (const std::int64_t timeout :
       {options.idle_timeout_ms, options.telnet_idle_timeout_ms, options.request_timeout_ms,
        options.write_timeout_ms, options.linger_timeout_ms}) {
    if (timeout > 0) shortest = std::min(shortest, timeout);
  }
  return std::chrono::milliseconds(std::max<std::int64_t>(shortest / 4, 10));
}

// Anonymous access depends on the address of the socket.
Result<void> check_anonymous(PortProtocol protocol, const WebOptions& options, bool loopback) {
  const Port port = port_of(protocol, options);
  const Result<Roles> roles = anonymous_roles(options.access, loopback);
  if (!roles) {
    const Error& why = roles.error();
    return fail(why.code,
                fmt::format("cannot listen on {}: {}", port.address->address, why.message));
  }
  if (protocol == PortProtocol::kHttpAndTelnet || roles->may(Role::kWrite)) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("{} lets any sender write, as Graphite has no login, but auth.anonymous "
                          "does not: add \"write\" to it, or unset {}",
                          port.setting, port.setting));
}

// Binds a port for a moment.
Result<void> check_port(PortProtocol protocol, const WebOptions& options,
                        const asio::any_io_executor& executor) {
  const Port port = port_of(protocol, options);
  if (!port.address) return {};
  tcp::acceptor acceptor(executor);
  TRY_VOID(bind_acceptor(*port.address, acceptor));
  return check_anonymous(protocol, options, acceptor.local_endpoint().address().is_loopback());
}

}  // namespace

struct Listener::State : std::enable_shared_from_this<State> {
  WebContext& context;
  const PortProtocol protocol;
  asio::any_io_executor executor;
  tcp::acceptor acceptor;    // on its strand
  asio::steady_timer pause;  // of the accept loop, on the same strand
  asio::steady_timer sweep;  // on the same strand
  bool stopping = false;     // on the strand: accept no more
  bool sweeping = true;      // on the strand

  std::mutex mutex;
  std::condition_variable changed;
  std::unordered_set<std::shared_ptr<ClientConnection>> links;  // guarded by mutex
  ConnectionQuota quota;                                        // guarded by mutex
  const std::vector<asio::any_io_executor> event_loops;  // each runs on one thread; may be empty
  std::vector<std::size_t> connections_per_loop;         // guarded by mutex
  std::size_t next_event_loop = 0;                       // start of the search; guarded by mutex
  std::size_t loops = 0;                                 // accept and sweep; guarded by mutex
  std::uint16_t port = 0;                                // set by start()

  State(WebContext& c, PortProtocol p, asio::any_io_executor e,
        std::vector<asio::any_io_executor> h)
      : context(c),
        protocol(p),
        executor(std::move(e)),
        acceptor(asio::make_strand(executor)),
        pause(acceptor.get_executor()),
        sweep(acceptor.get_executor()),
        quota({c.options.connections_max, c.options.connections_per_address_max}),
        event_loops(std::move(h)),
        connections_per_loop(event_loops.size()) {}

  asio::awaitable<void> accept_loop();
  asio::awaitable<void> sweep_loop();
  std::size_t choose_event_loop();
  void take(tcp::socket socket, std::size_t event_loop);
  void spawn_loop(asio::awaitable<void> loop);
  void each(void (ClientConnection::*call)());
  bool gone_within(std::chrono::milliseconds time);
  Result<void> open_to_whom();
};

// The loop with the fewest connections, round robin among equals; 0 without loops.
std::size_t Listener::State::choose_event_loop() {
  const std::lock_guard lock(mutex);
  std::size_t chosen = next_event_loop;
  for (std::size_t i = 0; i < connections_per_loop.size(); ++i) {
    const std::size_t event_loop = (next_event_loop + i) % connections_per_loop.size();
    if (connections_per_loop[event_loop] < connections_per_loop[chosen]) chosen = event_loop;
  }
  if (!connections_per_loop.empty()) next_event_loop = (chosen + 1) % connections_per_loop.size();
  return chosen;
}

void Listener::State::take(tcp::socket socket, std::size_t event_loop) {
  context.metrics.connections_total.Increment();
  boost::system::error_code ignored;  // only affects speed, or already closed
  socket.set_option(tcp::no_delay(true), ignored);
  const asio::ip::address from = socket.remote_endpoint(ignored).address();
  auto link = std::make_shared<ClientConnection>(std::move(socket));
  {
    const std::lock_guard lock(mutex);
    if (!quota.take(from)) {
      context.metrics.connections_rejected.Increment();
      return;  // the connection closes its socket
    }
    links.insert(link);
    if (!connections_per_loop.empty()) ++connections_per_loop[event_loop];
  }
  auto session = protocol == PortProtocol::kHttpAndTelnet ? run_connection(link, context)
                                                          : run_graphite(link, context, protocol);
  asio::co_spawn(
      link->socket().get_executor(), std::move(session),
      [self = shared_from_this(), link, event_loop, from](const std::exception_ptr& thrown) {
        if (thrown) {
          log::error("an exception ended a session; its connection is closed: {}",
                     exception_text(thrown));
          link->close();
        }
        const std::lock_guard lock(self->mutex);
        self->links.erase(link);
        self->quota.give_back(from);
        if (!self->connections_per_loop.empty()) --self->connections_per_loop[event_loop];
        self->changed.notify_all();
      });
}

asio::awaitable<void> Listener::State::accept_loop() {
  while (!stopping) {
    const std::size_t event_loop = choose_event_loop();
    tcp::socket socket(event_loops.empty() ? asio::any_io_executor(asio::make_strand(executor))
                                           : event_loops[event_loop]);
    auto accepting = acceptor.async_accept(socket, kAwaitable);
    const auto [error] = co_await std::move(accepting);
    if (!error) {
      take(std::move(socket), event_loop);
    } else if (!stopping) {
      co_await pause_accepting(pause, error);
    }
  }
}

asio::awaitable<void> Listener::State::sweep_loop() {
  const std::chrono::milliseconds period = sweep_period(context.options);
  while (sweeping) {
    sweep.expires_after(period);
    auto waiting = sweep.async_wait(kAwaitable);
    (void)co_await std::move(waiting);
    const std::int64_t now = ClientConnection::now_ms();
    const std::lock_guard lock(mutex);
    for (const std::shared_ptr<ClientConnection>& link : links) link->expire_if_late(now);
  }
}

void Listener::State::spawn_loop(asio::awaitable<void> loop) {
  {
    const std::lock_guard lock(mutex);
    ++loops;
  }
  asio::co_spawn(acceptor.get_executor(), std::move(loop),
                 [self = shared_from_this()](const std::exception_ptr& thrown) {
                   if (thrown) {
                     log::error("an exception ended the listener: {}", exception_text(thrown));
                   }
                   const std::lock_guard lock(self->mutex);
                   --self->loops;
                   self->changed.notify_all();
                 });
}

void Listener::State::each(void (ClientConnection::*call)()) {
  const std::lock_guard lock(mutex);
  for (const std::shared_ptr<ClientConnection>& link : links) ((*link).*call)();
}

bool Listener::State::gone_within(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, time, [this] { return links.empty(); });
}

Result<void> Listener::State::open_to_whom() {
  const bool loopback = acceptor.local_endpoint().address().is_loopback();
  TRY_VOID(check_anonymous(protocol, context.options, loopback));
  if (protocol != PortProtocol::kHttpAndTelnet) return {};
  context.options.loopback = loopback;
  return context.access.start(loopback);
}

Result<void> check_listen(const WebOptions& options, const asio::any_io_executor& executor) {
  for (const PortProtocol protocol : {PortProtocol::kHttpAndTelnet, PortProtocol::kGraphiteLines,
                                      PortProtocol::kGraphitePickle}) {
    TRY_VOID(check_port(protocol, options, executor));
  }
  if (!options.access.file.empty()) {
    TRY_VOID(read_accounts(options.access.file));
  }
  return Tls(options.tls).check();
}

Listener::Listener(WebContext& context, PortProtocol protocol, asio::any_io_executor executor,
                   std::vector<asio::any_io_executor> event_loops)
    : state_(std::make_shared<State>(context, protocol, std::move(executor),
                                     std::move(event_loops))) {}

Listener::~Listener() { stop(); }

Result<void> Listener::start(StartupListener* before) {
  const WebOptions& options = state_->context.options;
  const ListenAddress address = port_of(state_->protocol, options).address.value();
  tcp::acceptor& acceptor = state_->acceptor;
  Result<void> bound =
      before != nullptr ? before->hand_over(acceptor) : bind_acceptor(address, acceptor);
  if (bound) bound = state_->open_to_whom();
  if (bound && state_->protocol == PortProtocol::kHttpAndTelnet) bound = state_->context.tls.load();
  boost::system::error_code error;
  if (bound) acceptor.listen(options.backlog, error);
  if (error) {
    bound = fail(Errc::kUnavailable, fmt::format("cannot listen on {} port {}: {}", address.address,
                                                 address.port, error.message()));
  }
  if (!bound) {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    return bound;
  }
  state_->port = acceptor.local_endpoint().port();
  state_->spawn_loop(state_->accept_loop());
  state_->spawn_loop(state_->sweep_loop());
  return {};
}

void Listener::stop() {
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    if (state.loops == 0) return;
  }
  asio::post(state.acceptor.get_executor(), [self = state_] {
    self->stopping = true;
    boost::system::error_code ignored;
    self->acceptor.close(ignored);
    self->pause.cancel();
  });
  {
    // The accept loop ends first; the sweep still serves the remaining sessions.
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.loops <= 1; });
  }
  state.each(&ClientConnection::post_drain);
  const std::chrono::milliseconds grace(state.context.options.stop_timeout_ms);
  if (!state.gone_within(grace)) {
    state.each(&ClientConnection::post_abort);
    // A session's wait in the store cannot be cancelled, and it refers to the session, so the
    // session must live on. If the wait takes too long, app/server/shutdown_deadline.h ends the
    // process.
    while (!state.gone_within(kStillWaiting)) {
      log::warn("stopping: {} connections still wait for the store", connections());
    }
  }
  asio::post(state.sweep.get_executor(), [self = state_] {
    self->sweeping = false;
    self->sweep.cancel();
  });
  std::unique_lock lock(state.mutex);
  state.changed.wait(lock, [&] { return state.loops == 0; });
}

std::uint16_t Listener::port() const { return state_->port; }

std::size_t Listener::connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->links.size();
}

}  // namespace halite::web
