// The state that a Writer's telnet batches, HTTP bodies and self-metrics share. Private to ingest/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "ingest/ingest_batch.h"
#include "ingest/ingest_stats.h"
#include "ingest/options.h"
#include "ingest/rules/point_rules.h"
#include "ingest/series_cache/series_cache.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

struct BatchRefusal {
  std::uint32_t origin = 0;
  Refused why;
};

// The result for points: each is accepted, refused by itself, or failed with all the rest.
struct CommitResult {
  std::uint64_t taken = 0;
  Completion durable = Completion::done();  // of the accepted points
  std::vector<BatchRefusal> refused;        // by origin
  std::optional<Error> failed;              // why the store did not accept the rest
  std::uint64_t not_taken = 0;              // the number of these points
};

// The error, if points are worth sending again. Its code is never kTimeout, because the store ran
// out of time, not the sender.
[[nodiscard]] std::optional<Error> retryable_error_of(const CommitResult& committed);
// The error as reported to the sender: see retryable_error_of().
[[nodiscard]] Error error_for_sender(Error error);

// Call from any thread.
class WriterContext {
 public:
  WriterContext(storage::PointSink& store_in, const Clock& clock, IngestOptions options_in,
                prometheus::Registry& registry);

  // Interns waiting series, caches their ids, and appends all points to the store. Counts accepted
  // and other points. Never fails: an error is in `failed`. `once`: see PutOptions.
  Task<CommitResult> commit(IngestBatch ingest_batch, Protocol protocol, Bytes once = {});

  // Waits until accepted points are durable. After an error, each may be stored or not; they are
  // counted.
  Task<void> await_durable(Completion durable, Protocol protocol, std::uint64_t points);

  // Adds a point of a named series to the batch. A series that is not in the cache waits for its
  // id.
  void add_named(IngestBatch& ingest_batch, SeriesCache::Reader& reader, NamedPoint point,
                 std::uint32_t origin) const;

  storage::PointSink& store;
  const IngestOptions options;
  const PointRules rules;
  SeriesCache cache;
  IngestStats stats;

 private:
  Task<void> resolve(IngestBatch& ingest_batch, Protocol protocol,
                     std::vector<BatchRefusal>& refused);
  // An error: the store accepted none of the points.
  Task<void> append_to_store(IngestBatch& ingest_batch, Protocol protocol, Bytes once,
                             CommitResult& committed);
  [[nodiscard]] std::string describe(storage::SeriesId id) const;
};

}  // namespace halite::ingest
