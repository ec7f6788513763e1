// Metrics of the HBase client.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace halite::storage::hbase {

struct Stats {
  explicit Stats(prometheus::Registry& registry);  // the registry outlives it

  prometheus::Counter& requests;
  prometheus::Counter& timeouts;
  prometheus::Counter& retries;  // of rows, of lookups and of scanners
  prometheus::Counter& lookups;  // requests to hbase:meta
  prometheus::Counter& sent_bytes;
  prometheus::Counter& received_bytes;
  prometheus::Counter& scanned_rows;    // received by scanners; a split row counts twice
  prometheus::Counter& connections;     // opened so far
  prometheus::Counter& broken;          // ended with an error
  prometheus::Counter& late;            // answers after their time limit
  prometheus::Gauge& waiting_requests;  // waiting for their server's limits
  prometheus::Gauge& under_way_bytes;   // of requests admitted and not yet answered
  prometheus::Gauge& operation_bytes;   // of reads and writes until they end, with retries
};

}  // namespace halite::storage::hbase
