#include "storage/tsdb/wal/log_stats.h"

#include "common/metrics.h"

namespace halite::storage::log_format {

LogStats::LogStats(prometheus::Registry& registry)
    : commits(add_counter(registry, "halite_log_commits_total", "Synced writes to the point log")),
      failures(add_counter(registry, "halite_log_commit_failures_total",
                           "Writes to the point log that failed")),
      records(add_counter(registry, "halite_log_records_total", "Records made durable in the log")),
      bytes(add_counter(registry, "halite_log_bytes_total", "Bytes written to the log")),
      damaged_records(
          add_counter(registry, "halite_log_damaged_records_total",
                      "Acknowledged records that could not be read when the log opened")),
      lost_ends(
          add_counter(registry, "halite_log_lost_ends_total",
                      "Times that the log opened without its end: acknowledged records, nobody "
                      "knows how many, are gone")),
      torn_ends(
          add_counter(registry, "halite_log_torn_ends_total",
                      "Times that the log opened with an unfinished write at its end, which was "
                      "cut off: the mark of a power cut or, if there was none, of damage")),
      seconds(add_sync_seconds(registry, "halite_log_commit_seconds",
                               "Time of one synced write to the point log")),
      unsynced_bytes(add_gauge(registry, "halite_log_unsynced_bytes",
                               "Bytes taken into the log and not yet durable")),
      disk_bytes(
          add_gauge(registry, "halite_log_disk_bytes", "Size of all log segments, spare ones too")),
      segments(add_gauge(registry, "halite_log_segments", "Log segments in use")) {}

}  // namespace halite::storage::log_format
