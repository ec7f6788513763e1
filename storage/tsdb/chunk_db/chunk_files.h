// Brings files into the database of chunks, merges them and removes them.
//
// Chunks are written by whole files only, each batch of files together with the mark of how far
// the log is in them. RocksDB merges files of chunks only when compact_slot() asks for it.
//
//   Threads  new_file() and stop_compactions() from any thread; the rest by one at a time. All
//   block. Errors   kUnavailable with RocksDB's text.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/yield.h"

namespace halite::storage::engine {

// A sealed place is merged when it reaches either.
struct CompactionRule {
  std::uint32_t fresh_percent = 100;  // bytes in files above the merged ones, of the merged bytes
  std::uint32_t fresh_files = 8;
};

class ChunkFiles {
 public:
  ChunkFiles(ChunkTables& tables, SlotStates& states, ChunkViews& views)
      : tables_(tables), states_(states), views_(views) {}

  // Its cells are taken in by ingest() or not at all.
  [[nodiscard]] Result<std::unique_ptr<ChunkFile>> new_file(
      FilePurpose purpose = FilePurpose::kFlushed);

  // Takes the files, the changes and the mark in, all or none, durably. Files without entries are
  // dropped.
  Result<void> ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                      const SlotChanges& changes);

  // Removes every key that is in [begin, end) now, which are whole slots, and the lines of those
  // slots. What is ingested for them meanwhile stays.
  //
  // `yield`, here and below, is called now and then while a merge or a removal runs, by the
  // calling thread, and may ingest. False, or an error: the call ends early.
  Result<void> drop(BytesView begin, BytesView end, const YieldFn& yield = {});

  // The sealed places that have files above the merged ones and reached the rule.
  [[nodiscard]] std::set<ShardSlot> slots_to_compact(const CompactionRule& rule) const;
  // Merges the files of a place, or of late cells, and leaves out removed cells. Files that cannot
  // be read stay as they are. False: `yield` ended it.
  Result<bool> compact_slot(const ShardSlot& shard_slot, const YieldFn& yield);
  Result<void> compact_late(const YieldFn& yield);
  // Merges under way, and later ones, end early with kUnavailable.
  void stop_compactions() { compactions_stopped_ = true; }

 private:
  using SstFiles = std::vector<std::unique_ptr<SstFile>>;
  Result<std::unique_ptr<SstFile>> make_file(FilePurpose purpose);
  Result<void> add_late_file(std::vector<std::unique_ptr<ChunkFile>>& files);
  [[nodiscard]] rocksdb::ColumnFamilyHandle* family_of(FilePurpose purpose) const;
  Result<std::uint64_t> finish(const SstFiles& files);
  Result<void> take(std::span<const std::unique_ptr<SstFile>> files);
  Result<void> take_on_top(SstFiles files);
  Result<void> stop_automatic_merges();
  Result<std::unique_ptr<ChunkFile>> removals(FilePurpose purpose, BytesView begin, BytesView end,
                                              const YieldFn& yield);
  // How merging a range of keys ended.
  enum class CompactionOutcome : std::uint8_t { kAll, kUndamaged, kEarly };
  Result<CompactionOutcome> merge(BytesView begin, BytesView end, const YieldFn& yield);
  Result<CompactionOutcome> merge_undamaged(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                            BytesView end, const YieldFn& yield);
  Result<bool> merge_family(rocksdb::ColumnFamilyHandle* family, BytesView begin, BytesView end,
                            const YieldFn& yield);

  ChunkTables& tables_;
  SlotStates& states_;
  ChunkViews& views_;
  std::atomic<std::uint64_t> next_file_ = 0;
  std::atomic<bool> compactions_stopped_ = false;
  std::set<ShardSlot> uncompactable_;  // because of damage
};

}  // namespace halite::storage::engine
