#include "storage/tsdb/wal/log_stats.h"

#include "common/metrics.h"

namespace halite::storage::log_format {

LogStats::LogStats(prometheus::Registry& registry, std::size_t unsynced_bytes_max)
    : commits(add_counter(registry, "halite_log_commits_total",
                          "Synced writes to the write-ahead log.")),
      failures(add_counter(registry, "halite_log_commit_failures_total",
                           "Failed writes to the write-ahead log.")),
      records(add_counter(registry, "halite_log_records_total",
                          "Records made durable in the write-ahead log.")),
      bytes(
          add_counter(registry, "halite_log_bytes_total", "Bytes written to the write-ahead log.")),
      damaged_records(
          add_counter(registry, "halite_log_damaged_records_total",
                      "Acknowledged records that could not be read when the log was opened.")),
      lost_ends(add_counter(registry, "halite_log_lost_ends_total",
                            "Times the log was opened with its end missing. An unknown number of "
                            "acknowledged records is lost.")),
      torn_ends(add_counter(registry, "halite_log_torn_ends_total",
                            "Times the log was opened with an incomplete write at its end, which "
                            "was removed. The cause is a power failure or damage.")),
      seconds(add_sync_seconds(registry, "halite_log_commit_seconds",
                               "Duration of one synced write to the write-ahead log.")),
      unsynced_bytes(add_gauge(registry, "halite_log_unsynced_bytes",
                               "Bytes accepted by the write-ahead log that are not yet durable.")),
      disk_bytes(add_gauge(registry, "halite_log_disk_bytes",
                           "Size of all log segments, including spare ones.")),
      segments(add_gauge(registry, "halite_log_segments", "Log segments in use.")) {
  add_gauge(registry, "halite_log_unsynced_limit_bytes",
            "Value of engine.log_unsynced_bytes_max. Senders wait above it.")
      .Set(static_cast<double>(unsynced_bytes_max));
}

}  // namespace halite::storage::log_format
