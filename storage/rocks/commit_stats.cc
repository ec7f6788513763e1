#include "storage/rocks/commit_stats.h"

namespace halite::storage::rocks {

namespace {

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

const prometheus::Histogram::BucketBoundaries kSecondsBounds = {
    0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5};

}  // namespace

CommitStats::CommitStats(prometheus::Registry& registry)
    : commits(counter(registry, "halite_storage_commits_total",
                      "Synced writes to the embedded store; each carries one or more calls")),
      failures(counter(registry, "halite_storage_commit_failures_total",
                       "Synced writes to the embedded store that failed")),
      requests(counter(registry, "halite_storage_commit_requests_total",
                       "Calls that were made durable by the embedded store")),
      cells(counter(registry, "halite_storage_cells_written_total",
                    "Cells written or deleted in the embedded store")),
      bytes(counter(registry, "halite_storage_commit_bytes_total",
                    "Bytes handed to the embedded store's log")),
      seconds(prometheus::BuildHistogram()
                  .Name("halite_storage_commit_seconds")
                  .Help("Time of one synced write to the embedded store")
                  .Register(registry)
                  .Add({}, kSecondsBounds)),
      queue_bytes(prometheus::BuildGauge()
                      .Name("halite_storage_commit_queue_bytes")
                      .Help("Bytes on their way into the embedded store's log")
                      .Register(registry)
                      .Add({})) {}

}  // namespace halite::storage::rocks
