// Sends traces to a collector by OTLP over HTTP. What OTLP says about answers holds: 429, 502, 503
// and 504 and lost connections are tried again, later and later; other errors lose the batch.
//
//   TRY(auto exporter, TraceExporter::open(options, origin, registry));
//   exporter->add(trace);               from requests; never waits
//   exporter->begin_stop();             sends what waits, each batch once, within flush_ms
//   exporter.reset();                   waits for that
//
//   Limits   the queue holds queue_spans_max spans; a trace that does not fit is dropped and
//            counted.
//   Threads  call add() from any thread, the rest from one. One thread, `traces`, sends.
//   Errors   those of sending are counted, and logged when they begin and when they end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

#include "app/client/http_client.h"
#include "app/tracing/otlp_trace.h"
#include "common/result.h"
#include "common/tracing/trace.h"

namespace halite::app {

struct TracingOptions {
  std::string endpoint;                 // tracing.endpoint: a URL; empty = tracing is off
  std::string headers_file;             // tracing.headers_file: lines "Name: value"; empty = none
  std::string ca_file;                  // tracing.ca_file: PEM; empty = the system's
  std::string service_name = "halite";  // tracing.service_name
  std::string sample_ratio = "0";       // tracing.sample_ratio: 0 to 1
  std::size_t queue_spans_max = 8192;   // tracing.queue_spans_max
  std::size_t batch_spans_max = 512;    // tracing.batch_spans_max: then a batch does not wait
  std::int64_t interval_ms = 1'000;     // tracing.interval_ms: a trace waits at most so long
  std::int64_t timeout_ms = 10'000;     // tracing.timeout_ms: of a request
  std::int64_t retry_ms = 60'000;       // tracing.retry_ms: of a batch, from its first request on
  std::int64_t flush_ms = 3'000;        // tracing.flush_ms: at a stop
  // Not settings.
  std::int64_t backoff_min_ms = 1'000;  // after the first failure; doubles with each
  std::int64_t backoff_max_ms = 30'000;
};

// 0 to 1. kInvalidArgument: anything else.
[[nodiscard]] Result<double> parse_sample_ratio(std::string_view text);

class TraceExporter final : public TraceSink {
 public:
  // kInvalidArgument, kNotFound: the endpoint or a file is not valid.
  [[nodiscard]] static Result<std::unique_ptr<TraceExporter>> open(TracingOptions options,
                                                                   TraceOrigin origin,
                                                                   prometheus::Registry& registry);
  ~TraceExporter() override;  // begin_stop(), then waits
  TraceExporter(const TraceExporter&) = delete;

  void add(Trace trace) override;
  void begin_stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  enum class Outcome : std::uint8_t { kSent, kLater, kLost };
  enum class Trouble : std::uint8_t { kNone, kSome, kAll };  // which spans are not accepted
  struct Answered {
    Outcome outcome = Outcome::kLost;
    std::string why = {};             // empty: all are accepted
    std::int64_t retry_after_ms = 0;  // 0: not said
    std::int64_t rejected = 0;        // spans, of those sent
  };

  struct Metrics {
    explicit Metrics(prometheus::Registry& registry);
    prometheus::Counter& sent;      // spans
    prometheus::Counter& dropped;   // the queue was full
    prometheus::Counter& lost;      // not accepted in time, or not at all
    prometheus::Counter& rejected;  // by a collector that took the rest of the batch
    prometheus::Counter& retries;   // requests
    prometheus::Gauge& waiting;     // spans
  };

  TraceExporter(TracingOptions options, TraceOrigin origin, Peer peer,
                std::vector<HttpHeader> headers, prometheus::Registry& registry);

  void run();
  // Waits for a batch; empty: the exporter stops, and nothing is left.
  std::vector<Trace> next_batch();
  void send(const std::vector<Trace>& batch);
  Answered send_once(const std::string& body);
  Answered judge(const HttpReply& reply);
  // False: it stops.
  bool wait_for_retry(std::int64_t ms);
  [[nodiscard]] Time request_deadline() const;
  void report(const Answered& answered);

  const TracingOptions options_;
  const TraceOrigin origin_;
  const Peer peer_;
  const std::vector<HttpHeader> headers_;
  Metrics metrics_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Trace> queue_;       // guarded by mutex_
  std::size_t queued_spans_ = 0;  // guarded by mutex_
  Time stop_at_ = Time::max();    // guarded by mutex_; max: it does not stop
  Trouble trouble_ = {};          // used by thread_, like what follows
  std::minstd_rand jitter_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace halite::app
