// Files that are changed no more once the system has failed to make something last.
//
// After a failed sync nobody knows what is on the disk: a later one may say that all is well
// although bytes are missing, and what seemed to fail may have been done. Whoever cleans up then,
// as RocksDB does, may remove what the disk already speaks of. So the first failure ends all
// changes, reading goes on, and opening everything anew finds out what there is.
//
//   Threads  as FileSystem.
//   Errors   kUnavailable with the first failure's text for every change after it. A write that
//            found the disk full (kOverloaded) is no such failure, a sync is.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "storage/files/files.h"

namespace halite::storage {

// Any thread.
class WriteFence {
 public:
  // Ends all changes; the first error is the one that is told.
  void trip(const Error& error);
  // Ends all changes, but says that they were made: the disk stays as it is now, as by a power cut.
  // For who must be brought to an end and tells nobody how it went.
  void freeze();
  // False: the change is to be left out, in silence.
  [[nodiscard]] Result<bool> may_change() const;

 private:
  mutable std::mutex mutex_;
  std::optional<Error> tripped_;  // guarded by mutex_, as is the next
  bool frozen_ = false;
};

// The fuse is all that they share with others; by default none has it.
[[nodiscard]] std::shared_ptr<FileSystem> fenced_files(
    std::shared_ptr<FileSystem> files,
    std::shared_ptr<WriteFence> write_fence = std::make_shared<WriteFence>());

}  // namespace halite::storage
