// The settings of a RocksStore for disk, memory and threads, and the RocksDB options that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/options.h>

#include "common/clock.h"
#include "storage/backends/rocks/cell.h"
#include "storage/files/files.h"

namespace halite::storage {

enum class Compression : std::uint8_t {
  kNone,
  kFast,   // lz4 everywhere
  kDense,  // lz4 for young data, zstd for the bottom level
};

struct RocksOptions {
  std::string dir;  // created if missing; one process at a time

  std::size_t block_cache_bytes = 256 << 20;        // also for indexes and filters
  std::size_t write_buffer_bytes = 64 << 20;        // for one family, before it becomes a file
  std::size_t write_buffers_bytes_max = 256 << 20;  // for all families together
  std::size_t log_bytes_max = 128 << 20;  // above this, families that keep old logs are flushed
  int open_files_max = 1000;

  unsigned read_threads = 4;        // for reads and scans, which block
  unsigned background_threads = 4;  // RocksDB's threads for flushes, compactions and opening
  Compression compression = Compression::kDense;

  std::size_t write_bytes_max = 256 << 20;        // one write() call; more is kTooLarge
  std::size_t commit_queue_bytes_max = 64 << 20;  // waiting to be written; further writers wait
  std::size_t commit_group_bytes_max = 4 << 20;   // with one sync (a larger call: alone)

  // Values of counters and of other cells that are read and written again, in memory.
  std::size_t recent_cells_bytes_max = 32 << 20;

  // Opens a database although its log is damaged before acknowledged writes. Those writes are lost.
  bool accept_damaged_log = false;

  // Changes nothing but the lock file, and refuses all writes.
  bool read_only = false;

  bool auto_compaction = true;  // false: RocksDB compacts nothing by itself

  // For all input and output; null = the operating system. For fault tests.
  std::shared_ptr<FileSystem> files;
};

namespace rocks {

// `env` outlives the database.
[[nodiscard]] rocksdb::DBOptions database_options(const RocksOptions& options, rocksdb::Env* env);

// Families of all tables share the block cache.
[[nodiscard]] rocksdb::ColumnFamilyOptions family_options(
    const RocksOptions& options, const std::shared_ptr<rocksdb::Cache>& block_cache,
    const SharedTtl& ttl_ms, const Clock& clock);

// RocksDB rewrites files older than this, so that expired cells leave the disk even if no other
// compaction touches their file. 0 = never, for cells that do not expire.
[[nodiscard]] std::uint64_t rewrite_after_s(std::int64_t ttl_ms);

}  // namespace rocks
}  // namespace halite::storage
