#include "storage/backends/hbase/rpc/stats.h"

#include "common/metrics.h"

namespace halite::storage::hbase {

Stats::Stats(prometheus::Registry& registry)
    : requests(add_counter(registry, "halite_hbase_requests_total", "Requests sent to HBase.")),
      timeouts(add_counter(registry, "halite_hbase_timeouts_total",
                           "Requests that HBase did not answer in time.")),
      retries(add_counter(registry, "halite_hbase_retries_total",
                          "Requests retried after an HBase or network error.")),
      lookups(add_counter(registry, "halite_hbase_lookups_total", "Lookups in hbase:meta.")),
      sent_bytes(add_counter(registry, "halite_hbase_sent_bytes_total", "Bytes sent to HBase.")),
      received_bytes(
          add_counter(registry, "halite_hbase_received_bytes_total", "Bytes received from HBase.")),
      scanned_rows(add_counter(registry, "halite_hbase_scanned_rows_total",
                               "Rows received from HBase by scans.")),
      connections(
          add_counter(registry, "halite_hbase_connections_total", "Connections opened to HBase.")),
      broken(add_counter(registry, "halite_hbase_connections_broken_total",
                         "Connections to HBase that ended with an error.")),
      late(add_counter(
          registry, "halite_hbase_late_answers_total",
          "HBase answers that arrived after their request had timed out or was cancelled.")),
      waiting_requests(add_gauge(
          registry, "halite_hbase_waiting_requests",
          "Requests that wait because hbase.server_bytes_max is reached for their server.")),
      under_way_bytes(add_gauge(registry, "halite_hbase_under_way_bytes",
                                "Bytes of requests that HBase has not answered yet. The limit per "
                                "server is hbase.server_bytes_max.")),
      operation_bytes(add_gauge(registry, "halite_hbase_operation_bytes",
                                "Bytes of unfinished reads and writes, including those that wait "
                                "for HBase. The limit is hbase.in_flight_bytes_max.")) {}

}  // namespace halite::storage::hbase
