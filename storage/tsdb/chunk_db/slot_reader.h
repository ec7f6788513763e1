// The stored points of series in one slot: their chunks, tombstones applied, as runs.
//
//   Threads  for one at a time; it holds the view of the store that it was made with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/memory_reservation.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/merge.h"
#include "storage/tsdb/chunk/summary.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/stored_cells.h"

namespace halite::storage::engine {

// What a decoded point takes: its time and value, and at most a byte beside them.
inline constexpr std::size_t kPointBytes = sizeof(TimestampMs) + sizeof(ValueBits) + 1;

// What one total in a summary covers.
inline constexpr std::int64_t kSummarySpanMs = 3'600'000;

// Sealed slots have summaries only if no hour lies in two slots.
[[nodiscard]] inline bool has_summaries(const CyclicLayout& layout) {
  return layout.options().span_ms % kSummarySpanMs == 0;
}

struct Tombstone {
  std::uint64_t flush_number = 0;
  TimeRange range;
};

// What is stored of one series in one generation of a slot.
struct StoredSeries {
  std::vector<chunk::FlushedRun> runs;
  std::vector<Tombstone> tombstones;
  std::uint64_t chunks_decoded = 0;
  std::uint64_t chunks_skipped = 0;  // outside the range
};

class SlotReader {
 public:
  // Of one shard, on what is there now. The database and the layout outlive it.
  static Result<std::unique_ptr<SlotReader>> open(const ChunkViews& views,
                                                  const CyclicLayout& layout, std::uint32_t shard,
                                                  ReadSource from);

  // What was flushed with a number up to this one is in the chunks that it sees.
  [[nodiscard]] std::uint64_t flush_number() const { return view_->mark().flush_number; }

  // The generations, ascending, of which there may be chunks in the range.
  [[nodiscard]] Result<std::vector<std::int64_t>> periods(TimeRange range);

  [[nodiscard]] Result<std::vector<StoredSlot>> slots(const YieldFn& yield = {});

  // What touches the range, of a series (chunk_key.h: series_key()). Quick when series are asked
  // for in ascending order within a generation. Decoding and its points count as held.
  [[nodiscard]] Result<StoredSeries> read(std::int64_t period, BytesView series_key,
                                          TimeRange range,
                                          MemoryReservation* reservation = nullptr);

  // The times of a slot in which a series' summary says nothing: [0, 0) if there are none.
  [[nodiscard]] Result<UnsealedRange> unsealed(std::int64_t period, BytesView series_key);

  // The summary of a series' sealed chunks, until the next one is read; null where it has none, or
  // one that says only that its chunks are to be decoded: told apart by `must_decode`.
  struct Summary {
    const chunk::Summaries* summaries = nullptr;
    bool must_decode = false;
  };
  [[nodiscard]] Result<Summary> read_summary(std::int64_t period, BytesView series_key);

  // The newest point of a series in the range; nothing where there is none. Told from the headers
  // of chunks where that is possible.
  struct Newest {
    TimestampMs time = 0;
    chunk::LastValue last;
  };
  [[nodiscard]] Result<std::optional<Newest>> newest(std::int64_t period, BytesView series_key,
                                                     TimeRange range);

  // What read() would decode, told from the chunks' headers.
  struct Extent {
    std::uint64_t chunks = 0;
    std::uint64_t points = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Result<Extent> measure(std::int64_t period, BytesView series_key, TimeRange range);

 private:
  SlotReader(std::unique_ptr<ShardView> view, const CyclicLayout& layout, std::uint32_t shard);
  using Take = std::function<Result<void>(const CellKey&, BytesView value)>;
  [[nodiscard]] Result<void> visit(std::int64_t period, BytesView series_key, const Take& take);
  [[nodiscard]] Result<void> visit(Cursor& cursor, std::int64_t period, BytesView series_key,
                                   const Take& take);
  const CyclicLayout& layout_;
  const std::uint32_t shard_;
  const std::unique_ptr<ShardView> view_;
  std::optional<chunk::SummaryDecoder> summaries_;  // once one is asked for
  // Room for keys.
  Bytes prefix_;
  Bytes key_;
};

// Adds a cell's points or tombstone to `out` if it touches the range. slot_begin: the time at which
// the cell's generation begins.
[[nodiscard]] Result<void> take_cell(const CellKey& cell, BytesView value, TimestampMs slot_begin,
                                     TimeRange range, chunk::Decoder& decoder, StoredSeries& out,
                                     MemoryReservation* reservation = nullptr);

// All runs as one, what tombstones hide left out, within the range.
[[nodiscard]] chunk::Points merge_runs(std::vector<chunk::FlushedRun> runs,
                                       const std::vector<Tombstone>& tombstones, TimeRange range);

}  // namespace halite::storage::engine
