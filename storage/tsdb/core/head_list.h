// The head's generations: one takes points, those before it are frozen and on their way into
// chunks.
//
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "common/fair_shared_mutex.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/head/head.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct FrozenHead {
  std::shared_ptr<Head> head;
  Sequence log_position = 0;  // its records are up to here
};

class HeadList {
 public:
  // Numbers go on after `last_number`.
  // Up to `log_position` nothing of the log is needed any more.
  HeadList(std::uint64_t last_number, std::uint32_t shards, SeriesId series_max,
           Sequence log_position);

  // The generation that takes points, and the promise that it is not frozen while this lives.
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

  // Freezes the generation that takes points and cuts the log behind it; where there are neither
  // points nor names since the last cut only if the number before its own is not above used_number.
  // Two numbers pass with each generation: the one between is for what a delete hides, which is all
  // that has a lower one.
  void freeze(Log& log, std::uint64_t used_number);

  [[nodiscard]] std::vector<FrozenHead> frozen() const;  // oldest first
  void drop_oldest();                                    // once it is in chunks

  // All generations that may hold points, oldest first. To be taken before a look at the chunks:
  // then no point is missed, and one seen twice does no harm.
  [[nodiscard]] std::vector<std::shared_ptr<Head>> view() const;

  [[nodiscard]] std::size_t bytes() const;  // of all generations, about
  [[nodiscard]] std::uint64_t active_points() const;
  [[nodiscard]] bool active_is_full(const EngineOptions& options) const;  // it is to be frozen
  [[nodiscard]] std::uint64_t active_number() const;
  [[nodiscard]] Sequence cut_position() const;  // of the last cut

 private:
  [[nodiscard]] std::shared_ptr<Head> make(std::uint64_t number) const;

  const std::uint32_t shards_;
  const SeriesId series_max_;
  // Writers hold it shared as long as a batch takes, and there are always some: neither freeze()
  // nor drop_oldest() may wait until by chance there are none.
  mutable FairSharedMutex mutex_;
  std::shared_ptr<Head> active_;    // guarded by mutex_
  std::vector<FrozenHead> frozen_;  // guarded by mutex_
  Sequence cut_position_;           // guarded by mutex_
};

}  // namespace halite::storage::engine
