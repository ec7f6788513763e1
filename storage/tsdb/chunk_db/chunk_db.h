// The RocksDB that holds chunks: written by whole files only, each batch of files together with the
// mark that says how far the log is in them.
//
//   chunks     keys of chunk_key.h; no automatic compaction: sealing is what rewrites
//   late       the same of what came for slots that were sealed, until sealing takes it over
//   summaries  of sealed chunks, a cell a series and lap of a slot
//   default    "state": flush number(8) · log position(8), both of the last flush; numbers by name;
//              which slots are not sealed. Where it was damaged, "state-<number>" stands for it
//
//   Threads  reads from any thread; ingest(), rewrite() and drop() by one at a time. All block.
//   Errors   kUnavailable with RocksDB's text; kCorruption for a mark that is none.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/backends/rocks/files/live_files.h"
#include "storage/files/fused_files.h"
#include "storage/tsdb/chunk_db/breathe.h"
#include "storage/tsdb/chunk_db/chunk_file.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"
#include "storage/tsdb/chunk_db/place_merges.h"
#include "storage/tsdb/chunk_db/tables/chunk_families.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// What a file's first and last keys are of, and how large it is.
struct FileExtent {
  SlotLap first;
  SlotLap last;
  std::uint64_t bytes = 0;
};

class ChunkDb {
 public:
  // With options.read_only nothing that changes something may be called; where what the database
  // says of itself is damaged, mark() has the unknown position and unsealed() may lack slots.
  static Result<std::unique_ptr<ChunkDb>> open(const ChunkDbOptions& options);
  ~ChunkDb();

  [[nodiscard]] FlushMark mark() const;

  // From any thread, where it is for a flush; its cells are taken in by ingest() or not at all.
  [[nodiscard]] Result<std::unique_ptr<ChunkFile>> new_file(FileFor purpose = FileFor::kFlushed);

