// Metrics of the committer.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

namespace halite::storage::rocks {

struct CommitStats {
  explicit CommitStats(prometheus::Registry& registry);

  prometheus::Counter& commits;    // halite_storage_commits_total
  prometheus::Counter& failures;   // halite_storage_commit_failures_total
  prometheus::Counter& requests;   // halite_storage_commit_requests_total
  prometheus::Counter& cells;      // halite_storage_cells_written_total
  prometheus::Counter& bytes;      // halite_storage_commit_bytes_total
  prometheus::Histogram& seconds;  // halite_storage_commit_seconds: write and sync
  prometheus::Gauge& queue_bytes;  // halite_storage_commit_queue_bytes
};

}  // namespace halite::storage::rocks
