#include "tests/support/faulty_file_system.h"

#include <filesystem>
#include <thread>
#include <utility>

#include "common/check.h"

namespace halite::test {

class FaultyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  FaultyFile(std::string name, FaultyFileSystem& system,
             std::unique_ptr<rocksdb::FSWritableFile> file)
      : rocksdb::FSWritableFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        system_(system) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    return append(data.size(), [&] { return target()->Append(data, options, debug); });
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& verification,
                           rocksdb::IODebugContext* debug) override {
    return append(data.size(),
                  [&] { return target()->Append(data, options, verification, debug); });
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options,
                         rocksdb::IODebugContext* debug) override {
    return sync([&] { return target()->Sync(options, debug); });
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options,
                          rocksdb::IODebugContext* debug) override {
    return sync([&] { return target()->Fsync(options, debug); });
  }

 private:
  template <class Do>
  rocksdb::IOStatus append(std::size_t bytes, Do append_it) {
    rocksdb::IOStatus status = system_.before_append(name_);
    if (!status.ok()) return status;
    status = append_it();
    if (status.ok()) system_.note_append(name_, bytes);
    return status;
  }

  template <class Do>
  rocksdb::IOStatus sync(Do sync_it) {
    rocksdb::IOStatus status = system_.before_sync(name_);
    if (!status.ok()) return status;
    const std::uint64_t written = system_.written(name_);
    status = sync_it();
    return status.ok() ? system_.note_sync(name_, written) : status;
  }

  const std::string name_;
  FaultyFileSystem& system_;
};

rocksdb::IOStatus FaultyFileSystem::NewWritableFile(const std::string& name,
                                                    const rocksdb::FileOptions& options,
                                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                                    rocksdb::IODebugContext* debug) {
  {
    const std::lock_guard lock(mutex_);
    if (!power_) return rocksdb::IOStatus::IOError("no power");
    extents_[name] = {};
  }
  const rocksdb::IOStatus status = target()->NewWritableFile(name, options, file, debug);
  if (status.ok()) *file = std::make_unique<FaultyFile>(name, *this, std::move(*file));
  return status;
}

rocksdb::IOStatus FaultyFileSystem::DeleteFile(const std::string& name,
                                               const rocksdb::IOOptions& options,
                                               rocksdb::IODebugContext* debug) {
  if (!has_power()) return rocksdb::IOStatus::IOError("no power");
  return target()->DeleteFile(name, options, debug);
}

rocksdb::IOStatus FaultyFileSystem::RenameFile(const std::string& from, const std::string& to,
                                               const rocksdb::IOOptions& options,
                                               rocksdb::IODebugContext* debug) {
  if (!has_power()) return rocksdb::IOStatus::IOError("no power");
  return target()->RenameFile(from, to, options, debug);
}

bool FaultyFileSystem::has_power() {
  const std::lock_guard lock(mutex_);
  return power_;
}

void FaultyFileSystem::fail_appends(std::string name_end, rocksdb::IOStatus status) {
  const std::lock_guard lock(mutex_);
  append_name_end_ = std::move(name_end);
  append_status_ = std::move(status);
}

void FaultyFileSystem::fail_syncs(std::string name_end, rocksdb::IOStatus status) {
  const std::lock_guard lock(mutex_);
  sync_name_end_ = std::move(name_end);
  sync_status_ = std::move(status);
}

void FaultyFileSystem::heal() {
  fail_appends("", rocksdb::IOStatus::OK());
  fail_syncs("", rocksdb::IOStatus::OK());
}

void FaultyFileSystem::set_sync_time(std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  sync_time_ = time;
}

rocksdb::IOStatus FaultyFileSystem::before_append(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (!power_) return rocksdb::IOStatus::IOError("no power");
  return name.ends_with(append_name_end_) ? append_status_ : rocksdb::IOStatus::OK();
}

rocksdb::IOStatus FaultyFileSystem::before_sync(const std::string& name) {
  std::chrono::microseconds time;
  {
    const std::lock_guard lock(mutex_);
    if (!power_) return rocksdb::IOStatus::IOError("no power");
    if (!sync_status_.ok() && name.ends_with(sync_name_end_)) return sync_status_;
    time = sync_time_;
  }
  if (time.count() > 0) std::this_thread::sleep_for(time);
  return rocksdb::IOStatus::OK();
}

void FaultyFileSystem::note_append(const std::string& name, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  extents_[name].written += bytes;
}

rocksdb::IOStatus FaultyFileSystem::note_sync(const std::string& name, std::uint64_t synced) {
  const std::lock_guard lock(mutex_);
  if (!power_) return rocksdb::IOStatus::IOError("no power");
  extents_[name].synced = synced;
  return rocksdb::IOStatus::OK();
}

std::uint64_t FaultyFileSystem::written(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return extents_[name].written;
}

void FaultyFileSystem::cut_power() {
  const std::lock_guard lock(mutex_);
  power_ = false;
}

void FaultyFileSystem::restore_power() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, extent] : extents_) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(name, error);
    if (error || size <= extent.synced) continue;  // deleted or renamed since
    const std::uint64_t unsynced = size - extent.synced;
    const std::uint64_t kept = std::uniform_int_distribution<std::uint64_t>(0, unsynced)(random_);
    std::filesystem::resize_file(name, extent.synced + kept, error);
    HALITE_CHECK(!error, "a file cannot be cut");
  }
  extents_.clear();
  power_ = true;
}

}  // namespace halite::test
