// RocksDB's files with trouble on demand: writes and syncs that fail, syncs that take their time,
// and a power cut that takes away what was not synced.
//
//   Threads  any call from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include <rocksdb/file_system.h>

namespace halite::test {

class FaultyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultyFileSystem(std::uint32_t seed)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), random_(seed) {}

  [[nodiscard]] const char* Name() const override { return "FaultyFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override;

  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // Of files whose names end so: what every append and every sync answers until it is ok again.
  void fail_appends(std::string name_end, rocksdb::IOStatus status);
  void fail_syncs(std::string name_end, rocksdb::IOStatus status);
  void heal();

  void set_sync_time(std::chrono::microseconds time);

  // From now on nothing can be written. Of what was not synced a random part stays. Close the
  // store, then restore_power().
  void cut_power();
  void restore_power();

 private:
  friend class FaultyFile;
  struct Extent {
    std::uint64_t written = 0;
    std::uint64_t synced = 0;
  };

  rocksdb::IOStatus before_append(const std::string& name);
  rocksdb::IOStatus before_sync(const std::string& name);
  void note_append(const std::string& name, std::uint64_t bytes);
  // An error when the power went while it synced: then nobody knows what it did.
  rocksdb::IOStatus note_sync(const std::string& name, std::uint64_t synced);
  bool has_power();
  std::uint64_t written(const std::string& name);

  std::mutex mutex_;  // guards the rest
  std::mt19937 random_;
  std::map<std::string, Extent> extents_;
  std::string append_name_end_;
  rocksdb::IOStatus append_status_;
  std::string sync_name_end_;
  rocksdb::IOStatus sync_status_;
  std::chrono::microseconds sync_time_{0};
  bool power_ = true;
};

}  // namespace halite::test
