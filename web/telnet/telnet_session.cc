#include "web/telnet/telnet_session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "ingest/histogram_writer.h"
#include "ingest/rollup_writer.h"
#include "web/endpoint.h"
#include "web/telnet/telnet_commands.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kAuth = "auth";
constexpr std::size_t kReplyBytes = 64 << 10;  // buffered before they are sent

std::string_view first_word(std::string_view line) { return line.substr(0, line.find(' ')); }

std::string remote_address(ClientConnection& link) {
  boost::system::error_code gone;
  const auto remote = link.socket().remote_endpoint(gone);
  return gone ? std::string() : remote.address().to_string();
}

// The command of lines that are collected and stored together; empty for other commands.
std::string_view side_command(std::string_view line) {
  const std::string_view word = first_word(line);
  if (word == "rollup") return "rollup";
  return word == "histogram" ? "histogram" : "";
}

// put or incr: lines that go into a batch; empty for other commands.
std::string_view batch_command(std::string_view line) {
  const std::string_view word = first_word(line);
  if (word == "put") return "put";
  return word == "incr" ? "incr" : "";
}

bool sends_points(std::string_view line) {
  return !batch_command(line).empty() || !side_command(line).empty();
}

}  // namespace

TelnetSession::TelnetSession(std::shared_ptr<ClientConnection> link, WebContext& context,
                             std::string_view early)
    : connection_(std::move(link)),
      context_(context),
      caller_(context.access.anonymous()),
      lines_(context.options.line_bytes_max, context.options.read_bytes),
      points_(context.services.writer),
      increments_(context.services.increments),
      replies_(connection_, context.options.telnet_reply_bytes_max, context.metrics) {
  while (!early.empty()) {
    const std::span<char> space = lines_.space();
    const std::size_t count = std::min(space.size(), early.size());
    std::memcpy(space.data(), early.data(), count);
    note_read(space, count);
    early.remove_prefix(count);
  }
}

asio::awaitable<void> TelnetSession::run() {
  bool more = true;
  while (more) {
    co_await take_lines();
    co_await await_finished();
    replies_.send(std::exchange(reply_, {}));
    more = !exit_;
    if (more) more = co_await read();
  }
  if (lines_.unfinished() != 0) context_.metrics.telnet_lines_cut.Increment();
  while (!flushes_.empty()) co_await wait_oldest();
  replies_.send(std::exchange(reply_, {}));
  // Unread lines must not cost the replies to earlier lines.
  const bool lingers = exit_ || replies_.sending();
  co_await replies_.drain(std::max<std::int64_t>(context_.options.linger_timeout_ms, 1));
  if (lingers) co_await connection_->linger(context_.options.linger_timeout_ms);
}

asio::awaitable<bool> TelnetSession::read() {
  const std::int64_t deadline = ClientConnection::deadline_in(idle_ms());
  if (lines_.release_if_idle()) {
    const Result<void> readable = co_await connection_->wait_readable(deadline, true);
    if (!readable) co_return count_timeout(readable.error());
  }
  const std::span<char> space = lines_.space();
  const Result<std::size_t> count =
      co_await connection_->read_some(space.data(), space.size(), deadline, true);
  if (!count) co_return count_timeout(count.error());
  if (*count == 0) co_return false;
  context_.metrics.bytes_read.Increment(static_cast<double>(*count));
  note_read(space, *count);
  co_return true;
}

void TelnetSession::note_read(std::span<char> space, std::size_t count) {
  std::size_t skipped = 0;
  if (!negotiation_.over()) {
    skipped = negotiation_.skip({space.data(), count});
    std::memmove(space.data(), space.data() + skipped, count - skipped);
  }
  lines_.filled(count - skipped);
}

// An agent may be silent for long. A client without credentials may not occupy a place for an hour.
std::int64_t TelnetSession::idle_ms() const {
  const WebOptions& options = context_.options;
  const bool stranger = !caller_.roles.may(Role::kRead) && !caller_.roles.may(Role::kWrite);
  return stranger && options.idle_timeout_ms != 0 ? options.idle_timeout_ms
                                                  : options.telnet_idle_timeout_ms;
}

// Always false: end of input.
bool TelnetSession::count_timeout(const Error& error) {
  if (error.code == Errc::kTimeout) context_.metrics.timeouts.Increment();
  return false;
}