  // What ingest() does to the slots that are not sealed.
  struct Changes {
    UnsealedSlots touched;              // by chunks or tombstones among the files
    std::vector<SlotLap> sealed;        // all that was in them until now is, with summaries
    std::vector<SlotLap> sealed_early;  // the same, and what comes next is not late
    bool sealing = false;               // the files are of sealing, else of a flush or a delete
  };
  // Takes the files, the changes and the mark in, all or none, durably. Files without entries are
  // let go.
  Result<void> ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark,
                      const Changes& changes);

  // What ingest() said so far.
  [[nodiscard]] std::shared_ptr<const UnsealedSlots> unsealed() const;

  // The chunks in [begin, end) and the mark as they are now, and stay whatever is ingested later.
  struct View {
    FlushMark mark;
    std::unique_ptr<Cursor> cursor;
  };
  [[nodiscard]] Result<View> view(BytesView begin, BytesView end) const;

  // Whether there is a cell of points whose key begins so, or that cannot be told.
  [[nodiscard]] bool any_with(BytesView prefix) const;

  // The late cells in [begin, end) as they are now.
  [[nodiscard]] std::unique_ptr<Cursor> late_cells(BytesView begin, BytesView end) const;

  // A shard as it is now, for a question: costs next to nothing.
  [[nodiscard]] std::unique_ptr<ShardView> shard_view(std::uint32_t shard, ReadSource from) const;

  // A time or another number that outlives the process; nothing where none was noted.
  Result<std::optional<std::int64_t>> read_number(BytesView name) const;
  Result<void> note_number(BytesView name, std::int64_t number);

  // The sealed places whose files should be merged.
  [[nodiscard]] std::set<Place> places_to_merge(const MergeRule& rule) const;
  // Called now and then while a merge or a removal is under way, by the thread that asked for it,
  // and may ingest. False, or an error: it ends early.
  using Meanwhile = Breathe;
  // Merges the files of a place, or of late cells, what was removed left out. Those that cannot be
  // read stay as they are. False: `meanwhile` ended it.
  Result<bool> merge_place(const Place& place, const Meanwhile& meanwhile);
  Result<void> merge_late(const Meanwhile& meanwhile);
  // Merges under way, and those to come, end early with kUnavailable. From any thread.
  void stop_merging() { stop_merging_ = true; }

  // Removes every key that is in [begin, end) now, which are whole slots, and what is said of those
  // slots. What is ingested for them meanwhile stays.
  Result<void> drop(BytesView begin, BytesView end, const Meanwhile& meanwhile = {});

  [[nodiscard]] Damage& damage() const { return *options_.damage; }

  // All that is ingested now, in a directory that is not there (rocks/checkpoint.h); with the one
  // at a time.
  Result<void> snapshot(const std::string& dir);

  [[nodiscard]] std::vector<rocks::LiveFile> live_files() const { return rocks::live_files(*db_); }
  [[nodiscard]] std::set<std::string> file_names() const;      // of all families, without the path
  [[nodiscard]] std::vector<FileExtent> file_extents() const;  // of chunks and summaries
  [[nodiscard]] Result<std::uint64_t> files() const;           // of chunks
  [[nodiscard]] std::uint64_t bytes() const;  // of the files of chunks and summaries
  [[nodiscard]] FileBytes written() const;

  Result<void> close();  // once; no cursor is left

 private:
  explicit ChunkDb(const ChunkDbOptions& options);
  static Result<std::unique_ptr<ChunkDb>> look(std::unique_ptr<ChunkDb> chunks);
  Result<void> open_db();
  void note_damaged_files() const;
  struct State {
    FlushMark mark;
    UnsealedSlots unsealed;
  };
  Result<void> read_state();
  Result<void> choose_state();
  Result<void> drop_state(std::size_t index);
  Result<void> rebuild_state();
  [[nodiscard]] Result<State> state_of_cells() const;
  [[nodiscard]] Result<std::map<Bytes, Bytes>> readable_numbers() const;
  Result<FlushMark> read_mark() const;
  Result<UnsealedSlots> read_unsealed() const;
  Result<void> require_summaries(UnsealedSlots& unsealed);
  Result<void> remove_unfinished_files();
  Result<std::unique_ptr<SstFile>> make_file(FileFor purpose);
  bool is_late(const SlotLap& lap);
  UnsealedSlots lines_after(std::span<const std::unique_ptr<ChunkFile>> files,
                            const Changes& changes);
  Result<std::unique_ptr<SstFile>> write_state(const FlushMark& mark, const Changes& changes,
                                               const UnsealedSlots& lines);
  [[nodiscard]] rocksdb::ColumnFamilyHandle* family_of(FileFor purpose) const;
  Result<void> stop_merging_by_itself();
  Result<void> take_files(std::span<const std::unique_ptr<SstFile>> files);
  Result<void> take_files_on_top(std::vector<std::unique_ptr<SstFile>> files);
  Result<void> add_late_file(std::vector<std::unique_ptr<ChunkFile>>& files);
  // How merging a range of keys ended.
  enum class Merged : std::uint8_t { kAll, kUndamaged, kEarly };
  Result<Merged> compact(BytesView begin, BytesView end, const Meanwhile& meanwhile);
  Result<Merged> compact_undamaged(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                   BytesView end, const Meanwhile& meanwhile);
  Result<std::unique_ptr<ChunkFile>> removals(FileFor purpose, BytesView begin, BytesView end,
                                              const Meanwhile& meanwhile);
  Result<bool> compact_family(rocksdb::ColumnFamilyHandle* family, BytesView begin, BytesView end,
                              const Meanwhile& meanwhile);
  Result<void> renew_snapshot();
  [[nodiscard]] Cursor::Over over(rocksdb::ColumnFamilyHandle* family,
                                  rocksdb::ColumnFamilyHandle* late) const {
    return {.family = family, .late = late, .damage = options_.damage.get()};
  }
  [[nodiscard]] Result<std::uint64_t> count_files(rocksdb::ColumnFamilyHandle* family,
                                                  int levels) const;
  [[nodiscard]] Result<std::uint64_t> count_files(rocksdb::ColumnFamilyHandle* family) const {
    return count_files(family, db_->NumberLevels(family));
  }

  const ChunkDbOptions options_;
  const std::shared_ptr<FileBytesCounted> written_ = std::make_shared<FileBytesCounted>();
  const std::shared_ptr<Fuse> fuse_ = std::make_shared<Fuse>();
  const std::unique_ptr<rocksdb::Env> env_;
  const std::shared_ptr<ChunkListener> listener_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* chunks_ = nullptr;
  rocksdb::ColumnFamilyHandle* late_ = nullptr;
  rocksdb::ColumnFamilyHandle* summaries_ = nullptr;
  // The default family, and those that took its place when it was damaged; the last one counts.
  std::vector<rocksdb::ColumnFamilyHandle*> states_;
  rocksdb::ColumnFamilyHandle* state_ = nullptr;
  rocksdb::Options file_options_;
  std::atomic<std::uint64_t> next_file_ = 0;
  std::atomic<bool> stop_merging_ = false;
  std::set<Place> unmergeable_;  // because of damage; for the one at a time
  std::mutex late_mutex_;
  std::map<SlotLap, bool> late_laps_;  // what is_late() found since the last ingest(); late_mutex_
  mutable std::mutex mutex_;
  FlushMark mark_;                                 // guarded by mutex_
  std::shared_ptr<const UnsealedSlots> unsealed_;  // never null; guarded by mutex_
  std::shared_ptr<Snapshot> snapshot_;             // of the newest state; guarded by mutex_
};

}  // namespace halite::storage::engine
