// What a Writer's telnet batches, HTTP bodies and own points share. Private to ingest/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/completion.h"
#include "common/task.h"
#include "ingest/ingest_batch.h"
#include "ingest/ingest_stats.h"
#include "ingest/options.h"
#include "ingest/point_rules.h"
#include "ingest/series_cache.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

struct BatchRefusal {
  std::uint32_t origin = 0;
  Refused why;
};

// What became of points: each is taken, refused by itself, or not taken like all the rest.
struct CommitResult {
  std::uint64_t taken = 0;
  Completion durable = Completion::done();  // of the points that were taken
  std::vector<BatchRefusal> refused;        // by origin
  std::optional<Error> failed;              // why the store did not take the rest
  std::uint64_t not_taken = 0;              // so many points
};

// Why points were not taken that are worth sending again, if any are. An error's code is never
// kTimeout: it is the store's time that was up, not the sender's.
[[nodiscard]] std::optional<Error> retryable_error_of(const CommitResult& committed);
// As its sender hears of an error: see retryable_error_of().
[[nodiscard]] Error error_for_sender(Error error);

// Safe for all threads.
class WriterContext {
 public:
  WriterContext(storage::PointStore& store_in, const Clock& clock, IngestOptions options_in,
                prometheus::Registry& registry);

  // To be taken before the cache is looked at, and kept until commit() is over.
  [[nodiscard]] std::shared_ptr<const storage::SeriesPin> pin_series() {
    auto pin = store.pin_series();
    cache.clear_before(pin->series_epoch);
    return pin;
  }

  // Makes ids for waiting series, remembers them, and hands all points to the store. Counts what
  // was taken and what was not. Never fails: an error is the rest's.
  Task<CommitResult> commit(IngestBatch ingest_batch, Protocol protocol);

  // Waits until what was taken is durable. An error: each point may be stored or not; counted.
  Task<void> await_durable(Completion durable, Protocol protocol, std::uint64_t points);

  // Puts a point of a series known by its name into the draft: through the cache if it was there
  // before, else among the waiting.
  void add_named(IngestBatch& ingest_batch, SeriesCache::Reader& reader, NamedPoint point,
                 std::uint32_t origin) const;

  storage::PointStore& store;
  const IngestOptions options;
  const PointRules rules;
  SeriesCache cache;
  IngestStats stats;

 private:
  Task<void> resolve(IngestBatch& ingest_batch, Protocol protocol,
                     std::vector<BatchRefusal>& refused);
  // An error: the store took none of them.
  Task<void> append_to_store(IngestBatch& ingest_batch, Protocol protocol, CommitResult& committed);
  [[nodiscard]] std::string describe(storage::SeriesId id) const;
};

}  // namespace halite::ingest
