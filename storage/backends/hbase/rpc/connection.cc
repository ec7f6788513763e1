#include "storage/backends/hbase/rpc/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/threads/gauge_guard.h"

namespace halite::storage::hbase {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTickBusy{20};  // a call may time out this much late
constexpr milliseconds kTickIdle{1000};
constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kLengthBytes = 4;

// Sets only the first bytes; the rest is read into it.
Bytes begun_frame(BytesView begin, std::size_t length) {
  Bytes frame;
  // Do not use the size argument: GCC 12's library passes the capacity instead.
  frame.resize_and_overwrite(length, [begin, length](char* to, std::size_t) {
    std::memcpy(to, begin.data(), begin.size());
    return length;
  });
  return frame;
}

// A server that refuses a connection often only closes it.
std::string why_refused(const std::string& service, const ClientOptions& options) {
  std::string why = " before its first answer: does it offer " + service + "?";
  if (!options.tls.enabled) why += " If it requires TLS, set hbase.tls.";
  if (!options.kerberos.enabled) why += " If it requires Kerberos, set hbase.authentication.";
  return why;
}

// What to change if the server refuses the whole connection.
std::string_view advice(const RemoteException& exception, const ClientOptions& options) {
  const bool simple = exception.text.contains("Authentication is required");
  if (!simple || options.kerberos.enabled) return {};
  return "; it requires Kerberos: set hbase.authentication = kerberos";
}

}  // namespace

// Each coroutine of the connection holds it; the last one signals the end.
class Connection::Running {
 public:
  explicit Running(Completion ended) : ended_(std::move(ended)) {}
  Running(const Running&) = delete;
  ~Running() { ended_.finish({}); }

 private:
  const Completion ended_;
};

std::shared_ptr<Connection> Connection::open(Setup setup, const ClientOptions& options,
                                             Stats& stats) {
  auto self = std::make_shared<Connection>(Private{}, std::move(setup), options, stats);
  stats.connections.Increment();
  auto running = std::make_shared<Running>(self->ended_);
  self->running_ = running;
  boost::asio::co_spawn(self->strand_, run(running, self), boost::asio::detached);
  boost::asio::co_spawn(self->strand_, watch(running, self), boost::asio::detached);
  return self;
}

Connection::Connection(Private, Setup setup, const ClientOptions& options, Stats& stats)
    : setup_(std::move(setup)),
      options_(options),
      stats_(stats),
      strand_(boost::asio::make_strand(setup_.executor)),
      semaphore_(std::make_shared<Semaphore>(
          SemaphoreLoad{.items = options.server_calls_max, .bytes = options.server_bytes_max})),
      transport_(setup_.transport(strand_, setup_.host)),
      tick_(strand_),
      heard_(std::chrono::steady_clock::now()),
      used_(heard_),
      opened_(heard_) {}

std::string Connection::name() const { return to_text(setup_.server); }

RemoteTask<Reply> Connection::call(Call call) {
  const std::shared_ptr<Connection> self = shared_from_this();
  auto pending = std::make_shared<PendingCall>();
  pending->timeout_ms = call.timeout_ms;
  pending->deadline = std::chrono::steady_clock::now() + milliseconds(call.timeout_ms);
  const SemaphoreLoad load{.items = 1, .bytes = call.message.size() + call.cellblock.size()};
  std::optional<GaugeGuard> waits;
  waits.emplace(stats_.waiting_requests);
  auto admitted = co_await semaphore_->enter(load, milliseconds(call.timeout_ms));
  waits.reset();
  if (!admitted && admitted.error().code == Errc::kOverloaded) {
    co_return std::unexpected<Fault>(Fault{
        .remedy = Remedy::kOverloaded,
        .error = {Errc::kTimeout,
                  fmt::format("{} has been overloaded for {} ms", name(), pending->timeout_ms),
                  {}},
        .moved = {}});
  }
  if (!admitted) co_return lost(admitted.error().message, false);
  const GaugeGuard under_way(stats_.under_way_bytes, static_cast<double>(load.bytes));
  pending->id = calls_.new_id();
  const RequestHead head{.call_id = pending->id,
                         .method = call.method,
                         .timeout_ms = call.timeout_ms,
                         .priority = call.priority,
                         .cellblock_bytes = call.cellblock.size()};
  pending->frame = request_frame(head, call.message);
  pending->cellblock = std::move(call.cellblock);
  const Result<bool> to_wake = calls_.add(pending);
  if (!to_wake) co_return lost(to_wake.error().message, false);
  stats_.requests.Increment();
  if (*to_wake) wake_writer();
  const Result<void> told = co_await pending->done.wait();
  static_cast<void>(told);  // the outcome holds the error
  co_return std::move(pending->outcome);
}

