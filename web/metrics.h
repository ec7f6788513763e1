// What the web folder counts. Names: halite_web_*.
#pragma once

#include <cstdint>
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

// Safe to use from any thread. The registry outlives it.
class WebMetrics {
 public:
  explicit WebMetrics(prometheus::Registry& registry);

  void request(std::string_view endpoint, int status, double seconds);
  void telnet_command(std::string_view command);

  QueryLog queries;  // running and done
  prometheus::Gauge& connections_http;
  prometheus::Gauge& connections_telnet;
  prometheus::Counter& connections_total;
  prometheus::Counter& connections_rejected;  // over web.connections_max
  prometheus::Counter& tls_failed;            // handshakes
  prometheus::Counter& tls_missing;           // connections without it where tls.only is on
  prometheus::Counter& timeouts;              // closed for being idle or slow
  prometheus::Counter& bytes_read;
  prometheus::Counter& bytes_written;
  prometheus::Counter& telnet_lines;
  prometheus::Counter& telnet_lines_too_long;
  prometheus::Counter& telnet_lines_cut;        // without an end when the client left
  prometheus::Counter& telnet_replies_dropped;  // of clients that do not read them
  prometheus::Counter& telnet_flushes_failed;   // batches not taken, or not made durable

 private:
  prometheus::Family<prometheus::Counter>& requests_;
  prometheus::Family<prometheus::Histogram>& request_seconds_;
  prometheus::Family<prometheus::Counter>& commands_;

  // What an endpoint's answers of one status count into; looked up by labels once.
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
  std::vector<Answered> answered_;  // guarded by mutex_; as many as there are, some tens
};

}  // namespace halite::web
