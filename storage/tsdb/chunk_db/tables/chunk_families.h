// RocksDB options of the column families of chunk_tables.h, and counts of written bytes.
//
//   Threads  ChunkListener as WriteRecovery.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <rocksdb/db.h>

#include "storage/backends/rocks/files/rocksdb_cache.h"
#include "storage/backends/rocks/files/write_recovery.h"
#include "storage/files/files.h"
#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

// Names of column families. The default family holds the state of the database.
inline constexpr std::string_view kChunksFamily = "chunks";
inline constexpr std::string_view kLateFamily = "late";
inline constexpr std::string_view kSummariesFamily = "summaries";

struct ChunkDbOptions {
  std::string dir;                            // created if missing
  std::size_t block_cache_bytes = 256 << 20;  // also for indexes and filters
  int open_files_max = 1000;
  unsigned background_threads = 2;
  int late_files_max = 32;            // maximum of late files; those of similar size are compacted
  bool auto_compaction = true;        // false: RocksDB compacts only on request
  std::shared_ptr<FileSystem> files;  // null = the operating system's
  // Fail if any file is missing or cannot be opened. Otherwise damage is noted and skipped.
  bool strict = false;
  // For inspection: change nothing and note no damage.
  bool read_only = false;
  std::shared_ptr<Damage> damage;  // notified of damage; may be null
};

// Bytes of files written since the database was opened.
struct FileBytes {
  std::uint64_t flushed = 0;  // by flushes and deletes
  std::uint64_t sealed = 0;   // by sealing
  std::uint64_t merged = 0;   // by RocksDB's compactions
  std::uint64_t marks = 0;    // of the state family

  // All written bytes divided by flushed bytes; 0 before the first flush.
  [[nodiscard]] double amplification() const;
};

struct FileBytesCounted {
  std::atomic<std::uint64_t> flushed = 0;
  std::atomic<std::uint64_t> sealed = 0;
  std::atomic<std::uint64_t> merged = 0;
  std::atomic<std::uint64_t> marks = 0;
};

// Counts the bytes of RocksDB's own compactions, and notes its errors.
class ChunkListener final : public rocks::WriteRecovery {
 public:
  ChunkListener(std::shared_ptr<FileBytesCounted> counted, std::shared_ptr<Damage> damage)
      : counted_(std::move(counted)), damage_(std::move(damage)) {}

  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;

 private:
  const std::shared_ptr<FileBytesCounted> counted_;
  const std::shared_ptr<Damage> damage_;
};

// Chunks and summaries: compacted only on request of sealing, into files of one slot each.
[[nodiscard]] rocksdb::ColumnFamilyOptions chunks_options(std::shared_ptr<rocksdb::Cache> cache);
// Summaries are compressed: they are hardly longer than their keys, which are similar.
[[nodiscard]] rocksdb::ColumnFamilyOptions summaries_options(std::shared_ptr<rocksdb::Cache> cache);
// Late cells: one small file for each flush, of all shards, compacted by size.
[[nodiscard]] rocksdb::ColumnFamilyOptions late_options(const ChunkDbOptions& options,
                                                        std::shared_ptr<rocksdb::Cache> cache);
[[nodiscard]] rocksdb::ColumnFamilyOptions state_options(const ChunkDbOptions& options);
// For every iterator. RocksDB 7.8 silently skips a file whose first block is unreadable while it
// looks for range deletions. Only earlier versions wrote these, for expired slots; returning such
// cells does no harm.
inline void ignore_removed_ranges(rocksdb::ReadOptions& options) {
  options.ignore_range_deletions = true;
}
// Damage found by compactions does not stop writes.
[[nodiscard]] rocksdb::DBOptions chunk_db_options(const ChunkDbOptions& options, rocksdb::Env* env,
                                                  std::shared_ptr<ChunkListener> listener);

}  // namespace halite::storage::engine
