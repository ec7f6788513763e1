// The metrics of web/. Names: halite_web_*.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "web/query_log.h"

namespace halite::web {

// Call from any thread. The registry outlives it.
class WebMetrics {
 public:
  explicit WebMetrics(prometheus::Registry& registry);

  void request(std::string_view endpoint, int status, double seconds);
  void telnet_command(std::string_view command);

  QueryLog queries;  // running and completed
  prometheus::Gauge& connections_http;
  prometheus::Gauge& connections_telnet;
  prometheus::Gauge& connections_graphite;
  prometheus::Counter& connections_total;
  prometheus::Counter& connections_rejected;  // above web.connections_max
  prometheus::Counter& tls_failed;            // handshakes
  prometheus::Counter& tls_missing;           // connections without TLS while tls.only is on
  prometheus::Counter& timeouts;              // connections closed because they were idle or slow
  prometheus::Counter& bytes_read;
  prometheus::Counter& bytes_written;
  prometheus::Counter& telnet_lines;
  prometheus::Counter& telnet_lines_too_long;
  prometheus::Counter& telnet_lines_cut;        // without an end when the client disconnected
  prometheus::Counter& telnet_replies_dropped;  // the client did not read them
  prometheus::Counter& telnet_flushes_failed;   // batches not accepted, or not made durable

 private:
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& request_seconds_;
  prometheus::Family<prometheus::Counter>& commands_;

  // The counters for one endpoint and status, looked up by labels once.
  struct Counts {
    prometheus::Counter& requests;
    prometheus::Histogram& seconds;
  };
  struct Answered {
    std::string endpoint;
    int status = 0;
    Counts counts;
  };
  [[nodiscard]] Counts answered(std::string_view endpoint, int status);

  std::mutex mutex_;
  std::vector<Answered> answered_;  // guarded by mutex_; a few dozen entries
};

}  // namespace halite::web
