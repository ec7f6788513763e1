// The settings of tracing.

#include "app/settings/options.h"
#include "app/settings/setting_ranges.h"
#include "common/units.h"

namespace halite::app {

void declare_tracing(Config& config, Options& options) {
  TracingOptions& tracing = options.tracing;
  web::TraceOptions& traces = options.web.traces;
  config.text("tracing.endpoint", tracing.endpoint,
              "URL of a collector to which traces are sent by OTLP over HTTP, for example "
              "http://127.0.0.1:4318/v1/traces. Without a path it is /v1/traces. Empty = no "
              "traces.");
  config.text("tracing.headers_file", tracing.headers_file,
              "File with headers for the collector, one \"Name: value\" a line, for example with a "
              "token. Empty = none.");
  config.text("tracing.ca_file", tracing.ca_file,
              "PEM file of the authorities that may sign the collector's certificate. Empty = the "
              "system's.");
  config.text("tracing.service_name", tracing.service_name,
              "Name of this service in traces: the attribute service.name.");
  config.text("tracing.sample_ratio", tracing.sample_ratio,
              "Part of the queries without a traceparent header that are traced, from 0 to 1. "
              "With that header its sampled flag decides, for all requests.");
  config.bytes("tracing.query_bytes_max", traces.query_bytes_max, {0, 64 << 10},
               "Maximum length of a query's text in a trace; the rest is cut off. 0 = no text.");
  config.count("tracing.queue_spans_max", tracing.queue_spans_max, {256, 1'000'000}, "spans",
               "Maximum spans that wait to be sent. Further traces are dropped and counted.");
  config.count("tracing.batch_spans_max", tracing.batch_spans_max, {1, 100'000}, "spans",
               "Spans in one request to the collector; a longer trace is not cut.");
  config.duration_ms("tracing.interval_ms", tracing.interval_ms, {1, kHourMs},
                     "Maximum time that a trace waits for others before it is sent.");
  config.duration_ms("tracing.timeout_ms", tracing.timeout_ms, {1, kHourMs},
                     "Maximum time of one request to the collector.");
  config.duration_ms("tracing.retry_ms", tracing.retry_ms, {0, kHourMs},
                     "Time in which a request to the collector is repeated. Then its spans are "
                     "lost and counted.");
  config.duration_ms("tracing.flush_ms", tracing.flush_ms, {0, kHourMs},
                     "Maximum time to send waiting traces at shutdown.");
}

}  // namespace halite::app
