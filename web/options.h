// The settings of web/: names in the config, units, defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ingest/formats/point_format.h"
#include "web/access/options.h"

namespace halite::web {

// tsd.mode: the endpoints and telnet commands that exist.
enum class Mode : std::uint8_t { kReadWrite, kReadOnly, kWriteOnly };

struct TlsOptions {
  std::string certificate;             // tls.certificate: PEM, the server's first; empty = no TLS
  std::string key;                     // tls.key: PEM
  bool only = true;                    // tls.only: refuse connections without TLS
  std::int64_t handshake_ms = 10'000;  // tls.handshake_ms
};

struct TraceOptions {
  double ratio = 0;                    // tracing.sample_ratio: of queries without traceparent
  std::size_t query_bytes_max = 2048;  // tracing.query_bytes_max: of a query's text
};

// Port 0 lets the system choose.
struct ListenAddress {
  std::string address;  // an IPv4 or IPv6 address, or a host name
  std::uint16_t port = 0;
};

struct WebOptions {
  // The listening address. Port 0 lets the system choose; WebServer::port() returns it.
  std::string address = "127.0.0.1";  // of `listen`: an IPv4 or IPv6 address, or a host name
  std::uint16_t port = 4242;          // of `listen`
  int backlog = 4096;                 // web.backlog: connections waiting to be accepted

  // Connections. 0 means "no limit" for each of these.
  std::size_t connections_max = 10'000;             // web.connections_max; more are closed at once
  std::size_t connections_per_address_max = 5'000;  // web.connections_per_address_max
  std::int64_t idle_timeout_ms = 75'000;            // web.idle_timeout_ms: HTTP, between requests
  std::int64_t telnet_idle_timeout_ms = 3'600'000;  // web.telnet_idle_timeout_ms
  std::int64_t request_timeout_ms = 60'000;         // web.request_timeout_ms: first to last byte
  std::int64_t write_timeout_ms = 60'000;           // web.write_timeout_ms: client does not read
  std::int64_t linger_timeout_ms = 2'000;         // web.linger_timeout_ms: to receive the rest of a
                                                  // refused request before the close
  std::uint64_t requests_per_connection_max = 0;  // web.requests_per_connection_max

  // HTTP requests.
  std::size_t header_bytes_max = 64 << 10;          // web.header_bytes_max: request line + headers
  std::size_t body_bytes_max = 32 << 20;            // web.body_bytes_max: encoded, and in UTF-8
  bool long_bodies = true;                          // web.long_bodies: accept over 8 KiB or chunks
                                                    // (tsd.http.request.enable_chunked)
  std::size_t body_inflated_bytes_max = 128 << 20;  // web.body_inflated_bytes_max: decompressed
  std::size_t bodies_bytes_max = 1ull << 30;  // web.bodies_bytes_max: of all requests in progress
  std::size_t suggest_names_max = 10'000;     // web.suggest_names_max: for each /api/suggest
  std::size_t lookup_series_max = 1'000'000;  // web.lookup_series_max: for each search/lookup
  std::int64_t client_gone_grace_ms = 1'000;  // web.client_gone_grace_ms: from the client's end of
                                              // stream until its running query stops

  ingest::FormatOptions influx;                       // influx.separator, influx.value_field
  std::vector<std::string> otlp_resource_attributes;  // otlp.resource_attributes: become tags

  // Ports of Graphite, beside the one above; none = off.
  std::optional<ListenAddress> graphite;         // graphite.listen: plain text
  std::optional<ListenAddress> graphite_pickle;  // graphite.pickle_listen
  ingest::FormatOptions graphite_format;         // graphite.templates

  // HTTP answers.
  std::size_t gzip_bytes_min = 1;  // web.gzip_bytes_min: do not compress shorter answers
  int gzip_level = 1;              // web.gzip_level: 1 (fast) to 9 (small), 0 = off

  // Telnet.
  std::size_t line_bytes_max = 64 << 10;           // web.line_bytes_max: without the line end
  std::size_t telnet_reply_bytes_max = 256 << 10;  // web.telnet_reply_bytes_max: replies not read
                                                   // by a client; more are dropped
  bool telnet_storage_errors = true;  // as in ingest: report storage errors to telnet clients
                                      // (tsd.rpc.telnet.return_errors)
  std::size_t telnet_side_lines_max = 1024;     // rollups or histograms stored in one batch
  std::size_t telnet_side_bytes_max = 1 << 20;  // and their bytes
  std::size_t telnet_flushes_max = 256;  // web.telnet_flushes_max: batches of a connection that are
                                         // not durable yet; above it, reading stops
  std::int64_t telnet_durable_ms = 200;  // web.telnet_durable_ms: points are durable within this
                                         // time, or reading stops until they are
  std::size_t read_bytes = 256 << 10;    // web.read_bytes: largest single read

  std::int64_t stop_timeout_ms = 10'000;    // web.stop_timeout_ms: for running requests at a stop
  std::int64_t abandon_timeout_ms = 5'000;  // web.abandon_timeout_ms: then leave waiting ones

  // OpenTSDB's options.
  Mode mode = Mode::kReadWrite;  // web.mode: rw, ro or wo (tsd.mode)
  bool read_only = false;        // read_only: refuse changes to stored data
  bool api = true;               // web.api: /api/.. exists (tsd.core.enable_api)
  bool pages = true;  // web.pages: the page and what predates the API (tsd.core.enable_ui)
  std::size_t metric_width = 3;    // storage.uid_width_metric: bytes of a metric UID
  bool allow_delete = false;       // web.allow_delete (tsd.http.query.allow_delete)
  bool get_may_write = false;      // web.get_may_write: a GET may change state, as in OpenTSDB:
                                   // uid/assign, uid/rename, and method_override
  bool last_whole_history = true;  // web.last_whole_history: query/last without back_scan
  bool error_trace = false;        // web.error_trace: a "trace" in error answers
                                   // (tsd.http.show_stack_trace)
  bool grafana_prefix = true;      // web.grafana_prefix: answers of /grafana/api/... contain no NaN
  AccessOptions access;            // auth.*
  TlsOptions tls;                  // tls.*
  std::string hosts;               // web.hosts: names in Host, a comma list or "*"; empty = this
                                   // machine's if only it can connect, else any
  bool loopback = false;           // only this machine can connect; set by start()
  std::string cors_domains;        // web.cors_domains: comma list or "*"; empty = off
  std::string cors_headers =       // web.cors_headers
      "Authorization, Content-Type, Accept, Origin, User-Agent, DNT, Cache-Control, X-Mx-ReqToken, "
      "Keep-Alive, X-Requested-With, If-Modified-Since";
  TraceOptions traces;                  // tracing.*
  std::string timezone;                 // web.timezone: for dates without one; empty = the system's
  std::string host_name = "localhost";  // the "host" tag of /api/stats
  bool stats_canonical = false;         // web.stats_canonical: name that tag "fqdn"
  bool stats_with_port = false;         // web.stats_with_port: add a tag "port"
  bool opentsdb_words = false;  // with --opentsdb-conf: exactly OpenTSDB's texts, even where ours
                                // would say more
};

}  // namespace halite::web
