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
#include "ingest/draft.h"
#include "ingest/ingest_stats.h"
#include "ingest/options.h"
#include "ingest/point_rules.h"
#include "ingest/series_cache.h"
#include "storage/point_store.h"

namespace halite::ingest {

struct DraftRefusal {
  std::uint32_t origin = 0;
  Refused why;
};

// Why the store was away for some of them, if it was.
[[nodiscard]] std::optional<std::string> away_for(const std::vector<DraftRefusal>& refused);

struct Committed {
  std::uint64_t taken = 0;
  std::vector<DraftRefusal> refused;  // by origin
  Completion durable;                 // of the points that were taken
};

// Safe for all threads.
class WriterCore {
 public:
  WriterCore(storage::PointStore& store_in, const Clock& clock, IngestOptions options_in,
             prometheus::Registry& registry);

  // To be taken before the cache is looked at, and kept until commit() is over.
  [[nodiscard]] std::shared_ptr<const storage::SeriesHold> hold_series() {
    auto hold = store.hold_series();
    cache.clear_before(hold->series_epoch);
    return hold;
  }

  // Makes ids for waiting series, remembers them, and hands all points to the store. An error: the
  // store took none of them. Counts what was taken and what was refused.
  Task<Committed> commit(Draft draft, Protocol protocol);

  // Puts a point of a series known by its name into the draft: through the cache if it was there
  // before, else among the waiting.
  void add_named(Draft& draft, SeriesCache::Reader& reader, NamedPoint point,
                 std::uint32_t origin) const;

  storage::PointStore& store;
  const IngestOptions options;
  const PointRules rules;
  SeriesCache cache;
  IngestStats stats;

 private:
  Task<void> resolve(Draft& draft, Protocol protocol, std::vector<DraftRefusal>& refused);
  [[nodiscard]] std::string describe(storage::SeriesId id) const;
};

}  // namespace halite::ingest
