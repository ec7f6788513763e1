#include "storage/backends/hbase/rpc/stats.h"

#include "common/metrics.h"

namespace halite::storage::hbase {

Stats::Stats(prometheus::Registry& registry)
    : requests(add_counter(registry, "halite_hbase_requests_total", "Requests sent to HBase")),
      timeouts(add_counter(registry, "halite_hbase_timeouts_total",
                           "Requests that HBase did not answer in time")),
      retries(add_counter(registry, "halite_hbase_retries_total",
                          "Requests sent again after an error of HBase or of the way to it")),
      lookups(add_counter(registry, "halite_hbase_lookups_total", "Questions to hbase:meta")),
      sent_bytes(add_counter(registry, "halite_hbase_sent_bytes_total", "Bytes sent to HBase")),
      received_bytes(
          add_counter(registry, "halite_hbase_received_bytes_total", "Bytes received from HBase")),
      scanned_rows(add_counter(registry, "halite_hbase_scanned_rows_total",
                               "Rows that scans received from HBase")),
      connections(
          add_counter(registry, "halite_hbase_connections_total", "Connections opened to HBase")),
      broken(add_counter(registry, "halite_hbase_connections_broken_total",
                         "Connections to HBase that ended with an error")),
      late(add_counter(registry, "halite_hbase_late_answers_total",
                       "Answers of HBase that nobody waited for any more")),
      waiting_requests(
          add_gauge(registry, "halite_hbase_waiting_requests",
                    "Requests that wait for others to the same server of HBase to be answered")),
      under_way_bytes(add_gauge(registry, "halite_hbase_under_way_bytes",
                                "Bytes of requests to HBase that are not answered yet; at one "
                                "server no more than hbase.server_bytes_max")),
      operation_bytes(add_gauge(registry, "halite_hbase_operation_bytes",
                                "Bytes of reads and writes that are not done yet, also while they "
                                "wait for HBase to come back; at most hbase.in_flight_bytes_max")) {
}

}  // namespace halite::storage::hbase
