// The directory that holds everything one server keeps, and the lock that makes it one server's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/result.h"

namespace halite::app {

// Held as long as this lives; the kernel lets go of it when the process ends, however it ends.
class DataDir {
 public:
  // Makes the directory if needed. kConflict: another server has it, named by its process id.
  // kUnavailable: it cannot be made or written.
  static Result<std::unique_ptr<DataDir>> open(const std::string& path);
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  DataDir(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_;  // the descriptor of <path>/halite.lock
};

// What to do where too little room is left on the disk of `path` to start: added to an error that
// may come from that.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path,
                                      std::uint64_t available_bytes);
// As above, of the disk as it is.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path);

}  // namespace halite::app
