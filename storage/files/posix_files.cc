#include "storage/files/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace halite::storage {

namespace {

// Call immediately after the failed call, while errno is still valid.
std::unexpected<Error> failed(std::string_view doing, const std::string& path) {
  const int code = errno;
  Errc errc = Errc::kUnavailable;
  if (code == ENOENT) errc = Errc::kNotFound;
  if (code == EEXIST || code == ENOTEMPTY) errc = Errc::kConflict;
  if (code == ENOSPC || code == EDQUOT) errc = Errc::kOverloaded;
  return fail(errc,
              fmt::format("cannot {} {}: {}", doing, path, std::generic_category().message(code)));
}

// Repeats a call that a signal interrupted.
template <class Call>
auto retried(Call call) {
  auto outcome = call();
  while (outcome < 0 && errno == EINTR) outcome = call();
  return outcome;
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);  // an error that matters was reported by the last sync
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

class PosixFile final : public File {
 public:
  PosixFile(std::string path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}

  Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) override {
    std::size_t got = 0;
    while (got < to.size()) {
      const ssize_t bytes = retried([&] {
        return ::pread(descriptor_.number(), to.data() + got, to.size() - got,
                       static_cast<off_t>(offset + got));
      });
      if (bytes < 0) return failed("read", path_);
      if (bytes == 0) break;
      got += static_cast<std::size_t>(bytes);
    }
    return got;
  }

  Result<void> pwrite(std::uint64_t offset, BytesView bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = retried([&] {
        return ::pwrite(descriptor_.number(), bytes.data(), bytes.size(),
                        static_cast<off_t>(offset));
      });
      if (written < 0) return failed("write", path_);
      bytes.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
    return {};
  }

  Result<void> append(BytesView bytes) override {
    TRY(const std::uint64_t end, size());
    return pwrite(end, bytes);
  }

  Result<void> reserve(std::uint64_t offset, std::uint64_t bytes) override {
    const int outcome = retried([&] {
      return ::fallocate(descriptor_.number(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                         static_cast<off_t>(bytes));
    });
    if (outcome == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
    return failed("reserve space for", path_);
  }

  Result<void> truncate(std::uint64_t size) override {
    if (retried([&] { return ::ftruncate(descriptor_.number(), static_cast<off_t>(size)); }) != 0)
      return failed("resize", path_);
    return {};
  }

  Result<std::uint64_t> size() override {
    struct stat about{};
    if (::fstat(descriptor_.number(), &about) != 0) return failed("look at", path_);
    return static_cast<std::uint64_t>(about.st_size);
  }

  Result<void> datasync() override {
    if (retried([&] { return ::fdatasync(descriptor_.number()); }) != 0)
      return failed("sync", path_);
    return {};
  }

  Result<void> sync() override {
    if (retried([&] { return ::fsync(descriptor_.number()); }) != 0) return failed("sync", path_);
    return {};
  }

  // The three functions below are hints: if the system ignores them, only speed is lost.
  void start_writeback(std::uint64_t offset, std::uint64_t bytes) override {
    std::ignore = ::sync_file_range(descriptor_.number(), static_cast<off_t>(offset),
                                    static_cast<off_t>(bytes), SYNC_FILE_RANGE_WRITE);
  }
  void expect(ReadPattern pattern) override {
    int advice = POSIX_FADV_NORMAL;
    if (pattern == ReadPattern::kRandom) advice = POSIX_FADV_RANDOM;
    if (pattern == ReadPattern::kSequential) advice = POSIX_FADV_SEQUENTIAL;
    std::ignore = ::posix_fadvise(descriptor_.number(), 0, 0, advice);
  }
  void read_ahead(std::uint64_t offset, std::uint64_t bytes) override {
    std::ignore = ::posix_fadvise(descriptor_.number(), static_cast<off_t>(offset),
                                  static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
  }

 private:
  const std::string path_;
  const Descriptor descriptor_;
};

class PosixLock final : public FileLock {
 public:
  explicit PosixLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  const Descriptor descriptor_;
};

Result<Descriptor> open_descriptor(const std::string& path, int flags) {
  const int number = retried([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0644); });
  if (number < 0) return failed("open", path);
  return Descriptor(number);
}

class PosixFiles final : public FileSystem {
 public:
  Result<std::unique_ptr<File>> open(const std::string& path, OpenFile how) override {
    int flags = O_RDWR;
    if (how == OpenFile::kRead) flags = O_RDONLY;
    if (how == OpenFile::kCreate) flags |= O_CREAT | O_EXCL;
    if (how == OpenFile::kReplace) flags |= O_CREAT | O_TRUNC;
    TRY(Descriptor descriptor, open_descriptor(path, flags));
    return std::make_unique<PosixFile>(path, std::move(descriptor));
  }

  Result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return failed("remove", path);
    return {};
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0)
      return failed(fmt::format("rename {} to", from), to);
    return {};
  }
  Result<void> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) != 0) return failed(fmt::format("link {} to", from), to);
    return {};
  }
  Result<void> sync_dir(const std::string& dir) override {
    TRY(const Descriptor descriptor, open_descriptor(dir, O_RDONLY | O_DIRECTORY));
    if (retried([&] { return ::fsync(descriptor.number()); }) != 0) return failed("sync", dir);
    return {};
  }

  Result<void> make_dir(const std::string& dir) override {
    if (::mkdir(dir.c_str(), 0755) != 0) return failed("make", dir);
    return {};
  }
  Result<void> remove_dir(const std::string& dir) override {
    if (::rmdir(dir.c_str()) != 0) return failed("remove", dir);
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& dir) override {
    DIR* const stream = ::opendir(dir.c_str());
    if (stream == nullptr) return failed("list", dir);
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int code = errno;
    ::closedir(stream);
    errno = code;
    if (code != 0) return failed("list", dir);
    std::ranges::sort(names);
    return names;
  }

  Result<FileKind> kind(const std::string& path) override {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return FileKind::kNone;
      return failed("look at", path);
    }
    return S_ISDIR(about.st_mode) ? FileKind::kDirectory : FileKind::kFile;
  }
  Result<std::uint64_t> size(const std::string& path) override {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return failed("look at", path);
    return static_cast<std::uint64_t>(about.st_size);
  }
  Result<TimestampMs> modified(const std::string& path) override {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return failed("look at", path);
    return about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1'000'000;
  }
  Result<DiskSpace> disk_space(const std::string& path) override {
    struct statvfs about{};
    if (::statvfs(path.c_str(), &about) != 0) return failed("look at", path);
    const std::uint64_t blocks = ::geteuid() == 0 ? about.f_bfree : about.f_bavail;
    return DiskSpace{.free_bytes = blocks * about.f_frsize,
                     .total_bytes = about.f_blocks * about.f_frsize};
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    TRY(Descriptor descriptor, open_descriptor(path, O_RDWR | O_CREAT));
    // A lock of the open file, not of the process: it also conflicts with a second open() in this
    // process and with RocksDB's own locks.
    struct flock whole{};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (::fcntl(descriptor.number(), F_OFD_SETLK, &whole) != 0) {
      if (errno == EAGAIN || errno == EACCES)
        return fail(Errc::kConflict, fmt::format("{} is locked", path));
      return failed("lock", path);
    }
    return std::make_unique<PosixLock>(std::move(descriptor));
  }
};

}  // namespace

std::shared_ptr<FileSystem> posix_files() {
  static const auto kFiles = std::make_shared<PosixFiles>();
  return kFiles;
}

}  // namespace halite::storage
