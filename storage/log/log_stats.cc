#include "storage/log/log_stats.h"

namespace halite::storage::log_format {

namespace {

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

prometheus::Gauge& gauge(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add({});
}

const prometheus::Histogram::BucketBoundaries kSecondsBounds = {
    0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5};

}  // namespace

LogStats::LogStats(prometheus::Registry& registry)
    : commits(counter(registry, "halite_log_commits_total", "Synced writes to the point log")),
      failures(counter(registry, "halite_log_commit_failures_total",
                       "Writes to the point log that failed")),
      records(counter(registry, "halite_log_records_total", "Records made durable in the log")),
      bytes(counter(registry, "halite_log_bytes_total", "Bytes written to the log")),
      damaged_records(counter(registry, "halite_log_damaged_records_total",
                              "Acknowledged records that could not be read when the log opened")),
      lost_ends(counter(registry, "halite_log_lost_ends_total",
                        "Times that the log opened without its end: acknowledged records, nobody "
                        "knows how many, are gone")),
      torn_ends(counter(registry, "halite_log_torn_ends_total",
                        "Times that the log opened with an unfinished write at its end, which was "
                        "cut off: the mark of a power cut or, if there was none, of damage")),
      seconds(prometheus::BuildHistogram()
                  .Name("halite_log_commit_seconds")
                  .Help("Time of one synced write to the point log")
                  .Register(registry)
                  .Add({}, kSecondsBounds)),
      unsynced_bytes(gauge(registry, "halite_log_unsynced_bytes",
                           "Bytes taken into the log and not yet durable")),
      disk_bytes(
          gauge(registry, "halite_log_disk_bytes", "Size of all log segments, spare ones too")),
      segments(gauge(registry, "halite_log_segments", "Log segments in use")) {}

}  // namespace halite::storage::log_format
