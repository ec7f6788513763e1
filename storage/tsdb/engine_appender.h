// Points on their way into log and head: each shard's part of a batch takes its place in the log
// and in the head in one step, so that a series' order is the same in both.
//
//   Threads  any call from any thread.
#pragma once

#include <memory>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

class EngineAppender {
 public:
  EngineAppender(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // As PointStore::append(), apart from waiting for room: does not block for longer than it takes
  // to copy the points.
  [[nodiscard]] Result<Accepted> take(const PointBatch& batch);

 private:
  struct SortedBatch;
  [[nodiscard]] std::vector<Refusal> admit(const PointBatch& batch, SortedBatch& sorted) const;
  struct ShardPart {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] Sequence take_shards(Head& head, std::uint32_t shards, Log::Admission admission,
                                     SortedBatch& sorted);
  // Takes the part's first points, as many as fit in a record; the part is those then.
  [[nodiscard]] Sequence take_shard(Head& head, std::uint32_t shard, ShardPart& part,
                                    Log::Admission admission, SortedBatch& sorted);

  const std::shared_ptr<EngineContext> context_;
  const std::size_t defined_bytes_max_;  // in a record
  const std::size_t record_points_max_;
  prometheus::Counter& points_;
  prometheus::Counter& refused_;
};

}  // namespace halite::storage::engine
