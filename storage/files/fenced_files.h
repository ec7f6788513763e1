// A file system that refuses all changes after the first failed sync or write.
//
// After a failed sync the content of the disk is unknown: a later sync may succeed although bytes
// are missing, and the failed one may have been done. RocksDB's clean-up could then remove files
// that the disk already refers to. So the first failure stops all changes. Reads continue, and
// reopening finds out what is stored.
//
//   Threads  as FileSystem.
//   Errors   kUnavailable with the first failure's text for every later change. A write that finds
//            the disk full (kOverloaded) does not stop changes; a sync that does so stops them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "storage/files/files.h"

namespace halite::storage {

// Call from any thread.
class WriteFence {
 public:
  // Stops all changes. Only the first error is reported.
  void trip(const Error& error);
  // Stops all changes but reports success for them: the disk stays as it is now, as after a power
  // cut. For a caller that must shut down and reports no result.
  void freeze();
  // False: skip the change without an error.
  [[nodiscard]] Result<bool> may_change() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Error> tripped_;  // guarded by mutex_, like frozen_
  bool frozen_ = false;
};

// Wraps `files`. Callers that pass one write_fence share it; by default each wrapper has its own.
[[nodiscard]] std::shared_ptr<FileSystem> fenced_files(
    std::shared_ptr<FileSystem> files,
    std::shared_ptr<WriteFence> write_fence = std::make_shared<WriteFence>());

}  // namespace halite::storage
