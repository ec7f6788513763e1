// The data directory of one server, and its lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/result.h"

namespace halite::app {

// Holds the lock while it lives. The kernel releases it when the process ends in any way.
class DataDir {
 public:
  // Creates the directory if needed. kConflict: another server, named by its process id, uses it.
  // kUnavailable: it cannot be created or written.
  static Result<std::unique_ptr<DataDir>> open(const std::string& path);
  // Changes nothing, creates no file, and allows other readers. kConflict: a server writes there;
  // the message ends with `advice`. kNotFound: it does not exist, or is not a data directory.
  static Result<std::unique_ptr<DataDir>> open_to_read(const std::string& path,
                                                       const std::string& advice = {});
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  DataDir(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  // Locks the directory itself, for processes that cannot create files in it; `how`: LOCK_SH or
  // LOCK_EX. False: another lock excludes it. On file systems without such locks (NFS) nothing is
  // excluded.
  Result<bool> lock_directory(int how);

  std::filesystem::path path_;
  int lock_;            // the descriptor of <path>/halite.lock; -1 if it does not exist and may not
                        // be created
  int directory_ = -1;  // the descriptor of the directory
};

// kNotFound if it contains no data of a server: it is empty or has another purpose.
[[nodiscard]] Result<void> check_is_data_dir(const std::string& path);

// Adds advice to an error that may come from a full disk: what to do if the disk of `path` has too
// little space for a start.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path,
                                      std::uint64_t available_bytes);
// With the free space of the disk now.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path);

}  // namespace halite::app
