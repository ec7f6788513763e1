#include "web/metrics.h"

#include "common/metrics.h"

namespace halite::web {

namespace {

prometheus::Gauge& connections(prometheus::Registry& registry, const char* protocol) {
  return add_gauge(registry, "halite_web_connections", "Open connections.",
                   {{"protocol", protocol}});
}

}  // namespace

WebMetrics::WebMetrics(prometheus::Registry& registry)
    : connections_http(connections(registry, "http")),
      connections_telnet(connections(registry, "telnet")),
      connections_graphite(connections(registry, "graphite")),
      connections_total(
          add_counter(registry, "halite_web_connections_total", "Connections accepted.")),
      connections_rejected(add_counter(registry, "halite_web_connections_rejected_total",
                                       "Connections closed at once because of web.connections_max "
                                       "or web.connections_per_address_max.")),
      tls_failed(add_counter(registry, "halite_web_tls_failed_total", "Failed TLS handshakes.")),
      tls_missing(add_counter(registry, "halite_web_tls_missing_total",
                              "Connections without TLS refused because of tls.only.")),
      timeouts(add_counter(registry, "halite_web_timeouts_total",
                           "Connections closed because they were idle or slow.")),
      bytes_read(add_counter(registry, "halite_web_read_bytes_total", "Bytes read from clients.")),
      bytes_written(
          add_counter(registry, "halite_web_written_bytes_total", "Bytes sent to clients.")),
      telnet_lines(add_counter(registry, "halite_web_telnet_lines_total", "Telnet lines read.")),
      telnet_lines_too_long(add_counter(registry, "halite_web_telnet_lines_too_long_total",
                                        "Telnet lines refused because of web.line_bytes_max.")),
      telnet_lines_cut(
          add_counter(registry, "halite_web_telnet_lines_cut_total",
                      "Incomplete telnet lines discarded when the client disconnected.")),
      telnet_replies_dropped(add_counter(registry, "halite_web_telnet_replies_dropped_total",
                                         "Replies dropped because the client did not read them.")),
      telnet_flushes_failed(
          add_counter(registry, "halite_web_telnet_flushes_failed_total",
                      "Batches of telnet points that were not stored or not made durable.")),
      requests_(counter_family(registry, "halite_web_requests_total", "HTTP requests answered.",
                               {"endpoint", "status"})),
      request_seconds_(histogram_family(
          registry, "halite_web_request_seconds",
          "Time from the complete request to the last byte of the answer.", {"endpoint"})),
      commands_(counter_family(registry, "halite_web_telnet_commands_total",
                               "Telnet commands other than put.", {"command"})) {}

WebMetrics::Counts WebMetrics::answered(std::string_view endpoint, int status) {
  const std::lock_guard lock(mutex_);
  for (const Answered& known : answered_) {
    if (known.status == status && known.endpoint == endpoint) return known.counts;
  }
  static const prometheus::Histogram::BucketBoundaries kSeconds{
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
  const std::string name(endpoint);
  prometheus::Counter& requests =
      requests_.Add({{"endpoint", name}, {"status", std::to_string(status)}});
  prometheus::Histogram& seconds = request_seconds_.Add({{"endpoint", name}}, kSeconds);
  const Counts counts{.requests = requests, .seconds = seconds};
  answered_.push_back({.endpoint = name, .status = status, .counts = counts});
  return counts;
}

void WebMetrics::request(std::string_view endpoint, int status, double seconds) {
  const Counts counts = answered(endpoint, status);
  counts.requests.Increment();
  counts.seconds.Observe(seconds);
}

void WebMetrics::telnet_command(std::string_view command) {
  commands_.Add({{"command", std::string(command)}}).Increment();
}

}  // namespace halite::web
