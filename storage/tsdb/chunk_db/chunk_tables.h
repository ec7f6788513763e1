// The RocksDB database of chunks: opens it, and knows its column families and files.
//
//   chunks     keys of chunk_key.h; no automatic compaction: only sealing rewrites files
//   late       cells for sealed slots, until sealing merges them into the chunks
//   summaries  of sealed chunks: one cell for each series and partition
//   default    "state": flush number(8) · log position(8), both of the last flush; numbers by name;
//              the unsealed ranges. If it is damaged, a family "state-<number>" replaces it
//
//   Threads  call from any thread, except open(), close() and changes of state families.
//   Errors   kUnavailable with RocksDB's text. All calls block.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/memory_budget.h"
#include "common/result.h"
#include "storage/backends/rocks/files/live_files.h"
#include "storage/files/fenced_files.h"
#include "storage/tsdb/chunk_db/tables/chunk_families.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/chunk_db/tables/cursor.h"

namespace halite::storage::engine {

// The partitions of a file's first and last keys, and its size.
struct FileExtent {
  Partition first;
  Partition last;
  std::uint64_t bytes = 0;
};

class ChunkTables {
 public:
  // Creates the database if it does not exist. Unless options.strict is set, opens it without
  // damaged or missing files, and notes them.
  static Result<std::unique_ptr<ChunkTables>> open(const ChunkDbOptions& options);
  ~ChunkTables();
  ChunkTables(const ChunkTables&) = delete;
  Result<void> close();  // after all cursors and snapshots are destroyed

  [[nodiscard]] const ChunkDbOptions& options() const { return options_; }
  [[nodiscard]] const std::string& dir() const { return options_.dir; }
  [[nodiscard]] Damage& damage() const { return *options_.damage; }
  [[nodiscard]] rocksdb::DB& db() const { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* chunks() const { return chunks_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* late() const { return late_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* summaries() const { return summaries_; }
  // The current cells of points in [begin, end): with late cells, or of one family.
  [[nodiscard]] std::unique_ptr<Cursor> points(BytesView begin, BytesView end) const;
  [[nodiscard]] std::unique_ptr<Cursor> cells(rocksdb::ColumnFamilyHandle* family, BytesView begin,
                                              BytesView end) const;

  // The default family, and those that replaced it after damage. The last one is in use.
  [[nodiscard]] const std::vector<rocksdb::ColumnFamilyHandle*>& states() const { return states_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* state() const { return states_.back(); }
  Result<void> add_state(const std::string& name);
  Result<void> drop_state(std::size_t index);

  // For writing a file outside the database.
  [[nodiscard]] const rocksdb::Options& file_options() const { return file_options_; }
  Result<void> remove_unfinished_files();
  // Removes a key by a file of its own, the newest one.
  Result<void> remove_and_flush(rocksdb::ColumnFamilyHandle* family, BytesView key);
  // True after a failed write, until RocksDB has recovered.
  [[nodiscard]] bool writes_stopped() const { return listener_->stopped(); }

  [[nodiscard]] MemoryUser memory_user() const;  // blocks of files; it may outlive the tables

  [[nodiscard]] FileBytesCounted& counted() const { return *counted_; }
  [[nodiscard]] FileBytes written() const;
  [[nodiscard]] std::vector<rocks::LiveFile> live_files() const { return rocks::live_files(*db_); }
  [[nodiscard]] std::set<std::string> file_names() const;      // of all families, without the path
  [[nodiscard]] std::vector<FileExtent> file_extents() const;  // of chunks and summaries
  [[nodiscard]] Result<std::uint64_t> file_count() const;      // of chunks
  [[nodiscard]] std::uint64_t bytes() const;  // of the files of chunks and summaries
  // The number of files of a family in its first levels; by default in all.
  [[nodiscard]] Result<std::uint64_t> count_files(rocksdb::ColumnFamilyHandle* family,
                                                  int levels = INT_MAX) const;

  // Copies the current content into a directory that does not exist (rocks/files/checkpoint.h). Do
  // not ingest files meanwhile.
  Result<void> copy_to(const std::string& dir) const;

 private:
  explicit ChunkTables(const ChunkDbOptions& options);
  Result<void> open_db();
  void note_damaged_files() const;

  const ChunkDbOptions options_;
  const std::shared_ptr<FileBytesCounted> counted_ = std::make_shared<FileBytesCounted>();
  const std::shared_ptr<WriteFence> write_fence_ = std::make_shared<WriteFence>();
  const std::unique_ptr<rocksdb::Env> env_;
  const std::shared_ptr<ChunkListener> listener_;
  const std::shared_ptr<rocksdb::Cache> block_cache_;
  rocksdb::Options file_options_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::ColumnFamilyHandle* chunks_ = nullptr;
  rocksdb::ColumnFamilyHandle* late_ = nullptr;
  rocksdb::ColumnFamilyHandle* summaries_ = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> states_;
};

}  // namespace halite::storage::engine
