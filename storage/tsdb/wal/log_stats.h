// The metrics of the log.
#pragma once

#include <cstddef>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace halite::storage::log_format {

struct LogStats {
  LogStats(prometheus::Registry& registry, std::size_t unsynced_bytes_max);

  prometheus::Counter& commits;          // halite_log_commits_total
  prometheus::Counter& failures;         // halite_log_commit_failures_total
  prometheus::Counter& records;          // halite_log_records_total
  prometheus::Counter& bytes;            // halite_log_bytes_total
  prometheus::Counter& damaged_records;  // halite_log_damaged_records_total
  prometheus::Counter& lost_ends;        // halite_log_lost_ends_total
  prometheus::Counter& torn_ends;        // halite_log_torn_ends_total
  prometheus::Histogram& seconds;        // halite_log_commit_seconds
  prometheus::Gauge& unsynced_bytes;     // halite_log_unsynced_bytes
  prometheus::Gauge& disk_bytes;         // halite_log_disk_bytes
  prometheus::Gauge& segments;           // halite_log_segments
};

}  // namespace halite::storage::log_format
