#include "storage/tsdb/chunk_db/tables/chunk_listener.h"

#include "storage/backends/rocks/files/status.h"

namespace halite::storage::engine {

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

}  // namespace halite::storage::engine
