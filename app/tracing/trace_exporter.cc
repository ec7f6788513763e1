#include "app/tracing/trace_exporter.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/bytes/shortened.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

constexpr std::uint64_t kAnswerBytesMax = 1 << 20;
constexpr std::string_view kDefaultPath = "/v1/traces";
constexpr std::int64_t kStopCheckMs = 50;  // between two looks, while a request is on its way

constexpr std::array<std::string_view, 5> kOwnHeaders = {
    "Connection", "Content-Length", "Content-Type", "Host", "Transfer-Encoding"};

bool is_token(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

// Errors name the line and not what it holds: that is a secret.
Result<std::vector<HttpHeader>> read_headers(const std::string& path) {
  std::vector<HttpHeader> headers;
  if (path.empty()) return headers;
  std::ifstream in(path);
  if (!in) {
    return fail(Errc::kInvalidArgument, fmt::format("tracing.headers_file: cannot read {}: {}",
                                                    path, std::strerror(errno)));
  }
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    const std::string_view text = trim(line, kJsonBlanks);
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, std::min(colon, text.size()));
    const bool printable = std::ranges::none_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
    if (colon == std::string_view::npos || !is_token(name) || !printable) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("tracing.headers_file: {}:{}: expected Name: value", path, number));
    }
    const bool reserved = std::ranges::any_of(
        kOwnHeaders, [name](std::string_view own) { return equal_ignoring_case(name, own); });
    if (reserved) {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("tracing.headers_file: {}:{}: Halite sets {} itself", path, number, name));
    }
    headers.push_back(
        {.name = std::string(name), .value = std::string(trim(text.substr(colon + 1)))});
  }
  if (in.bad()) {
    return fail(Errc::kUnavailable, fmt::format("tracing.headers_file: cannot read {}", path));
  }
  return headers;
}

std::size_t spans_in(const std::vector<Trace>& batch) {
  std::size_t spans = 0;
  for (const Trace& trace : batch) spans += trace.spans.size();
  return spans;
}

bool is_retryable(unsigned status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

Result<double> parse_sample_ratio(std::string_view text) {
  double ratio = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ratio);
  if (error != std::errc() || end != text.data() + text.size() || !(ratio >= 0 && ratio <= 1)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("tracing.sample_ratio = {}: expected a number from 0 to 1", text));
  }
  return ratio;
}

TraceExporter::Metrics::Metrics(prometheus::Registry& registry)
    : sent(add_counter(registry, "halite_tracing_sent_spans_total",
                       "Spans that the collector accepted.")),
      dropped(add_counter(registry, "halite_tracing_dropped_spans_total",
                          "Spans dropped because of tracing.queue_spans_max.")),
      lost(add_counter(registry, "halite_tracing_lost_spans_total",
                       "Spans that the collector did not accept, or not within tracing.retry_ms.")),
      rejected(add_counter(registry, "halite_tracing_rejected_spans_total",
                           "Spans that the collector refused while it accepted others.")),
      retries(add_counter(registry, "halite_tracing_retries_total",
                          "Repeated requests to the collector.")),
      waiting(add_gauge(registry, "halite_tracing_waiting_spans",
                        "Spans that wait to be sent to the collector.")) {}

Result<std::unique_ptr<TraceExporter>> TraceExporter::open(TracingOptions options,
                                                           TraceOrigin origin,
                                                           prometheus::Registry& registry) {
  Result<Peer> peer =
      make_peer(options.endpoint, {.token = {}, .ca = options.ca_file}, UrlPorts::kOfScheme);
  if (!peer) {
    return fail(peer.error().code, "tracing.endpoint: " + peer.error().message);
  }
  if (peer->url.prefix.empty()) peer->url.prefix = kDefaultPath;
  TRY(std::vector<HttpHeader> headers, read_headers(options.headers_file));
  return std::unique_ptr<TraceExporter>(new TraceExporter(
      std::move(options), std::move(origin), *std::move(peer), std::move(headers), registry));
}

TraceExporter::TraceExporter(TracingOptions options, TraceOrigin origin, Peer peer,
                             std::vector<HttpHeader> headers, prometheus::Registry& registry)
    : options_(std::move(options)),
      origin_(std::move(origin)),
      peer_(std::move(peer)),
      headers_(std::move(headers)),
      metrics_(registry),
      jitter_(std::random_device{}()),
      thread_([this] { run(); }) {}

TraceExporter::~TraceExporter() {
  begin_stop();
  thread_.join();
}

void TraceExporter::add(Trace trace) {
  const std::size_t spans = trace.spans.size();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (queued_spans_ + spans > options_.queue_spans_max || stop_at_ != Time::max()) {
      metrics_.dropped.Increment(static_cast<double>(spans));
      return;
    }
    wake = queue_.empty() || queued_spans_ + spans >= options_.batch_spans_max;
    queue_.push_back(std::move(trace));
    queued_spans_ += spans;
    metrics_.waiting.Set(static_cast<double>(queued_spans_));
  }
  if (wake) changed_.notify_one();
}

void TraceExporter::begin_stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stop_at_ != Time::max()) return;
    stop_at_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.flush_ms);
  }
  changed_.notify_one();
}

void TraceExporter::run() {
  name_this_thread("traces");
  for (;;) {
    const std::vector<Trace> batch = next_batch();
    if (batch.empty()) return;
    send(batch);
  }
}

