// Rewrites the cells of one series in one partition for sealing: one chunk of all points, and its
// summary. Long sealed chunks stay unless points arrived before their ends. Otherwise each early
// sealing of a slot would take longer than the previous one.
//
//   Threads  not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk_db/chunk_files.h"

namespace halite::storage::engine {

class SeriesRewrite {
 public:
  // The files that sealing writes to; null: nothing written so far.
  struct Files {
    std::unique_ptr<ChunkFile> sealed;
    std::unique_ptr<ChunkFile> late;
    std::unique_ptr<ChunkFile> summaries;
  };

  // Cells of other periods of the slot are removed if they are before oldest_alive. Sealed chunks
  // of at least long_points may stay.
  SeriesRewrite(const CyclicLayout& layout, Partition partition, std::int64_t oldest_alive,
                std::uint32_t long_points)
      : layout_(layout),
        partition_(partition),
        period_(partition.period),
        oldest_alive_(oldest_alive),
        long_points_(long_points) {}

  void begin(BytesView series);
  [[nodiscard]] BytesView series() const { return series_; }

  // Adds the cell at the cursor, which must belong to the series; cells come in key order.
  void add(const ParsedKey& key, const Cursor& cursor);

  // The series has only one sealed chunk, or nothing.
  [[nodiscard]] bool is_sealed() const { return !unsealed_; }
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  [[nodiscard]] bool expired() const { return expired_; }  // some cells are expired
  [[nodiscard]] std::uint64_t late_cells() const { return late_cells_; }
  [[nodiscard]] std::uint64_t late_bytes() const { return late_bytes_; }      // with keys
  [[nodiscard]] std::uint64_t sealed_bytes() const { return sealed_bytes_; }  // with keys

  struct Written {
    std::uint64_t points = 0;
    std::uint64_t sealed_before = 0;  // of these; some may be hidden since
  };
  // Writes the new cells and the removals into the files, and creates missing files. Returns the
  // points in the written chunks. kCorruption: an invalid chunk; nothing was written.
  [[nodiscard]] Result<Written> write(ChunkFiles& chunks, Files& files);

 private:
  struct Cell {
    CellKey cell;
    Bytes key;
    Bytes value;
    bool late = false;
    bool stays = false;
  };
  [[nodiscard]] bool is_current_sealed(const Cell& cell) const {
    return cell.cell.period == period_ && cell.cell.kind == CellKind::kSealed && !cell.late;
  }
  [[nodiscard]] std::uint32_t changes_begin() const;
  // Returns the number of points in the chunks that stay.
  [[nodiscard]] Result<std::uint64_t> choose_what_stays();
  [[nodiscard]] Result<chunk::Points> merged(bool of_those_that_stay);
  [[nodiscard]] Result<Bytes> summary_of(std::uint64_t staying, chunk::PointsView written);
  [[nodiscard]] Bytes summary_key(std::uint32_t period) const;
  [[nodiscard]] Result<void> remove_late(ChunkFile& file) const;
  [[nodiscard]] Result<void> put_chunks(chunk::PointsView points, ChunkFile& file) const;
  [[nodiscard]] Result<void> put_summary(const std::optional<Bytes>& summary,
                                         ChunkFile& file) const;

  const CyclicLayout& layout_;
  const Partition partition_;
  const std::int64_t period_;
  const std::int64_t oldest_alive_;
  const std::uint32_t long_points_;
  Bytes series_;
  std::vector<Cell> cells_;
  bool unsealed_ = false;
  bool expired_ = false;
  std::uint64_t late_cells_ = 0;
  std::uint64_t late_bytes_ = 0;
  std::uint64_t sealed_bytes_ = 0;
  chunk::Decoder decoder_;
};

}  // namespace halite::storage::engine
