// What RocksDB tells of its work behind ChunkDb's back.
//
//   Threads  RocksDB calls from its own; stopped() from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <rocksdb/listener.h>

#include "storage/engine/damage.h"

namespace halite::storage::engine {

struct FileBytesCounted {
  std::atomic<std::uint64_t> flushed = 0;
  std::atomic<std::uint64_t> sealed = 0;
  std::atomic<std::uint64_t> merged = 0;
  std::atomic<std::uint64_t> marks = 0;
};

class ChunkListener final : public rocksdb::EventListener {
 public:
  ChunkListener(std::shared_ptr<FileBytesCounted> counted, std::shared_ptr<Damage> damage)
      : counted_(std::move(counted)), damage_(std::move(damage)) {}

  // Whether a write failed, and RocksDB is not over it. 7.8 says for a moment then that it has no
  // error, and yet takes no files: handed some, it stops the process by an assertion.
  [[nodiscard]] bool stopped() const { return stopped_; }

  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& info) override;
  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& info) override;
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

 private:
  const std::shared_ptr<FileBytesCounted> counted_;
  const std::shared_ptr<Damage> damage_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace halite::storage::engine
