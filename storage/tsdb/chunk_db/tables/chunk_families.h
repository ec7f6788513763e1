// How RocksDB keeps the families of chunk_db.h, and what it wrote.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>

#include "storage/files/files.h"
#include "storage/tsdb/chunk_db/tables/chunk_listener.h"
#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

// Names of column families; the default one is of what the database says of itself.
inline constexpr std::string_view kChunksFamily = "chunks";
inline constexpr std::string_view kLateFamily = "late";
inline constexpr std::string_view kSummariesFamily = "summaries";

struct ChunkDbOptions {
  std::string dir;                            // made if it is not there
  std::size_t block_cache_bytes = 256 << 20;  // also holds indexes and filters
  int open_files_max = 1000;
  unsigned background_threads = 2;
  int late_files_max = 32;  // so many files of late cells, and those of about one size are merged
  bool auto_compaction = true;        // false: RocksDB rewrites no file unasked
  std::shared_ptr<FileSystem> files;  // null = the operating system's
  // Fails where any file is missing or cannot be opened; else what is damaged is told and left out.
  bool strict = false;
  // For looking at what is there: nothing is changed, and nothing is told anew.
  bool read_only = false;
  std::shared_ptr<Damage> damage;  // told of what is; null = nobody
};

// Bytes of files that were written since the database was opened.
struct FileBytes {
  std::uint64_t flushed = 0;  // by flushes and deletes
  std::uint64_t sealed = 0;   // by sealing
  std::uint64_t merged = 0;   // by RocksDB, out of others
  std::uint64_t marks = 0;    // of how far the log is in them, and what is sealed

  // All bytes written over those written first; 0 before the first flush.
  [[nodiscard]] double amplification() const;
};

// Chunks and summaries: rewritten only where sealing asks for it, into files of one place each.
[[nodiscard]] rocksdb::ColumnFamilyOptions chunks_options(std::shared_ptr<rocksdb::Cache> cache);
// Summaries are hardly longer than their keys, which repeat each other: compressed.
[[nodiscard]] rocksdb::ColumnFamilyOptions summaries_options(std::shared_ptr<rocksdb::Cache> cache);
// What comes for slots that are sealed: a small file a flush, of all shards, merged by size.
[[nodiscard]] rocksdb::ColumnFamilyOptions late_options(const ChunkDbOptions& options,
                                                        std::shared_ptr<rocksdb::Cache> cache);
[[nodiscard]] rocksdb::ColumnFamilyOptions state_options(const ChunkDbOptions& options);
// For every iterator. RocksDB 7.8 passes over a file whose first block cannot be read, without a
// word, where it looks after removed ranges. Those are of earlier versions only, of slots that were
// over for good: what is seen of these does no harm.
inline void ignore_removed_ranges(rocksdb::ReadOptions& options) {
  options.ignore_range_deletions = true;
}
// What merges meet of damage does not stop writing.
[[nodiscard]] rocksdb::DBOptions chunk_db_options(const ChunkDbOptions& options, rocksdb::Env* env,
                                                  std::shared_ptr<ChunkListener> listener);

}  // namespace halite::storage::engine
