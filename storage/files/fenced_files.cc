#include "storage/files/fenced_files.h"

#include <utility>

#include <fmt/format.h>

namespace halite::storage {

namespace {

Result<void> after_sync(WriteFence& write_fence, Result<void> outcome) {
  if (outcome) return outcome;
  outcome.error().code = Errc::kUnavailable;
  write_fence.trip(outcome.error());
  return outcome;
}

Result<void> after_write(WriteFence& write_fence, Result<void> outcome) {
  if (!outcome && outcome.error().code == Errc::kUnavailable) write_fence.trip(outcome.error());
  return outcome;
}

// Stands for a file that is created after freeze().
class NoFile final : public File {
 public:
  Result<std::size_t> pread(std::uint64_t /*offset*/, std::span<char> /*to*/) override { return 0; }
  Result<void> pwrite(std::uint64_t /*offset*/, BytesView /*bytes*/) override { return {}; }
  Result<void> append(BytesView /*bytes*/) override { return {}; }
  Result<void> reserve(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override { return {}; }
  Result<void> truncate(std::uint64_t /*size*/) override { return {}; }
  Result<std::uint64_t> size() override { return 0; }
  Result<void> datasync() override { return {}; }
  Result<void> sync() override { return {}; }
  void start_writeback(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {}
  void expect(ReadPattern /*pattern*/) override {}
  void read_ahead(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {}
};

class FencedFile final : public File {
 public:
  FencedFile(std::unique_ptr<File> file, std::shared_ptr<WriteFence> write_fence)
      : file_(std::move(file)), write_fence_(std::move(write_fence)) {}

  Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) override {
    return file_->pread(offset, to);
  }
  Result<void> pwrite(std::uint64_t offset, BytesView bytes) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_write(*write_fence_, file_->pwrite(offset, bytes));
  }
  Result<void> append(BytesView bytes) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_write(*write_fence_, file_->append(bytes));
  }
  Result<void> reserve(std::uint64_t offset, std::uint64_t bytes) override {
    return file_->reserve(offset, bytes);
  }
  Result<void> truncate(std::uint64_t size) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_write(*write_fence_, file_->truncate(size));
  }
  Result<std::uint64_t> size() override { return file_->size(); }
  Result<void> datasync() override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_sync(*write_fence_, file_->datasync());
  }
  Result<void> sync() override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_sync(*write_fence_, file_->sync());
  }
  void start_writeback(std::uint64_t offset, std::uint64_t bytes) override {
    file_->start_writeback(offset, bytes);
  }
  void expect(ReadPattern pattern) override { file_->expect(pattern); }
  void read_ahead(std::uint64_t offset, std::uint64_t bytes) override {
    file_->read_ahead(offset, bytes);
  }

 private:
  const std::unique_ptr<File> file_;
  const std::shared_ptr<WriteFence> write_fence_;
};

class FencedFiles final : public FileSystem {
 public:
  FencedFiles(std::shared_ptr<FileSystem> files, std::shared_ptr<WriteFence> write_fence)
      : files_(std::move(files)), write_fence_(std::move(write_fence)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenFile how) override {
    if (how == OpenFile::kCreate || how == OpenFile::kReplace) {
      TRY(const bool real, write_fence_->may_change());
      if (!real) return std::make_unique<NoFile>();
    }
    TRY(std::unique_ptr<File> file, files_->open(path, how));
    return std::make_unique<FencedFile>(std::move(file), write_fence_);
  }
  Result<void> remove(const std::string& path) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return files_->remove(path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_write(*write_fence_, files_->rename(from, to));
  }
  Result<void> link(const std::string& from, const std::string& to) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return files_->link(from, to);
  }
  Result<void> sync_dir(const std::string& dir) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return after_sync(*write_fence_, files_->sync_dir(dir));
  }
  Result<void> make_dir(const std::string& dir) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return files_->make_dir(dir);
  }
  Result<void> remove_dir(const std::string& dir) override {
    TRY(const bool real, write_fence_->may_change());
    if (!real) return {};
    return files_->remove_dir(dir);
  }
  Result<std::vector<std::string>> list(const std::string& dir) override {
    return files_->list(dir);
  }
  Result<FileKind> kind(const std::string& path) override { return files_->kind(path); }
  Result<std::uint64_t> size(const std::string& path) override { return files_->size(path); }
  Result<TimestampMs> modified(const std::string& path) override { return files_->modified(path); }
  Result<DiskSpace> disk_space(const std::string& path) override {
    return files_->disk_space(path);
  }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    return files_->lock(path);
  }

 private:
  const std::shared_ptr<FileSystem> files_;
  const std::shared_ptr<WriteFence> write_fence_;
};

}  // namespace

void WriteFence::trip(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!tripped_) tripped_ = error;
}

void WriteFence::freeze() {
  const std::lock_guard lock(mutex_);
  frozen_ = true;
}

Result<bool> WriteFence::may_change() const {
  const std::lock_guard lock(mutex_);
  if (frozen_) return false;
  if (!tripped_) return true;
  return fail(Errc::kUnavailable,
              fmt::format("writing stopped because of an earlier error: {}", tripped_->message));
}

std::shared_ptr<FileSystem> fenced_files(std::shared_ptr<FileSystem> files,
                                         std::shared_ptr<WriteFence> write_fence) {
  return std::make_shared<FencedFiles>(std::move(files), std::move(write_fence));
}

}  // namespace halite::storage