void Connection::wake_writer() {
  auto step = [self = shared_from_this()] { self->start_writer(); };
  boost::asio::post(strand_, std::move(step));
}

void Connection::start_writer() {
  const std::shared_ptr<Running> running = running_.lock();
  if (running == nullptr || calls_.broken()) return;
  used_ = std::chrono::steady_clock::now();
  tick_.cancel();
  boost::asio::co_spawn(strand_, write_queued(running, shared_from_this()), boost::asio::detached);
}

boost::asio::awaitable<void> Connection::write_queued(std::shared_ptr<Running> running,
                                                      std::shared_ptr<Connection> self) {
  static_cast<void>(running);
  for (;;) {
    const std::vector<PendingCallPtr> batch = self->calls_.next_to_write();
    if (batch.empty()) co_return;
    std::vector<boost::asio::const_buffer> buffers;
    std::size_t bytes = 0;
    for (const PendingCallPtr& pending : batch) {
      buffers.push_back(boost::asio::buffer(pending->frame));
      if (!pending->cellblock.empty()) buffers.push_back(boost::asio::buffer(pending->cellblock));
      bytes += pending->bytes();
    }
    Task<void> writing = self->transport_->write(std::move(buffers));
    const Result<void> written = co_await std::move(writing);
    if (!written) {
      self->break_off(written.error());
      co_return;
    }
    self->stats_.sent_bytes.Increment(static_cast<double>(bytes));
    self->used_ = std::chrono::steady_clock::now();
  }
}

Task<void> Connection::send_preamble() {
  CO_TRY_VOID(co_await transport_->connect(setup_.server));
  Bytes bytes;
  if (options_.kerberos.enabled) {  // the transport has sent the preamble and authenticated
    bytes = connection_header(setup_.service, {});
  } else {
    bytes = preamble(Authentication::kSimple) + connection_header(setup_.service, options_.user);
  }
  std::vector<boost::asio::const_buffer> buffers = {boost::asio::buffer(bytes)};
  CO_TRY_VOID(co_await transport_->write(std::move(buffers)));
  co_return Result<void>();
}

boost::asio::awaitable<void> Connection::run(std::shared_ptr<Running> running,
                                             std::shared_ptr<Connection> self) {
  static_cast<void>(running);
  Result<void> outcome = co_await self->send_preamble();
  if (outcome) {
    self->connected_ = true;
    self->heard_ = std::chrono::steady_clock::now();
    self->start_writer();
    outcome = co_await self->read_answers();
  }
  Error why = std::move(outcome).error();
  if (self->connected_ && !self->answered()) {
    why.message += why_refused(self->setup_.service, self->options_);
  }
  self->break_off(std::move(why));
}

Task<void> Connection::read_answers() {
  std::vector<char> buffer(kReadBytes);
  std::size_t have = 0;
  for (;;) {
    CO_TRY(const std::size_t got, co_await transport_->read_some(boost::asio::buffer(
                                      buffer.data() + have, buffer.size() - have)));
    heard_ = std::chrono::steady_clock::now();
    stats_.received_bytes.Increment(static_cast<double>(got));
    have += got;
    std::size_t at = 0;
    while (have - at >= kLengthBytes) {
      const std::size_t length = load_be<std::uint32_t>(buffer.data() + at);
      if (length > options_.response_bytes_max) {
        co_return fail(Errc::kUnavailable, fmt::format("an answer of {} bytes, {} are allowed",
                                                       length, options_.response_bytes_max));
      }
      const std::size_t here = std::min(length, have - at - kLengthBytes);
      if (here < length && length + kLengthBytes <= buffer.size()) break;
      Bytes frame = begun_frame(BytesView(buffer.data() + at + kLengthBytes, here), length);
      if (here < length) CO_TRY_VOID(co_await read_long(frame, here));
      at += kLengthBytes + here;
      CO_TRY_VOID(deliver(std::move(frame)));
    }
    std::memmove(buffer.data(), buffer.data() + at, have - at);
    have -= at;
  }
}

