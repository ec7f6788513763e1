#include "storage/backends/rocks/commit_stats.h"

#include "common/metrics.h"

namespace halite::storage::rocks {

CommitStats::CommitStats(prometheus::Registry& registry)
    : commits(add_counter(registry, "halite_storage_commits_total",
                          "Synced writes to the embedded RocksDB store.")),
      failures(add_counter(registry, "halite_storage_commit_failures_total",
                           "Failed synced writes to the embedded RocksDB store.")),
      requests(add_counter(registry, "halite_storage_commit_requests_total",
                           "Write requests made durable by the embedded RocksDB store.")),
      cells(add_counter(registry, "halite_storage_cells_written_total",
                        "Cells written to or deleted from the embedded RocksDB store.")),
      bytes(add_counter(registry, "halite_storage_commit_bytes_total",
                        "Bytes passed to the log of the embedded RocksDB store.")),
      seconds(add_sync_seconds(registry, "halite_storage_commit_seconds",
                               "Duration of one synced write to the embedded RocksDB store.")),
      queue_bytes(
          add_gauge(registry, "halite_storage_commit_queue_bytes",
                    "Bytes waiting to be written to the log of the embedded RocksDB store.")) {}

}  // namespace halite::storage::rocks
