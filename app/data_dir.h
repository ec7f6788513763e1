// The directory that holds everything one server keeps, and the lock that makes it one server's.
#pragma once

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

}  // namespace halite::app
