#include "storage/backends/rocks/files/file_system.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace halite::storage::rocks {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus status_of(const Error& error) {
  if (error.code == Errc::kNotFound) return IOStatus::PathNotFound(error.message);
  IOStatus failed = IOStatus::IOError(error.message);
  // A full disk: RocksDB retries until there is space (write_recovery.h). Not as NoSpace: there 7.8
  // recovers in another way, stays stopped, and reports that it is not.
  failed.SetRetryable(error.code == Errc::kOverloaded);
  return failed;
}

IOStatus status_of(const Result<void>& outcome) {
  return outcome ? IOStatus::OK() : status_of(outcome.error());
}

// Passes the value of a result to `take`; an error becomes the status.
template <class T, class Take>
IOStatus taken(Result<T> result, Take take) {
  if (!result) return status_of(result.error());
  take(*std::move(result));
  return IOStatus::OK();
}

BytesView view_of(const Slice& slice) { return {slice.data(), slice.size()}; }

IOStatus read_into(File& file, std::uint64_t offset, std::size_t bytes, Slice* result,
                   char* scratch) {
  return taken(file.pread(offset, {scratch, bytes}),
               [&](std::size_t got) { *result = Slice(scratch, got); });
}

// Removes duplicate and trailing slashes, which users of RocksDB may add.
std::string plain(const std::string& path) {
  std::string text;
  for (const char letter : path) {
    if (letter != '/' || !text.ends_with('/')) text.push_back(letter);
  }
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(std::unique_ptr<File> file) : file_(std::move(file)) {
    file_->expect(ReadPattern::kSequential);
  }
  IOStatus Read(std::size_t bytes, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    const IOStatus status = read_into(*file_, offset_, bytes, result, scratch);
    if (status.ok()) offset_ += result->size();
    return status;
  }
  IOStatus Skip(std::uint64_t bytes) override {
    offset_ += bytes;
    return IOStatus::OK();
  }
  IOStatus InvalidateCache(std::size_t, std::size_t) override { return IOStatus::OK(); }

 private:
  const std::unique_ptr<File> file_;
  std::uint64_t offset_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  IOStatus Read(std::uint64_t offset, std::size_t bytes, const IOOptions&, Slice* result,
                char* scratch, IODebugContext*) const override {
    return read_into(*file_, offset, bytes, result, scratch);
  }
  IOStatus Prefetch(std::uint64_t offset, std::size_t bytes, const IOOptions&,
                    IODebugContext*) override {
    file_->read_ahead(offset, bytes);
    return IOStatus::OK();
  }
  void Hint(AccessPattern pattern) override {
    if (pattern == kNormal) file_->expect(ReadPattern::kNormal);
    if (pattern == kRandom) file_->expect(ReadPattern::kRandom);
    if (pattern == kSequential) file_->expect(ReadPattern::kSequential);
  }
  IOStatus InvalidateCache(std::size_t, std::size_t) override { return IOStatus::OK(); }

 private:
  const std::unique_ptr<File> file_;
};

