// Counts the bytes of RocksDB's own compactions, and notes its errors.
//
//   Threads  as WriteRecovery.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "storage/backends/rocks/files/write_recovery.h"
#include "storage/tsdb/chunk_db/tables/damage.h"

namespace halite::storage::engine {

struct FileBytesCounted {
  std::atomic<std::uint64_t> flushed = 0;
  std::atomic<std::uint64_t> sealed = 0;
  std::atomic<std::uint64_t> merged = 0;
  std::atomic<std::uint64_t> marks = 0;
};

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

}  // namespace halite::storage::engine
