#include "storage/hbase/rpc/stats.h"

namespace halite::storage::hbase {

namespace {

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

}  // namespace

Stats::Stats(prometheus::Registry& registry)
    : requests(counter(registry, "halite_hbase_requests_total", "Requests sent to HBase")),
      timeouts(counter(registry, "halite_hbase_timeouts_total",
                       "Requests that HBase did not answer in time")),
      retries(counter(registry, "halite_hbase_retries_total",
                      "Requests sent again after an error of HBase or of the way to it")),
      lookups(counter(registry, "halite_hbase_lookups_total", "Questions to hbase:meta")),
      sent_bytes(counter(registry, "halite_hbase_sent_bytes_total", "Bytes sent to HBase")),
      received_bytes(
          counter(registry, "halite_hbase_received_bytes_total", "Bytes received from HBase")),
      scanned_rows(counter(registry, "halite_hbase_scanned_rows_total",
                           "Rows that scans received from HBase")),
      connections(
          counter(registry, "halite_hbase_connections_total", "Connections opened to HBase")),
      broken(counter(registry, "halite_hbase_connections_broken_total",
                     "Connections to HBase that ended with an error")),
      late(counter(registry, "halite_hbase_late_answers_total",
                   "Answers of HBase that nobody waited for any more")) {}

}  // namespace halite::storage::hbase