asio::awaitable<void> TelnetSession::take_lines() {
  if (!caller_.name.empty()) co_await log_in_again();
  std::string_view line;
  std::uint64_t count = 0;
  const bool takes_puts = context_.options.mode != Mode::kReadOnly;
  while (!exit_) {
    if (unflushed_) count += co_await take_fast_path();
    const LineSplitter::Found found = lines_.next(line);
    if (found == LineSplitter::Found::kNothing) break;
    ++count;
    if (found == LineSplitter::Found::kTooLong) {
      if (unflushed_) co_await flush();  // replies keep the order of lines
      refuse_long_line(line);
    } else if (takes_puts && sends_points(line) && refuse_without(Role::kWrite, first_word(line))) {
      // A reply has reported it.
    } else if (const auto command = batch_command(line); takes_puts && !command.empty()) {
      if (!auxiliary_lines_.empty()) co_await flush_auxiliary();
      ingest::TelnetBatch* const batch = command == "put" ? &points_ : &increments_;
      if (unflushed_ && batch != batch_) co_await flush();
      batch_ = batch;
      batch_->add(line, reply_);
      unflushed_ = true;
      if (batch_->full()) co_await flush();
    } else if (takes_puts && !side_command(line).empty()) {
      co_await take_auxiliary_line(side_command(line), line);
    } else {
      co_await run_command(line);
    }
    if (reply_.size() >= kReplyBytes) replies_.send(std::exchange(reply_, {}));
  }
  context_.metrics.telnet_lines.Increment(static_cast<double>(count));
  if (unflushed_) co_await flush();
  if (!auxiliary_lines_.empty()) co_await flush_auxiliary();
}

// Takes lines of points in the expected order. Returns their number.
asio::awaitable<std::uint64_t> TelnetSession::take_fast_path() {
  const std::size_t line_bytes_max = context_.options.line_bytes_max;
  const auto taken = batch_->add_fast_path(lines_.ahead(), line_bytes_max, reply_);
  lines_.took(taken.bytes);
  if (batch_->full()) co_await flush();
  co_return taken.lines;
}

// Replies keep the order of lines, so only one kind waits at a time.
asio::awaitable<void> TelnetSession::take_auxiliary_line(std::string_view command,
                                                         std::string_view line) {
  if (unflushed_) co_await flush();
  if (command != auxiliary_command_ && !auxiliary_lines_.empty()) co_await flush_auxiliary();
  auxiliary_command_ = command;
  context_.metrics.telnet_command(command);
  if (command == "histogram" && context_.services.histograms == nullptr) {
    reply_ += fmt::format("histogram: illegal argument: {}\n", kHistogramsAreOff);
    co_return;
  }
  auxiliary_lines_.emplace_back(line);
  auxiliary_bytes_ += line.size();
  const bool full = auxiliary_lines_.size() >= context_.options.telnet_side_lines_max ||
                    auxiliary_bytes_ >= context_.options.telnet_side_bytes_max;
  if (full) co_await flush_auxiliary();
}

// Waiting lines become durable before more input is read, so that memory stays bounded.
asio::awaitable<void> TelnetSession::flush_auxiliary() {
  std::vector<std::string> lines = std::exchange(auxiliary_lines_, {});
  auxiliary_bytes_ = 0;
  const web::WebServices& services = context_.services;
  auto storing = auxiliary_command_ == "rollup"
                     ? services.rollups.put_lines(std::move(lines), &reply_)
                     : services.histograms->put_lines(std::move(lines), &reply_);
  const Result<void> stored = co_await std::move(storing);
  if (!stored) note_failure(stored.error());
}

asio::awaitable<void> TelnetSession::run_command(std::string_view line) {
  if (unflushed_) co_await flush();  // replies keep the order of lines
  if (!auxiliary_lines_.empty()) co_await flush_auxiliary();
  const std::string_view word = first_word(line);
  if (word == "exit") {
    exit_ = true;
  } else if (word.substr(0, word.find('\t')) == kAuth) {  // do not repeat its secret
    co_await log_in(line);
  } else if (word == "sync" && context_.options.mode != Mode::kReadOnly) {
    co_await sync();
  } else if (const TelnetCommand* command = find_telnet_command(word, context_.options.mode)) {
    if (!refuse_without(command->role, word)) command->run(context_, line, reply_);
  } else {
    reply_ += unknown_command(word);
    context_.metrics.telnet_command("unknown");
    co_return;
  }
  context_.metrics.telnet_command(word);
}

