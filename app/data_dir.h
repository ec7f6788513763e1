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
  // Changes nothing, makes no file, and shares it with others that do the same. kConflict: a server
  // writes there; `advice` follows. kNotFound: it is not there, or is none.
  static Result<std::unique_ptr<DataDir>> open_to_read(const std::string& path,
                                                       const std::string& advice = {});
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  DataDir(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  // The directory itself, which also those lock who may make no file in it; `how`: LOCK_SH or
  // LOCK_EX. False: somebody's lock excludes that. File systems without such locks (NFS) exclude
  // nobody.
  Result<bool> lock_directory(int how);

  std::filesystem::path path_;
  int lock_;            // the descriptor of <path>/halite.lock; -1 where none is and may be made
  int directory_ = -1;  // that of the directory
};

// kNotFound where nothing of a server's is in it: it is empty, or somebody else's.
[[nodiscard]] Result<void> check_is_data_dir(const std::string& path);

// What to do where too little room is left on the disk of `path` to start: added to an error that
// may come from that.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path,
                                      std::uint64_t available_bytes);
// As above, of the disk as it is.
[[nodiscard]] Error explain_full_disk(Error error, const std::string& path);

}  // namespace halite::app
