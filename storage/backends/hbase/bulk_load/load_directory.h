// A directory in which region servers find files for bulk loads.
//
//   file:///DIR                          on the region servers' own machine
//   webhdfs://NAMENODE:9870[,...]/DIR    in the HDFS of the cluster, over WebHDFS (web_hdfs.h)
//
//   Paths    are absolute, without a scheme: /dir/t/name.
//   Threads  call from any thread; one coroutine at a time for a file. file:// waits for the disk.
//   Errors   kNotFound, kForbidden: the directory or a file; kUnavailable: others, with the
//   server's
//            or the system's text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/backends/hbase/rpc/options.h"

namespace halite::storage {
class FileSystem;
}

namespace halite::storage::hbase {

// A file that is being written. It has a temporary name until finish(), so that
// no reader sees a part of it.
// If it is destroyed before, its temporary file stays.
class LoadFileWriter {
 public:
  virtual ~LoadFileWriter() = default;
  virtual Task<void> write(Bytes bytes) = 0;
  // Returns when the file is complete and durable, with all bytes, under its name.
  virtual Task<void> finish() = 0;
};

class LoadDirectory {
 public:
  virtual ~LoadDirectory() = default;

  // Creates a directory in it, with its parents. Not an error if it exists.
  virtual Task<void> make(std::string name) = 0;
  // A path in it: of a file in a directory that make() created.
  [[nodiscard]] virtual std::string path_of(std::string_view name, std::string_view file) const = 0;
  // The file that a region server names; nothing if it is not on this file system.
  [[nodiscard]] virtual std::optional<std::string> path_in(std::string_view url) const = 0;
  // As a region server opens it.
  [[nodiscard]] virtual std::string url_of(const std::string& path) const = 0;

  // Replaces an existing file.
  virtual Task<std::unique_ptr<LoadFileWriter>> create(std::string path) = 0;
  virtual Task<bool> exists(std::string path) = 0;
  // False: `from` does not exist, or `to` does.
  virtual Task<bool> rename(std::string from, std::string to) = 0;
  // Not an error if it does not exist. Also removes what a writer left.
  virtual Task<void> remove(std::string path) = 0;
};

struct LoadDirectoryOptions {
  std::string user;                   // of WebHDFS; the same as HBase's: it must own the files
  std::vector<HostOverride> hosts;    // DataNodes are named by their own names
  std::uint32_t timeout_ms = 60'000;  // of one request of WebHDFS, or one piece of a file
  std::uint32_t pause_ms = 500;       // before the first repetition of a request; doubles
};

// kInvalidArgument: no such URL; kUnsupported: another kind of file system. The files outlive it.
[[nodiscard]] Result<std::unique_ptr<LoadDirectory>> open_load_directory(
    std::string_view url, FileSystem& files, LoadDirectoryOptions options);

}  // namespace halite::storage::hbase
