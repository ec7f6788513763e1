// The RocksDB that holds chunks: written by whole files only, each batch of files together with the
// mark that says how far the log is in them.
//
//   chunks    keys of chunk_key.h; no automatic compaction: sealing is what rewrites
//   default   "state": flush number(8) · log position(8), both of the last flush; times by name
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
#include "storage/engine/chunk_key.h"

namespace halite::storage::engine {

struct ChunkDbOptions {
  std::string dir;                            // made if it is not there
  std::size_t block_cache_bytes = 256 << 20;  // also holds indexes and filters
  int open_files_max = 1000;
  unsigned background_threads = 2;
  std::shared_ptr<rocksdb::FileSystem> file_system;  // null = the operating system
};

// What of the log is in chunks.
struct FlushMark {
  std::uint64_t flush_number = 0;  // the greatest used
  std::uint64_t log_position = 0;  // records up to here, this one included
  bool operator==(const FlushMark&) const = default;
};

// Writes one sorted file.
class ChunkFile {
 public:
  virtual ~ChunkFile() = default;
  // Keys strictly ascending.
  virtual Result<void> put(BytesView key, BytesView value) = 0;
  virtual Result<void> remove(BytesView key) = 0;
  [[nodiscard]] virtual std::uint64_t bytes() const = 0;
  [[nodiscard]] virtual std::uint64_t entries() const = 0;
};

class ChunkDb {
 public:
  static Result<std::unique_ptr<ChunkDb>> open(const ChunkDbOptions& options);
  ~ChunkDb();

  [[nodiscard]] FlushMark mark() const;

  [[nodiscard]] Result<std::unique_ptr<ChunkFile>> new_file();

  // Takes the files and the mark in, all or none, durably. Files without entries are let go.
  Result<void> ingest(std::vector<std::unique_ptr<ChunkFile>> files, const FlushMark& mark);

  // The keys in [begin, end) and the mark as they are now, and stay whatever is ingested later.
  class Cursor;
  struct View {
    FlushMark mark;
    std::unique_ptr<Cursor> cursor;
  };
  [[nodiscard]] Result<View> view(BytesView begin, BytesView end) const;

  // A time that outlives the process; nothing where none was noted.
  Result<std::optional<TimestampMs>> read_time(BytesView name) const;
  Result<void> note_time(BytesView name, TimestampMs time);

  // Merges the files of a key range, what was removed left out.
  Result<void> compact(BytesView begin, BytesView end);

  // Removes every key in [begin, end).
  Result<void> drop(BytesView begin, BytesView end);

  [[nodiscard]] std::uint64_t files() const;
  [[nodiscard]] std::uint64_t bytes() const;  // of the files

  Result<void> close();  // once; no cursor is left

 private:
  class SstFile;
  explicit ChunkDb(const ChunkDbOptions& options);
  Result<void> open_db();
  Result<FlushMark> read_mark() const;
  Result<void> remove_unfinished_files();

  const ChunkDbOptions options_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* chunks_ = nullptr;
  rocksdb::ColumnFamilyHandle* state_ = nullptr;
  rocksdb::Options file_options_;
  std::uint64_t next_file_ = 0;
  mutable std::mutex mutex_;
  FlushMark mark_;  // guarded by mutex_
};

// Walks a view's keys; made by ChunkDb::view().
class ChunkDb::Cursor {
 public:
  Cursor(Bytes begin, Bytes end);
  Cursor(const Cursor&) = delete;  // RocksDB points into it
  Cursor& operator=(const Cursor&) = delete;

  // At the first key not below `key`.
  void seek(BytesView key);
  void next();
  [[nodiscard]] bool valid() const;
  [[nodiscard]] BytesView key() const;
  [[nodiscard]] BytesView value() const;  // alive until the cursor moves
  [[nodiscard]] Result<void> status() const;

 private:
  const Bytes begin_;
  const Bytes end_;
  rocksdb::Slice lower_;
  rocksdb::Slice upper_;
  std::unique_ptr<rocksdb::Iterator> iterator_;

  friend class ChunkDb;
};

}  // namespace halite::storage::engine
