#include "storage/tsdb/chunk_db/tables/chunk_families.h"

#include <utility>

#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_partitioner.h>
#include <rocksdb/table.h>

#include "storage/backends/rocks/files/info_log.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/files/table_format.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/chunk_db/tables/file_shards.h"

namespace halite::storage::engine {
namespace {

constexpr std::size_t kBlockBytes = 16 << 10;
// Keys are small compared with their chunks, and a search compares key by key after a restart
// point.
constexpr int kKeysBetweenRestarts = 4;
constexpr int kCompressionLevel = 1;
constexpr int kFilesUnlimited = 1 << 30;  // files are ingested, in any number

}  // namespace

double FileBytes::amplification() const {
  if (flushed == 0) return 0;
  return static_cast<double>(flushed + sealed + merged + marks) / static_cast<double>(flushed);
}

void ChunkListener::OnCompactionCompleted(rocksdb::DB* /*db*/,
                                          const rocksdb::CompactionJobInfo& info) {
  counted_->merged += info.stats.total_output_bytes;
}

void ChunkListener::OnFlushCompleted(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& info) {
  counted_->marks += info.table_properties.data_size + info.table_properties.index_size;
}

void ChunkListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                                      rocksdb::Status* error) {
  WriteRecovery::OnBackgroundError(reason, error);
  if (reason != rocksdb::BackgroundErrorReason::kCompaction) return;
  // A failed compaction leaves its files unchanged: no reason to stop writes.
  const Error ours = rocks::error_of(*error, "cannot compact files");
  if (ours.code != Errc::kCorruption) return;
  damage_->note_failed_compaction(ours);
  *error = rocksdb::Status::OK();
}

rocksdb::ColumnFamilyOptions chunks_options(std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = std::move(cache);
  table.block_size = kBlockBytes;
  table.block_restart_interval = kKeysBetweenRestarts;
  table.checksum = rocksdb::kXXH3;
  table.format_version = rocks::kTableFormatVersion;
  // Reads a block only if it may contain a wanted key. Reading the block after all wanted keys
  // would take time and, if it is damaged, fail the query.
  table.index_type = rocksdb::BlockBasedTableOptions::kBinarySearchWithFirstKey;
  table.cache_index_and_filter_blocks = true;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Long chunks are dense already, and RocksDB keeps such blocks as they are. Of chunks with few
  // points most bytes are their keys.
  family.compression = rocksdb::kZSTD;
  family.compression_opts.level = kCompressionLevel;
  family.table_properties_collector_factories = {note_file_shards()};
  family.disable_auto_compactions = true;
  family.level0_slowdown_writes_trigger = kFilesUnlimited;
  family.level0_stop_writes_trigger = kFilesUnlimited;
  // A compaction writes to the last level at once. Each output file contains one slot, so that
  // compactions of other slots do not touch it.
  family.level_compaction_dynamic_level_bytes = true;
  family.max_bytes_for_level_base = std::uint64_t{1} << 50;
  family.sst_partitioner_factory = rocksdb::NewSstPartitionerFixedPrefixFactory(kShardSlotBytes);
  return family;
}

rocksdb::ColumnFamilyOptions summaries_options(std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::ColumnFamilyOptions family = chunks_options(std::move(cache));
  family.compression_opts = {};
  return family;
}

rocksdb::ColumnFamilyOptions late_options(const ChunkDbOptions& options,
                                          std::shared_ptr<rocksdb::Cache> cache) {
  rocksdb::ColumnFamilyOptions family = chunks_options(std::move(cache));
  family.sst_partitioner_factory = nullptr;
  family.level_compaction_dynamic_level_bytes = false;
  family.disable_auto_compactions = !options.auto_compaction;
  family.compaction_style = rocksdb::kCompactionStyleUniversal;
  family.num_levels = 1;
  family.write_buffer_size = 1 << 20;  // only removals of whole slots use it
  family.level0_file_num_compaction_trigger = options.late_files_max;
  // Merges files of similar size, and leaves large files alone even if they are few. Removed cells
  // disappear once sealing has taken most of the rest.
  family.compaction_options_universal.size_ratio = 100;
  family.compaction_options_universal.min_merge_width = options.late_files_max / 2;
  family.compaction_options_universal.max_size_amplification_percent = 400;
  return family;
}

// Each ingest() adds a file with few keys: compact them now and then.
rocksdb::ColumnFamilyOptions state_options(const ChunkDbOptions& options) {
  rocksdb::BlockBasedTableOptions table;
  table.checksum = rocksdb::kXXH3;
  table.format_version = rocks::kTableFormatVersion;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.disable_auto_compactions = !options.auto_compaction;
  family.level0_file_num_compaction_trigger = 16;
  family.write_buffer_size = 1 << 20;
  family.level0_slowdown_writes_trigger = kFilesUnlimited;
  family.level0_stop_writes_trigger = kFilesUnlimited;
  return family;
}

rocksdb::DBOptions chunk_db_options(const ChunkDbOptions& options, rocksdb::Env* env,
                                    std::shared_ptr<ChunkListener> listener) {
  rocksdb::DBOptions db;
  db.env = env;
  db.create_if_missing = true;
  db.create_missing_column_families = true;
  db.max_background_jobs = static_cast<int>(options.background_threads);
  db.max_open_files = options.open_files_max;
  db.max_file_opening_threads = static_cast<int>(options.background_threads);
  db.info_log = rocks::make_info_log();
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  db.listeners.push_back(std::move(listener));
  rocks::WriteRecovery::set_up(db);
  return db;
}

}  // namespace halite::storage::engine
