// Increments that are written together: those of one cell become one addition.
//
//   Threads  not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/clock.h"
#include "common/threads/completion.h"
#include "storage/api/point_sink.h"
#include "storage/api/wide_column.h"
#include "storage/cells/counters/counter_rules.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {

// A cell that an increment of a batch was added to.
struct TouchedCell {
  std::uint32_t cell = 0;       // index in the group
  std::uint32_t increment = 0;  // index in the batch
};

struct IncrementGroup {
  struct Cell {
    const CounterBucket* bucket = nullptr;
    Bytes row;
    Bytes qualifier;
    AddOutcome outcome = AddOutcome::kAdded;  // once it is written
  };
  // A batch that waits for the outcome.
  struct Waiter {
    Completion done;
    std::vector<TouchedCell> touched;
  };

  // Adds the increment at `index` of the batch to a cell of each bucket, and these to `touched`.
  // After an error no cell has it. kInvalidArgument: no integer, no valid time, or no bucket that
  // is kept.
  [[nodiscard]] Result<void> add(const OpentsdbLayout& rows, const CounterRule& rule,
                                 const Series& series, const PointBatch& batch, std::size_t index,
                                 TimestampMs now, std::vector<TouchedCell>& touched);

  // The increments of a batch that were not added, once the cells are written.
  [[nodiscard]] std::vector<Refusal> refusals(const std::vector<TouchedCell>& touched) const;

  std::vector<Cell> cells;
  std::vector<std::int64_t> deltas;  // of the cells
  std::vector<Waiter> waiters;
  Bytes once;  // the key of the request; empty = none

 private:
  struct Key {
    SeriesId series = 0;
    TimestampMs begin = 0;
    const CounterBucket* bucket = nullptr;
    bool operator==(const Key&) const = default;
    friend std::size_t hash_value(const Key& key) {
      std::size_t seed = 0;
      boost::hash_combine(seed, key.series);
      boost::hash_combine(seed, key.begin);
      boost::hash_combine(seed, key.bucket);
      return seed;
    }
  };

  // Whether an increment would not fit in the sum of those before it.
  [[nodiscard]] bool overflows(const CounterRule& rule, SeriesId series, TimestampMs time,
                               std::int64_t delta) const;
  std::uint32_t cell_of(const OpentsdbLayout& rows, const Series& series, const Key& key,
                        std::int64_t delta);

  boost::unordered_flat_map<Key, std::uint32_t> index_;  // of the newest cell with the key
};

}  // namespace halite::storage
