// Adds files to the chunk database, compacts and removes them.
//
// Chunks are only written as complete files. Each batch of files is ingested together with the
// flush mark. RocksDB compacts chunk files only when compact_slot() requests it.
//
//   Threads  call new_file() and stop_compactions() from any thread, the rest from one at a time.
//            All block.
//   Errors   kUnavailable with RocksDB's text.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_views.h"
#include "storage/tsdb/chunk_db/yield.h"

namespace halite::storage::engine {

// A sealed slot is compacted when its files above the compacted ones reach either of the first two
// limits. Files for several slots are not counted there: they contain sealed chunks that nothing
// replaced, or are compacted with their slots. They only slow down readers when they are many: both
// other limits must be reached, or the last one.
struct CompactionRule {
  std::uint32_t fresh_percent = 100;  // bytes, relative to those of the compacted files
  std::uint32_t fresh_files = 8;
  std::uint32_t shared_percent = 100;  // as fresh_percent
  std::uint32_t shared_files = 8;
  std::uint32_t shared_files_max = 32;
};

class ChunkFiles {
 public:
  ChunkFiles(ChunkTables& tables, SlotStates& states, ChunkViews& views)
      : tables_(tables), states_(states), views_(views) {}

  // ingest() adds the cells of the file, or they are discarded.
  [[nodiscard]] Result<std::unique_ptr<ChunkFile>> new_file(
      FilePurpose purpose = FilePurpose::kFlushed);

  // Adds the files, the changes and the mark atomically and durably. Drops files without entries.
  Result<void> ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                      const SlotChanges& changes);

  // Removes every key now in [begin, end), which must be whole slots, and the unsealed ranges of
  // these slots. Data that is ingested meanwhile stays.
  //
  // `yield`, here and below: called now and then during a compaction or removal, on the calling
  // thread. It may ingest. If it returns false or an error, the call ends early.
  Result<void> drop(BytesView begin, BytesView end, const YieldFn& yield = {});

  // The sealed slots that have files above the compacted ones and reached the rule, and whether
  // they share such files with other slots.
  [[nodiscard]] std::map<ShardSlot, bool> slots_to_compact(const CompactionRule& rule) const;
  // Compacts the files of a slot, or of late cells, and drops removed cells. Unreadable files stay
  // as they are. False: `yield` ended it.
  Result<bool> compact_slot(const ShardSlot& shard_slot, const YieldFn& yield);
  Result<void> compact_late(const YieldFn& yield);
  // Running and later compactions end early with kUnavailable.
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
  // How the compaction of a key range ended.
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