// Reads the rest of an answer that is longer than the buffer.
Task<void> Connection::read_long(Bytes& frame, std::size_t have) {
  while (have < frame.size()) {
    CO_TRY(const std::size_t got, co_await transport_->read_some(boost::asio::buffer(
                                      frame.data() + have, frame.size() - have)));
    heard_ = std::chrono::steady_clock::now();
    stats_.received_bytes.Increment(static_cast<double>(got));
    have += got;
  }
  co_return Result<void>();
}

Result<void> Connection::deliver(Bytes bytes) {
  auto frame = std::make_shared<const Bytes>(std::move(bytes));
  TRY(RpcResponse answer, parse_answer(*frame));
  if (answer.call_id == kConnectionCallId) {
    if (!answer.exception) {
      return fail(Errc::kUnavailable, "it ended the connection without a reason");
    }
    return fail(Errc::kUnavailable,
                fmt::format("{}{}", answer.exception->text, advice(*answer.exception, options_)));
  }
  const PendingCallPtr pending = calls_.take(answer.call_id);
  if (pending == nullptr) {
    stats_.late.Increment();
    return {};
  }
  if (answer.exception) {
    pending->outcome = std::unexpected(classify(*answer.exception, name()));
  } else {
    pending->outcome = Reply{std::move(frame), answer.message, answer.cellblock};
  }
  pending->done.finish({});
  return {};
}

void Connection::expire(TimePoint now) {
  for (const PendingCallPtr& pending : calls_.take_expired(now)) {
    stats_.timeouts.Increment();
    pending->outcome = std::unexpected(
        Fault{.remedy = Remedy::kWait,
              .error = {Errc::kTimeout,
                        fmt::format("{} did not answer within {} ms", name(), pending->timeout_ms),
                        {}},
              .moved = {},
              .maybe_done = pending->sent});
    pending->done.finish({});
  }
}

std::optional<std::string> Connection::reason_to_end(TimePoint now) const {
  if (!connected_) {
    if (now - opened_ < milliseconds(options_.connect_ms_max)) return std::nullopt;
    return fmt::format("not reached within {} ms; it waits for {}", options_.connect_ms_max,
                       transport_->step());
  }
  if (!calls_.empty()) {
    if (now - heard_ < milliseconds(options_.silence_ms_max)) return std::nullopt;
    return fmt::format("no answer for {} ms", options_.silence_ms_max);
  }
  if (now - used_ < milliseconds(options_.idle_ms_max)) return std::nullopt;
  return "idle for too long";
}

boost::asio::awaitable<void> Connection::watch(std::shared_ptr<Running> running,
                                               std::shared_ptr<Connection> self) {
  static_cast<void>(running);
  for (;;) {
    if (self->calls_.broken()) co_return;
    const bool idle = self->calls_.empty() && self->connected_;
    const TimePoint before = std::chrono::steady_clock::now();
    if (idle) self->heard_ = before;
    self->tick_.expires_after(idle ? kTickIdle : kTickBusy);
    auto ticked = self->tick_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_await std::move(ticked);
    const TimePoint now = std::chrono::steady_clock::now();
    if (idle) self->heard_ = std::max(self->heard_, now);  // no answer was due until now
    self->expire(now);
    if (auto reason = self->reason_to_end(now)) {
      self->break_off({Errc::kUnavailable, *std::move(reason), {}});
    }
  }
}

void Connection::break_off(Error why) {
  why.message = fmt::format("region server or master {}: {}", name(), why.message);
  const std::optional<std::vector<PendingCallPtr>> pending = calls_.break_off(why);
  if (!pending) return;
  if (!pending->empty() || !connected_) stats_.broken.Increment();
  transport_->close();
  tick_.cancel();
  semaphore_->close(why.message);
  for (const PendingCallPtr& call : *pending) {
    call->outcome = lost(why.message, call->sent);
    call->done.finish({});
  }
}

void Connection::close(Error why) {
  auto step = [self = shared_from_this(), why = std::move(why)]() mutable {
    self->break_off(std::move(why));
  };
  boost::asio::post(strand_, std::move(step));
}

}  // namespace halite::storage::hbase
