// The output of sealing some slots, ingested together: files of one slot each, one file of removals
// of late cells, and the partitions that become sealed.
//
//   Threads  for the maintenance thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "storage/tsdb/chunk_db/yield.h"
#include "storage/tsdb/core/engine_context.h"
#include "storage/tsdb/maintenance/series_rewrite.h"

namespace halite::storage::engine {

class SealBatch {
 public:
  explicit SealBatch(EngineContext& context) : context_(context) {}

  // The files for the series of a partition; partitions must come in ascending order. Ingests
  // earlier output if necessary.
  [[nodiscard]] Result<SeriesRewrite::Files*> files_for(const Partition& partition);
  // The partition becomes sealed, unless more arrives before commit(): `line` is what its sealing
  // began with.
  void seals(const Partition& partition, const UnsealedRange& line, bool early);

  // There is enough to ingest.
  [[nodiscard]] bool full() const;
  // Ingests everything; does nothing if the batch is empty.
  [[nodiscard]] Result<void> commit();
  [[nodiscard]] std::uint64_t bytes_taken() const { return bytes_taken_; }

 private:
  static constexpr std::uint64_t kBytesMax = 64 << 20;

  void finish_slot();
  void keep_touched();

  EngineContext& context_;
  Partition partition_;  // of files_
  SeriesRewrite::Files files_;
  std::vector<std::unique_ptr<ChunkFile>> done_;
  SlotChanges changes_;
  std::map<Partition, std::uint32_t> touches_;  // of the partitions in changes_
  std::uint64_t done_bytes_ = 0;
  std::uint64_t bytes_taken_ = 0;
};

}  // namespace halite::storage::engine
