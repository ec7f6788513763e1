// Detects whether a file has changed since it was read.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace halite {

// Two versions of a file have different stamps, however soon one replaces the other by a rename.
// All fields are zero if the file does not exist.
struct FileStamp {
  std::int64_t seconds = 0;  // last change of content, permissions or owner
  std::int64_t nanoseconds = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  bool regular = false;  // reading anything else may block forever
  bool operator==(const FileStamp&) const = default;

  [[nodiscard]] static FileStamp of(const std::string& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_ctim.tv_sec, info.st_ctim.tv_nsec, info.st_ino, info.st_size,
            S_ISREG(info.st_mode)};
  }
};

}  // namespace halite
