// Gives the files that a tool creates as root to the user that owns the directory. Otherwise the
// server, which runs as that user, cannot open them.
//
//   Threads  not thread-safe; nothing else changes the directory meanwhile.
#pragma once

#include <sys/types.h>

#include <ctime>
#include <string>

#include "common/result.h"

namespace halite::app {

class KeepOwner {
 public:
  // Remembers the owner of `dir`. Nothing is given if the process is not root, if root owns the
  // directory, or if it does not exist.
  explicit KeepOwner(std::string dir);

  // Gives what root created or changed below the directory since the constructor, and the directory
  // itself if it was replaced. A file with a second name stays: it may be one of another directory.
  // kUnavailable: some could not be given; the message names the first and the command that does.
  [[nodiscard]] Result<void> give() const;

 private:
  const std::string dir_;
  bool wanted_ = false;
  uid_t user_ = 0;
  gid_t group_ = 0;
  timespec began_ = {};
};

}  // namespace halite::app
