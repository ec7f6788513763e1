// What sealing wrote of some slots, taken in together: files of a place each, one
// of what is removed from the late cells, and what is sealed with them.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/series_rewrite.h"

namespace halite::storage::engine {

class SealBatch {
 public:
  explicit SealBatch(EngineContext& context) : context_(context) {}

  // The files for the series of a lap of a slot; laps come in ascending order. What is there so far
  // is taken in where it has to be before.
  [[nodiscard]] Result<SeriesRewrite::Files*> files_for(const Partition& partition);
  void seals(Partition partition, bool early);

  // There is so much that it should be taken in.
  [[nodiscard]] bool full() const;
  // Takes all in; does nothing where there is nothing.
  [[nodiscard]] Result<void> commit();
  [[nodiscard]] std::uint64_t bytes_taken() const { return bytes_taken_; }

 private:
  static constexpr std::uint64_t kBytesMax = 64 << 20;

  void finish_slot();

  EngineContext& context_;
  Partition partition_;  // that files_ are of
  SeriesRewrite::Files files_;
  std::vector<std::unique_ptr<ChunkFile>> done_;
  SlotChanges changes_;
  std::uint64_t done_bytes_ = 0;
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace halite::storage::engine
