// How a RocksStore uses disk, memory and threads, and what that means in RocksDB's own options.
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
  kDense,  // lz4 where data is young, zstd where it comes to rest
};

struct RocksOptions {
  std::string dir;  // made if it is not there; one process at a time

  std::size_t block_cache_bytes = 256 << 20;        // also holds indexes and filters
  std::size_t write_buffer_bytes = 64 << 20;        // of one family, before it becomes a file
  std::size_t write_buffers_bytes_max = 256 << 20;  // of all families together
  std::size_t log_bytes_max = 512 << 20;  // then the families that keep old logs alive are flushed
  int open_files_max = 1000;

  unsigned read_threads = 4;        // for reads and scans, which block
  unsigned background_threads = 4;  // RocksDB's, for flushes, compactions and opening
  Compression compression = Compression::kDense;

  std::size_t write_bytes_max = 256 << 20;        // one write() call; more is kTooLarge
  std::size_t commit_queue_bytes_max = 64 << 20;  // on their way to the disk; further writers wait
  std::size_t commit_group_bytes_max = 4 << 20;   // that share one sync (one larger call: alone)

  // Opens although a log is damaged where acknowledged writes follow, and loses those.
  bool accept_damaged_log = false;

  // For looking at what is there: nothing is changed but the lock's file, and every write is
  // refused.
  bool read_only = false;

  bool auto_compaction = true;  // false: RocksDB rewrites no file unasked

  // What all input and output goes through; null = the operating system. For fault tests.
  std::shared_ptr<FileSystem> files;
};

namespace rocks {

// `env` outlives the database.
[[nodiscard]] rocksdb::DBOptions database_options(const RocksOptions& options, rocksdb::Env* env);

// Families of all tables share the block cache.
[[nodiscard]] rocksdb::ColumnFamilyOptions family_options(
    const RocksOptions& options, const std::shared_ptr<rocksdb::Cache>& block_cache,
    const SharedTtl& ttl_ms, const Clock& clock);

// Files older than this are rewritten, so that expired cells leave the disk although nothing else
// touches their file. 0 = never, for cells that do not expire.
[[nodiscard]] std::uint64_t rewrite_after_s(std::int64_t ttl_ms);

}  // namespace rocks
}  // namespace halite::storage
