// What the client of HBase counts.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace halite::storage::hbase {

struct Stats {
  explicit Stats(prometheus::Registry& registry);  // outlives it

  prometheus::Counter& requests;
  prometheus::Counter& timeouts;
  prometheus::Counter& retries;  // of rows, of lookups and of scanners
  prometheus::Counter& lookups;  // questions to hbase:meta
  prometheus::Counter& sent_bytes;
  prometheus::Counter& received_bytes;
  prometheus::Counter& scanned_rows;    // received by scanners, a cut one twice
  prometheus::Counter& connections;     // opened so far
  prometheus::Counter& broken;          // that ended with an error
  prometheus::Counter& late;            // answers nobody waited for any more
  prometheus::Gauge& waiting_requests;  // for room at their server
  prometheus::Gauge& under_way_bytes;   // of requests that had it and are not answered
  prometheus::Gauge& operation_bytes;   // of reads and writes until they end, retries too
};

}  // namespace halite::storage::hbase
