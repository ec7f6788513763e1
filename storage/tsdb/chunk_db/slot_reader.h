// Reads the stored points of series in one slot as runs: chunks with tombstones.
//
//   Threads  not thread-safe; keeps the view that it was created with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/threads/memory_reservation.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/merge.h"
#include "storage/tsdb/chunk/summary.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/stored_cells.h"

namespace halite::storage::engine {

// The memory for a decoded point: time, value, and at most a byte for its type.
inline constexpr std::size_t kPointBytes = sizeof(TimestampMs) + sizeof(ValueBits) + 1;

// The span that one total of a summary covers.
inline constexpr std::int64_t kSummarySpanMs = 3'600'000;

// Sealed slots have summaries only if no hour extends over two slots.
[[nodiscard]] inline bool has_summaries(const CyclicLayout& layout) {
  return layout.options().span_ms % kSummarySpanMs == 0;
}

struct Tombstone {
  std::uint64_t flush_number = 0;
  TimeRange range;
};

// The stored data of one series in one period.
struct StoredSeries {
  std::vector<chunk::FlushedRun> runs;
  std::vector<Tombstone> tombstones;
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunks_skipped = 0;  // outside the range
};

class SlotReader {
 public:
  // A reader of one shard in its current state. The database and the layout must outlive it.
  static Result<std::unique_ptr<SlotReader>> open(const ChunkViews& views,
                                                  const CyclicLayout& layout, std::uint32_t shard,
                                                  ReadSource from);

  // Points with flush numbers up to this one are in the visible chunks.
  [[nodiscard]] std::uint64_t flush_number() const { return view_->mark().flush_number; }

  // The periods, ascending, that may have chunks in the range.
  [[nodiscard]] Result<std::vector<std::int64_t>> periods(TimeRange range);

  [[nodiscard]] Result<std::vector<StoredSlot>> slots(const YieldFn& yield = {});

  // The data of a series (chunk_key.h: series_key()) that touches the range. Fast for series in
  // ascending order within a period. Counts decoding memory and points against the reservation.
  [[nodiscard]] Result<StoredSeries> read(std::int64_t period, BytesView series_key,
                                          TimeRange range,
                                          MemoryReservation* reservation = nullptr);

  // The times of a slot that the summary of a series does not cover: [0, 0) if none.
  [[nodiscard]] Result<UnsealedRange> unsealed(std::int64_t period, BytesView series_key);

  // The summary of a series' sealed chunks, valid until the next call. Null if there is none, or if
  // it only says that the chunks must be decoded; then `must_decode` is set.
  struct Summary {
    const chunk::Summaries* summaries = nullptr;
    bool must_decode = false;
  };
  [[nodiscard]] Result<Summary> read_summary(std::int64_t period, BytesView series_key);

  // The newest point of a series in the range, if any. Uses chunk headers where possible.
  struct Newest {
    TimestampMs time = 0;
    chunk::LastValue last;
  };
  [[nodiscard]] Result<std::optional<Newest>> newest(std::int64_t period, BytesView series_key,
                                                     TimeRange range);

  // What read() would decode, according to the chunk headers.
  struct Extent {
    std::uint64_t chunks = 0;
    std::uint64_t points = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Result<Extent> measure(std::int64_t period, BytesView series_key, TimeRange range);

 private:
  SlotReader(std::unique_ptr<ShardView> view, const CyclicLayout& layout, std::uint32_t shard);
  // Calls take(const CellKey&, BytesView value) for each cell.
  template <class Take>
  [[nodiscard]] Result<void> visit(Cursor& cursor, std::int64_t period, BytesView series_key,
                                   const Take& take);
  const CyclicLayout& layout_;
  const std::uint32_t shard_;
  const std::unique_ptr<ShardView> view_;
  std::optional<chunk::SummaryDecoder> summaries_;  // created on first use
  // Buffers for keys.
  Bytes prefix_;
  Bytes key_;
};

// Adds the points or the tombstone of a cell to `out` if they touch the range. slot_begin: the
// begin of the cell's period.
[[nodiscard]] Result<void> take_cell(const CellKey& cell, BytesView value, TimestampMs slot_begin,
                                     TimeRange range, chunk::Decoder& decoder, StoredSeries& out,
                                     MemoryReservation* reservation = nullptr);

// All runs as one, within the range, without points that tombstones hide.
[[nodiscard]] chunk::Points merge_runs(std::vector<chunk::FlushedRun> runs,
                                       const std::vector<Tombstone>& tombstones, TimeRange range);

}  // namespace halite::storage::engine