class WritableFile final : public rocksdb::FSWritableFile {
 public:
  WritableFile(std::unique_ptr<File> file, std::uint64_t end, const FileOptions& options)
      : FSWritableFile(options), file_(std::move(file)), end_(end) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    const Result<void> written = file_->pwrite(end_, view_of(data));
    if (written) end_ += data.size();
    return status_of(written);
  }
  using FSWritableFile::PositionedAppend;
  IOStatus PositionedAppend(const Slice& data, std::uint64_t offset, const IOOptions&,
                            IODebugContext*) override {
    const Result<void> written = file_->pwrite(offset, view_of(data));
    if (written) end_ = std::max(end_, offset + data.size());
    return status_of(written);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions&, IODebugContext*) override {
    const Result<void> cut = file_->truncate(size);
    if (cut) end_ = size;
    return status_of(cut);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    if (file_ == nullptr) return IOStatus::OK();
    // Frees the reserved space that was not written.
    const Result<void> cut = reserved_ > end_ ? file_->truncate(end_) : Result<void>();
    file_.reset();
    return status_of(cut);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return status_of(file_->datasync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return status_of(file_->sync()); }
  [[nodiscard]] bool IsSyncThreadSafe() const override { return true; }
  IOStatus RangeSync(std::uint64_t offset, std::uint64_t bytes, const IOOptions&,
                     IODebugContext*) override {
    file_->start_writeback(offset, bytes);
    return IOStatus::OK();
  }
  IOStatus Allocate(std::uint64_t offset, std::uint64_t bytes, const IOOptions&,
                    IODebugContext*) override {
    const Result<void> reserved = file_->reserve(offset, bytes);
    if (reserved) reserved_ = std::max(reserved_, offset + bytes);
    return status_of(reserved);
  }
  IOStatus InvalidateCache(std::size_t, std::size_t) override { return IOStatus::OK(); }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return end_; }

 private:
  std::unique_ptr<File> file_;  // null once closed
  std::uint64_t end_;
  std::uint64_t reserved_ = 0;
};

class RandomRWFile final : public rocksdb::FSRandomRWFile {
 public:
  explicit RandomRWFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  IOStatus Write(std::uint64_t offset, const Slice& data, const IOOptions&,
                 IODebugContext*) override {
    return status_of(file_->pwrite(offset, view_of(data)));
  }
  IOStatus Read(std::uint64_t offset, std::size_t bytes, const IOOptions&, Slice* result,
                char* scratch, IODebugContext*) const override {
    return read_into(*file_, offset, bytes, result, scratch);
  }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return status_of(file_->datasync()); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return status_of(file_->sync()); }
  IOStatus Close(const IOOptions&, IODebugContext*) override {
    file_.reset();
    return IOStatus::OK();
  }

 private:
  std::unique_ptr<File> file_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  Directory(std::shared_ptr<FileSystem> files, std::string dir)
      : files_(std::move(files)), dir_(std::move(dir)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    return status_of(files_->sync_dir(dir_));
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::shared_ptr<FileSystem> files_;
  const std::string dir_;
};

class HeldLock final : public rocksdb::FileLock {
 public:
  explicit HeldLock(std::unique_ptr<storage::FileLock> lock) : lock_(std::move(lock)) {}

 private:
  const std::unique_ptr<storage::FileLock> lock_;
};

class RocksFileSystem final : public rocksdb::FileSystem {
 public:
  explicit RocksFileSystem(std::shared_ptr<storage::FileSystem> files) : files_(std::move(files)) {}

  [[nodiscard]] const char* Name() const override { return "halite.files"; }

