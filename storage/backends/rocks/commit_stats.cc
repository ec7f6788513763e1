#include "storage/backends/rocks/commit_stats.h"

#include "common/metrics.h"

namespace halite::storage::rocks {

CommitStats::CommitStats(prometheus::Registry& registry)
    : commits(add_counter(registry, "halite_storage_commits_total",
                          "Synced writes to the embedded store; each carries one or more calls")),
      failures(add_counter(registry, "halite_storage_commit_failures_total",
                           "Synced writes to the embedded store that failed")),
      requests(add_counter(registry, "halite_storage_commit_requests_total",
                           "Calls that were made durable by the embedded store")),
      cells(add_counter(registry, "halite_storage_cells_written_total",
                        "Cells written or deleted in the embedded store")),
      bytes(add_counter(registry, "halite_storage_commit_bytes_total",
                        "Bytes handed to the embedded store's log")),
      seconds(add_sync_seconds(registry, "halite_storage_commit_seconds",
                               "Time of one synced write to the embedded store")),
      queue_bytes(add_gauge(registry, "halite_storage_commit_queue_bytes",
                            "Bytes on their way into the embedded store's log")) {}

}  // namespace halite::storage::rocks