std::vector<Trace> TraceExporter::next_batch() {
  const auto stops = [this] { return stop_at_ != Time::max(); };
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !queue_.empty() || stops(); });
  changed_.wait_for(lock, std::chrono::milliseconds(options_.interval_ms),
                    [&] { return queued_spans_ >= options_.batch_spans_max || stops(); });
  std::vector<Trace> batch;
  std::size_t spans = 0;
  while (!queue_.empty()) {
    const std::size_t more = queue_.front().spans.size();
    if (!batch.empty() && spans + more > options_.batch_spans_max) break;
    spans += more;
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  queued_spans_ -= spans;
  metrics_.waiting.Set(static_cast<double>(queued_spans_));
  return batch;
}

void TraceExporter::send(const std::vector<Trace>& batch) {
  const auto spans = static_cast<std::int64_t>(spans_in(batch));
  const std::string body = otlp_traces(origin_, batch);
  const Time give_up =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.retry_ms);
  std::int64_t backoff_ms = options_.backoff_min_ms;
  for (;;) {
    const Answered answered = send_once(body);
    report(answered);
    if (answered.outcome == Outcome::kSent) {
      const std::int64_t rejected = std::min(answered.rejected, spans);
      metrics_.rejected.Increment(static_cast<double>(rejected));
      metrics_.sent.Increment(static_cast<double>(spans - rejected));
      return;
    }
    // Up to half of the time is left to chance, so that many senders do not come at once.
    const auto spread = static_cast<std::int64_t>(jitter_() % 512);
    std::int64_t wait_ms = backoff_ms - backoff_ms * spread / 1024;
    if (answered.retry_after_ms > 0) wait_ms = answered.retry_after_ms;
    backoff_ms = std::min(2 * backoff_ms, options_.backoff_max_ms);
    const bool in_time =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms) < give_up;
    if (answered.outcome == Outcome::kLost || !in_time || !wait_for_retry(wait_ms)) {
      metrics_.lost.Increment(static_cast<double>(spans));
      return;
    }
    metrics_.retries.Increment();
  }
}

bool TraceExporter::wait_for_retry(std::int64_t ms) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, std::chrono::milliseconds(ms),
                            [this] { return stop_at_ != Time::max(); });
}

TraceExporter::Time TraceExporter::request_deadline() const {
  const std::lock_guard lock(mutex_);
  return stop_at_;
}

TraceExporter::Answered TraceExporter::send_once(const std::string& body) {
  const HttpLimits limits{.timeout_ms = static_cast<std::uint32_t>(options_.timeout_ms),
                          .body_bytes_max = kAnswerBytesMax};
  HttpRequest request{
      .target = {}, .body = body, .content_type = "application/x-protobuf", .headers = headers_};
  std::optional<Result<HttpReply>> reply;
  boost::asio::io_context io(1);
  boost::asio::co_spawn(io, send_http(peer_, std::move(request), limits),
                        [&reply](const std::exception_ptr& thrown, Result<HttpReply> came) {
                          if (thrown) std::rethrow_exception(thrown);
                          reply = std::move(came);
                        });
  const Time latest =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.timeout_ms);
  while (!reply) {
    const Time until = std::min(latest, request_deadline());
    const Time now = std::chrono::steady_clock::now();
    if (now >= until) break;
    io.run_one_until(std::min(until, now + std::chrono::milliseconds(kStopCheckMs)));
  }
  if (!reply) return {.outcome = Outcome::kLater, .why = "it did not answer in time"};
  if (!*reply) return {.outcome = Outcome::kLater, .why = reply->error().message};
  return judge(**reply);
}

TraceExporter::Answered TraceExporter::judge(const HttpReply& reply) {
  if (reply.status >= 200 && reply.status < 300) {
    const PartialSuccess partial = read_partial_success(reply.body);
    Answered answered{.outcome = Outcome::kSent, .rejected = partial.rejected};
    if (partial.rejected > 0) {
      answered.why =
          fmt::format("it refused {} spans: {}", partial.rejected, shortened(partial.message));
    }
    return answered;
  }
  Answered answered{.outcome = Outcome::kLost, .why = fmt::format("status {}", reply.status)};
  if (is_retryable(reply.status)) {
    answered.outcome = Outcome::kLater;
    std::int64_t seconds = 0;  // the date that it may be instead is not read
    if (read_number(reply.retry_after, seconds) && seconds > 0) {
      constexpr std::int64_t kSecondsMax = 1'000'000;
      answered.retry_after_ms = 1000 * std::min(seconds, kSecondsMax);
    }
  }
  return answered;
}

// Logs changes only.
void TraceExporter::report(const Answered& answered) {
  Trouble now = Trouble::kNone;
  if (!answered.why.empty()) {
    now = answered.outcome == Outcome::kSent ? Trouble::kSome : Trouble::kAll;
  }
  if (now == std::exchange(trouble_, now)) return;
  switch (now) {
    case Trouble::kNone:
      return log::info("traces are sent to {} again", options_.endpoint);
    case Trouble::kSome:
      return log::warn("not all traces are accepted by {}: {}", options_.endpoint, answered.why);
    case Trouble::kAll:
      return log::warn("traces are not sent to {}: {}", options_.endpoint, answered.why);
  }
}

}  // namespace halite::app
