// The RocksDB that holds chunks: written by whole files only, each batch of files together with the
// mark that says how far the log is in them.
//
//   chunks     keys of chunk_key.h; no automatic compaction: sealing is what rewrites
//   summaries  of sealed chunks, a cell a series and lap of a slot
//   default    "state": flush number(8) · log position(8), both of the last flush; times by name;
//              which slots are not sealed
//
//   Threads  reads from any thread; ingest(), rewrite() and drop() by one at a time. All block.
//   Errors   kUnavailable with RocksDB's text; kCorruption for a mark that is none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/db.h>
#include <rocksdb/file_system.h>

#include "common/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/engine/chunk_file.h"
#include "storage/engine/chunk_key.h"
#include "storage/engine/chunk_snapshot.h"

namespace halite::storage::engine {

struct ChunkDbOptions {
  std::string dir;                            // made if it is not there
  std::size_t block_cache_bytes = 256 << 20;  // also holds indexes and filters
  int open_files_max = 1000;
  unsigned background_threads = 2;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // null = the operating system
};

class ChunkDb {
 public:
  static Result<std::unique_ptr<ChunkDb>> open(const ChunkDbOptions& options);
  ~ChunkDb();

  [[nodiscard]] FlushMark mark() const;

  [[nodiscard]] Result<std::unique_ptr<ChunkFile>> new_file(FileFor family = FileFor::kChunks);

  // What ingest() does to the slots that are not sealed.
  struct Changes {
    UnsealedSlots touched;        // by chunks or tombstones among the files
    std::vector<SlotLap> sealed;  // all that was in them until now is, with summaries
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

  // A shard as it is now, for a question: costs next to nothing.
  [[nodiscard]] std::unique_ptr<ShardView> shard_view(std::uint32_t shard,
                                                      ReadFrom from = ReadFrom::kDisk) const;

  // A time that outlives the process; nothing where none was noted.
  Result<std::optional<TimestampMs>> read_time(BytesView name) const;
  Result<void> note_time(BytesView name, TimestampMs time);

  // Merges the files of a key range, what was removed left out.
  Result<void> compact(BytesView begin, BytesView end);

  // Removes every key in [begin, end), which are whole slots, and what is said of those slots.
  Result<void> drop(BytesView begin, BytesView end);

  [[nodiscard]] std::uint64_t files() const;  // of chunks
  [[nodiscard]] std::uint64_t bytes() const;  // of the files of chunks and summaries

  Result<void> close();  // once; no cursor is left

 private:
  explicit ChunkDb(const ChunkDbOptions& options);
  Result<void> open_db();
  Result<FlushMark> read_mark() const;
  Result<UnsealedSlots> read_unsealed() const;
  Result<void> require_summaries(UnsealedSlots& unsealed);
  Result<void> remove_unfinished_files();
  Result<std::string> write_state(const FlushMark& mark, const Changes& changes);
  Result<void> compact_family(rocksdb::ColumnFamilyHandle* family, BytesView begin, BytesView end);
  Result<void> renew_snapshot();

  const ChunkDbOptions options_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* chunks_ = nullptr;
  rocksdb::ColumnFamilyHandle* summaries_ = nullptr;
  rocksdb::ColumnFamilyHandle* state_ = nullptr;
  rocksdb::Options file_options_;
  std::uint64_t next_file_ = 0;
  mutable std::mutex mutex_;
  FlushMark mark_;                                 // guarded by mutex_
  std::shared_ptr<const UnsealedSlots> unsealed_;  // never null; guarded by mutex_
  std::shared_ptr<Snapshot> snapshot_;             // of the newest state; guarded by mutex_
};

}  // namespace halite::storage::engine
