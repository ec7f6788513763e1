#include "storage/backends/rocks/options.h"

#include <algorithm>

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_buffer_manager.h>

#include "storage/backends/rocks/files/info_log.h"
#include "storage/backends/rocks/files/rocksdb_cache.h"
#include "storage/backends/rocks/files/table_format.h"
#include "storage/backends/rocks/key.h"

namespace halite::storage::rocks {

namespace {

constexpr std::size_t kBlockBytes = 16 << 10;
constexpr double kFilterBitsPerRow = 10;            // 1 % false positives
constexpr std::uint64_t kSyncEveryBytes = 1 << 20;  // of tables, so that no flush stalls the disk
constexpr std::int64_t kDayS = 24 * 60 * 60;

}  // namespace

rocksdb::DBOptions database_options(const RocksOptions& options, rocksdb::Env* env) {
  rocksdb::DBOptions db;
  db.env = env;
  db.create_if_missing = true;
  db.max_background_jobs = static_cast<int>(options.background_threads);
  db.max_open_files = options.open_files_max;
  db.max_file_opening_threads = static_cast<int>(options.background_threads);
  db.max_total_wal_size = options.log_bytes_max;
  db.write_buffer_manager =
      std::make_shared<rocksdb::WriteBufferManager>(options.write_buffers_bytes_max);
  db.bytes_per_sync = kSyncEveryBytes;
  // After a power failure the log may end with half a record, or with one of full length whose
  // pages did not all reach the disk. kTolerateCorruptedTailRecords accepts only a file that ends
  // too early; kAbsoluteConsistency accepts neither. kPointInTimeRecovery opens, but for a record
  // damaged in the middle it would also drop all that follow: check_logs() has refused those
  // before.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  db.info_log = make_info_log();
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  return db;
}

namespace {

void set_compression(Compression compression, rocksdb::ColumnFamilyOptions& family) {
  family.compression =
      compression == Compression::kNone ? rocksdb::kNoCompression : rocksdb::kLZ4Compression;
  family.bottommost_compression =
      compression == Compression::kDense ? rocksdb::kZSTD : rocksdb::kDisableCompressionOption;
}

}  // namespace

rocksdb::ColumnFamilyOptions family_options(const RocksOptions& options,
                                            const std::shared_ptr<rocksdb::Cache>& block_cache,
                                            const SharedTtl& ttl_ms, const Clock& clock) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = block_cache;
  table.block_size = kBlockBytes;
  table.checksum = rocksdb::kXXH3;  // Debian's RocksDB has no fast CRC-32C
  table.format_version = kTableFormatVersion;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerRow));
  table.whole_key_filtering = false;  // rows only: see row_prefix_extractor()
  table.optimize_filters_for_memory = true;
  // In the cache they count against its limit; outside, memory would grow with the data.
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;

  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.prefix_extractor = row_prefix_extractor();
  family.merge_operator = greatest_time_operator();
  family.compaction_filter_factory = ttl_filter_factory(ttl_ms, clock);
  family.write_buffer_size = options.write_buffer_bytes;
  family.max_write_buffer_number = 4;  // writers continue while three are flushed
  // Levels, not universal: universal writes each byte less often, but needs up to twice the space
  // during a full merge, and an unattended store must not fill the disk unexpectedly. Heavy point
  // loads use the embedded engine with its own log and chunks.
  family.compaction_style = rocksdb::kCompactionStyleLevel;
  family.level_compaction_dynamic_level_bytes = true;
  family.disable_auto_compactions = !options.auto_compaction;
  set_compression(options.compression, family);
  return family;
}

std::uint64_t rewrite_after_s(std::int64_t ttl_ms) {
  if (ttl_ms == 0) return 0;
  // Up to a quarter of the TTL of extra data is acceptable; more than daily costs more than it
  // frees.
  return static_cast<std::uint64_t>(std::clamp(ttl_ms / 4000, kDayS, 30 * kDayS));
}

}  // namespace halite::storage::rocks
