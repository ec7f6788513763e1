// How RocksDB gets over writes that failed for want of room: it tries again until one succeeds, and
// what 7.8 does wrong meanwhile.
//
//   Threads  RocksDB calls from its own; ours any.
#pragma once

#include <condition_variable>
#include <mutex>

#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include "storage/files/fenced_files.h"

namespace halite::storage::rocks {

class WriteRecovery : public rocksdb::EventListener {
 public:
  // How it tries again, if it is among the options' listeners.
  static void set_up(rocksdb::DBOptions& options);

  // Whether a write failed, and RocksDB is not over it. For a moment then it says that it has no
  // error, and yet takes no files: handed some, it stops the process by an assertion.
  [[nodiscard]] bool stopped() const;

  // To be called before the database is closed: told to close while it tries again, RocksDB would
  // wait for ever. So its next attempt seems to succeed, but nothing is written any more.
  void end(WriteFence& write_fence);

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) override;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;   // guarded by mutex_, as is the next
  bool retrying_ = false;  // maybe
};

}  // namespace halite::storage::rocks