  IOStatus NewSequentialFile(const std::string& path, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* file,
                             IODebugContext*) override {
    return taken(files_->open(plain(path), OpenFile::kRead), [&](std::unique_ptr<File> opened) {
      *file = std::make_unique<SequentialFile>(std::move(opened));
    });
  }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                               IODebugContext*) override {
    return taken(files_->open(plain(path), OpenFile::kRead), [&](std::unique_ptr<File> opened) {
      *file = std::make_unique<RandomAccessFile>(std::move(opened));
    });
  }
  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext*) override {
    return taken(files_->open(plain(path), OpenFile::kReplace), [&](std::unique_ptr<File> opened) {
      *file = std::make_unique<WritableFile>(std::move(opened), 0, options);
    });
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext*) override {
    Result<std::unique_ptr<File>> opened = files_->open(plain(path), OpenFile::kWrite);
    if (!opened && opened.error().code == Errc::kNotFound)
      opened = files_->open(plain(path), OpenFile::kCreate);
    if (!opened) return status_of(opened.error());
    const Result<std::uint64_t> end = (*opened)->size();
    if (!end) return status_of(end.error());
    *file = std::make_unique<WritableFile>(*std::move(opened), *end, options);
    return IOStatus::OK();
  }
  IOStatus NewRandomRWFile(const std::string& path, const FileOptions&,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* file,
                           IODebugContext*) override {
    return taken(files_->open(plain(path), OpenFile::kWrite), [&](std::unique_ptr<File> opened) {
      *file = std::make_unique<RandomRWFile>(std::move(opened));
    });
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* dir, IODebugContext*) override {
    const std::string name = plain(path);
    const IOStatus there = exists(name);
    if (there.ok()) *dir = std::make_unique<Directory>(files_, name);
    return there;
  }

  IOStatus FileExists(const std::string& path, const IOOptions&, IODebugContext*) override {
    return exists(plain(path));
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions&, bool* is_dir,
                       IODebugContext*) override {
    return taken(files_->kind(plain(path)),
                 [&](FileKind kind) { *is_dir = kind == FileKind::kDirectory; });
  }
  IOStatus GetChildren(const std::string& path, const IOOptions&, std::vector<std::string>* names,
                       IODebugContext*) override {
    return taken(files_->list(plain(path)),
                 [&](std::vector<std::string> found) { *names = std::move(found); });
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions&, IODebugContext*) override {
    return status_of(files_->remove(plain(path)));
  }
  IOStatus Truncate(const std::string& path, std::size_t size, const IOOptions&,
                    IODebugContext*) override {
    const auto file = files_->open(plain(path), OpenFile::kWrite);
    return file ? status_of((*file)->truncate(size)) : status_of(file.error());
  }
  IOStatus CreateDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return status_of(files_->make_dir(plain(path)));
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions&, IODebugContext*) override {
    const Result<void> made = files_->make_dir(plain(path));
    if (!made && made.error().code == Errc::kConflict) return IOStatus::OK();
    return status_of(made);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions&, IODebugContext*) override {
    return status_of(files_->remove_dir(plain(path)));
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions&, std::uint64_t* size,
                       IODebugContext*) override {
    return taken(files_->size(plain(path)), [&](std::uint64_t bytes) { *size = bytes; });
  }
  IOStatus GetFileModificationTime(const std::string& path, const IOOptions&, std::uint64_t* time_s,
                                   IODebugContext*) override {
    return taken(files_->modified(plain(path)),
                 [&](TimestampMs time) { *time_s = static_cast<std::uint64_t>(time / 1000); });
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return status_of(files_->rename(plain(from), plain(to)));
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                    IODebugContext*) override {
    return status_of(files_->link(plain(from), plain(to)));
  }
  IOStatus LockFile(const std::string& path, const IOOptions&, rocksdb::FileLock** lock,
                    IODebugContext*) override {
    return taken(files_->lock(plain(path)), [&](std::unique_ptr<storage::FileLock> held) {
      *lock = std::make_unique<HeldLock>(std::move(held)).release();  // until UnlockFile()
    });
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions&, IODebugContext*) override {
    const std::unique_ptr<rocksdb::FileLock> given_back(lock);
    return IOStatus::OK();
  }
  IOStatus GetFreeSpace(const std::string& path, const IOOptions&, std::uint64_t* bytes,
                        IODebugContext*) override {
    return taken(files_->disk_space(plain(path)),
                 [&](const DiskSpace& space) { *bytes = space.free_bytes; });
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions&, std::string* absolute,
                           IODebugContext*) override {
    std::error_code error;
    *absolute = std::filesystem::absolute(path, error).string();
    return error ? IOStatus::IOError(error.message()) : IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string*, IODebugContext*) override {
    return IOStatus::NotSupported("no directory for RocksDB's own tests");
  }

 private:
  IOStatus exists(const std::string& path) {
    const Result<FileKind> kind = files_->kind(path);
    if (!kind) return status_of(kind.error());
    return *kind == FileKind::kNone ? IOStatus::NotFound(path) : IOStatus::OK();
  }

  const std::shared_ptr<storage::FileSystem> files_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> make_file_system(std::shared_ptr<FileSystem> files,
                                                      std::shared_ptr<WriteFence> write_fence) {
  return std::make_shared<RocksFileSystem>(fenced_files(std::move(files), std::move(write_fence)));
}

}  // namespace halite::storage::rocks
