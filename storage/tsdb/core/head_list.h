// The heads of an engine: one active head, and frozen heads that wait to be flushed.
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "common/threads/fair_shared_mutex.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct FrozenHead {
  std::shared_ptr<Head> head;
  Sequence log_position = 0;  // the last sequence of its records
};

class HeadList {
 public:
  // The active head's number is greater than `last_number`. The write-ahead log is not needed up to
  // `log_position`.
  HeadList(std::uint64_t last_number, std::uint32_t shards, SeriesId series_max,
           Sequence log_position);

  // Continues with a head that has the points of the log after `log_position`. Call it before any
  // other function.
  void continue_with(std::shared_ptr<Head> active, Sequence log_position);

  // The active head; it cannot be frozen while this object lives.
  class Writing {
   public:
    [[nodiscard]] Head& head() const { return *head_; }

   private:
    friend class HeadList;
    Writing(std::shared_lock<FairSharedMutex> lock, Head* head)
        : lock_(std::move(lock)), head_(head) {}
    std::shared_lock<FairSharedMutex> lock_;
    Head* head_;
  };
  [[nodiscard]] Writing write();

  // Freezes the active head and begins a new segment of the write-ahead log. Does nothing if there
  // are neither points nor names since the last freeze and the number below the active head's is
  // above used_number. Heads have every second number; the number between two heads is for
  // tombstones.
  void freeze(Log& log, std::uint64_t used_number);

  [[nodiscard]] std::vector<FrozenHead> frozen() const;  // oldest first
  void drop_oldest();                                    // call it once the head is in chunks

  // All heads, oldest first. Call it before you read the chunks: then no point is missed. A point
  // in both is harmless.
  [[nodiscard]] std::vector<std::shared_ptr<Head>> view() const;

  [[nodiscard]] std::size_t bytes() const;  // approximate, of all heads
  [[nodiscard]] std::size_t active_bytes() const;
  [[nodiscard]] std::uint64_t active_points() const;
  // The active head must be frozen: it has `freeze_bytes` or long runs of points.
  [[nodiscard]] bool active_is_full(std::size_t freeze_bytes, const EngineOptions& options) const;
  [[nodiscard]] std::uint64_t active_number() const;
  [[nodiscard]] Sequence cut_position() const;  // of the last freeze

 private:
  [[nodiscard]] std::shared_ptr<Head> make(std::uint64_t number) const;

  const std::uint32_t shards_;
  const SeriesId series_max_;
  // Writers hold it shared during a batch, and there are always some. A fair mutex lets freeze()
  // and drop_oldest() proceed.
  mutable FairSharedMutex mutex_;
  std::shared_ptr<Head> active_;    // guarded by mutex_
  std::vector<FrozenHead> frozen_;  // guarded by mutex_
  Sequence cut_position_;           // guarded by mutex_
};

}  // namespace halite::storage::engine
