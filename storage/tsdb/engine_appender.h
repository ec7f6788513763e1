// Appends points to the write-ahead log and the head. One step adds a shard's part of a batch to
// both, so that each series has one order in both.
//
//   Threads  call from any thread.
#pragma once

#include <memory>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

class EngineAppender {
 public:
  EngineAppender(std::shared_ptr<EngineContext> context, prometheus::Registry& registry);

  // As PointStore::append(), but does not wait for space: blocks only while it copies the points.
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
  // Appends the first points of the part, as many as fit in a record, and sets the part to them.
  [[nodiscard]] Sequence take_shard(Head& head, std::uint32_t shard, ShardPart& part,
                                    Log::Admission admission, SortedBatch& sorted);
  // The records of the part, of which `sorted.record` has the beginning.
  [[nodiscard]] Sequence log_points(std::uint32_t shard, const ShardPart& part,
                                    Log::Admission admission, SortedBatch& sorted);

  const std::shared_ptr<EngineContext> context_;
  const std::size_t defined_bytes_max_;  // maximum bytes of names and series in a record
  const std::size_t record_points_max_;
  prometheus::Counter& points_;
  prometheus::Counter& refused_;
};

}  // namespace halite::storage::engine
