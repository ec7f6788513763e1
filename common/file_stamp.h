// Tells whether a file has changed since it was read.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace halite {

// Two versions of a file differ in it, however quickly they follow each other, where the second was
// put in the place of the first. All zero: there is no such file.
struct FileStamp {
  std::int64_t seconds = 0;  // when it changed last, its rights and its owner, too
  std::int64_t nanoseconds = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  bool regular = false;  // to read anything else may take for ever
  bool operator==(const FileStamp&) const = default;

  [[nodiscard]] static FileStamp of(const std::string& path) {
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) return {};
    return {info.st_ctim.tv_sec, info.st_ctim.tv_nsec, info.st_ino, info.st_size,
            S_ISREG(info.st_mode)};
  }
};

}  // namespace halite
