// Encodes points of a series as cells; begins a new chunk at slot borders and at the maximum size.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

struct CellEntry {
  Bytes key;
  Bytes value;
  Partition partition;
  UnsealedRange covers;  // times that the cell covers
};

class ChunkWriter {
 public:
  // `kind` is kChunk or kSealed.
  ChunkWriter(const CyclicLayout& layout, CellKind kind, std::uint64_t flush_number);

  // Appends the cells of these points. Their times must be valid for admit().
  void add(std::uint32_t shard, BytesView tsuid, chunk::PointsView points,
           std::vector<CellEntry>& entries);

 private:
  const CyclicLayout& layout_;
  const CellKind kind_;
  const std::uint64_t flush_number_;
  chunk::Encoder encoder_;
};

}  // namespace halite::storage::engine