// OpenTSDB's replies, which its clients expect.
asio::awaitable<void> TelnetSession::log_in(std::string_view line) {
  const std::string_view said = trim(line.substr(kAuth.size()));
  const std::size_t space = said.find(' ');
  login_ = TokenLogin{std::string(said)};
  if (space != std::string_view::npos) {
    login_ =
        PasswordLogin{std::string(said.substr(0, space)), std::string(trim(said.substr(space)))};
  }
  version_ = context_.access.version();
  Result<Caller> caller = co_await context_.access.caller(login_, remote_address(*connection_));
  if (caller) {
    caller_ = *std::move(caller);
    reply_ += "AUTH_SUCCESS\n";
  } else {
    caller_ = context_.access.anonymous();
    reply_ += fmt::format("AUTH_FAIL\nauth: {}\n", caller.error().message);
  }
}

asio::awaitable<void> TelnetSession::log_in_again() {
  const std::uint64_t version = context_.access.version();
  if (version == version_) co_return;
  version_ = version;
  Result<Caller> caller = co_await context_.access.caller(login_, remote_address(*connection_));
  caller_ = caller ? *std::move(caller) : context_.access.anonymous();
}

bool TelnetSession::refuse_without(Role role, std::string_view command) {
  if (caller_.roles.may(role)) return false;
  reply_ += fmt::format(
      "{}: not allowed: requires the role {} (send auth TOKEN, or auth USER PASSWORD)\n", command,
      role_name(role));
  return true;
}

void TelnetSession::refuse_long_line(std::string_view beginning) {
  context_.metrics.telnet_lines_too_long.Increment();
  const std::string_view command = batch_command(beginning);
  const std::string_view word = command.empty() ? "error" : command;
  reply_ += fmt::format("{}: illegal argument: line longer than {} bytes (web.line_bytes_max)\n",
                        word, context_.options.line_bytes_max);
}

asio::awaitable<void> TelnetSession::flush() {
  while (must_wait()) co_await wait_oldest();
  unflushed_ = false;
  Result<ingest::TelnetBatch::Flushed> flushed = co_await batch_->flush(reply_);
  if (!flushed) {
    note_failure(flushed.error());
    co_return;
  }
  if (flushed->retryable_error) note_failure(*flushed->retryable_error);
  if (flushed->points == 0) co_return;
  flushes_.push_back({batch_, std::move(*flushed), std::chrono::steady_clock::now()});
}

// A client's points are durable within telnet_durable_ms, or nothing more is read from it.
bool TelnetSession::must_wait() const {
  if (flushes_.empty()) return false;
  if (flushes_.size() >= std::max<std::size_t>(context_.options.telnet_flushes_max, 1)) return true;
  const auto age = std::chrono::steady_clock::now() - flushes_.front().began;
  return age >= std::chrono::milliseconds(context_.options.telnet_durable_ms);
}

void TelnetSession::note_failure(const Error& error) {
  context_.metrics.telnet_flushes_failed.Increment();
  failed_ = error.message;
}

asio::awaitable<void> TelnetSession::await_finished() {
  while (!flushes_.empty() && flushes_.front().flushed.durable.finished()) co_await wait_oldest();
}

asio::awaitable<void> TelnetSession::wait_oldest() {
  Flush oldest = std::move(flushes_.front());
  flushes_.pop_front();
  auto settling = oldest.batch->await_durable(std::move(oldest.flushed), reply_);
  const Result<void> settled = co_await std::move(settling);
  if (!settled) note_failure(settled.error());
}

asio::awaitable<void> TelnetSession::sync() {
  while (!flushes_.empty()) co_await wait_oldest();
  if (failed_.empty()) {
    reply_ += "synced\n";
  } else {
    reply_ += fmt::format("sync: {}\n", std::exchange(failed_, {}));
  }
  replies_.send(std::exchange(reply_, {}));
}

}  // namespace halite::web
