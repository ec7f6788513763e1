// Scans the points of a selection in one shard, from chunks and heads. It reads groups of series,
// and for each group the slots in time order.
//
//   Threads  one coroutine at a time. next() blocks the awaiting thread.
#pragma once

#include <memory>
#include <vector>

#include "storage/catalog/selection.h"
#include "storage/tsdb/chunk_db/slot_reader.h"
#include "storage/tsdb/core/engine_context.h"

namespace halite::storage::engine {

class EngineScan final : public BlockScan {
 public:
  // The range is limited to times within the TTL.
  EngineScan(std::shared_ptr<EngineContext> context, std::shared_ptr<const RowSelection> selection,
             TimeRange range, std::uint32_t shard, TotalsRequest totals_request);
  ~EngineScan() override;

  Task<std::vector<Block>> next() override;

 private:
  class Reader;
  const std::shared_ptr<EngineContext> context_;
  const std::unique_ptr<Reader> reader_;
};

}  // namespace halite::storage::engine
