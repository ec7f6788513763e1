// Recovers from writes that failed because the disk was full: RocksDB retries until a write
// succeeds. Works around bugs of RocksDB 7.8 in this state.
//
//   Threads  RocksDB calls from its own threads; call the rest from any thread.
#pragma once

#include <condition_variable>
#include <mutex>

#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include "storage/files/fenced_files.h"

namespace halite::storage::rocks {

class WriteRecovery : public rocksdb::EventListener {
 public:
  // Sets the options for retries. Requires that the listener is among the options' listeners.
  static void set_up(rocksdb::DBOptions& options);

  // Whether a write failed and RocksDB has not recovered. For a moment RocksDB then reports no
  // error, but an assertion stops the process if you ingest files.
  [[nodiscard]] bool stopped() const;

  // Call this before you close the database. RocksDB would wait for ever if it were closed during
  // retries. Its next attempt appears to succeed, but nothing is written.
  void end(WriteFence& write_fence);

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;   // guarded by mutex_, as the next
  bool retrying_ = false;  // may be stale
};

}  // namespace halite::storage::rocks
