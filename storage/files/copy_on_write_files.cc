#include "storage/files/copy_on_write_files.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace halite::storage {

namespace {

// The memory for changes, shared by all files.
class Budget {
 public:
  explicit Budget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] Result<void> take(std::uint64_t bytes) {
    if (taken_.fetch_add(bytes) + bytes <= bytes_max_) return {};
    taken_ -= bytes;
    return fail(Errc::kOverloaded,
                fmt::format("start-up writes in read-only mode stay in memory and would take more "
                            "than {} bytes; raise read_only_bytes_max",
                            bytes_max_));
  }
  // Checks that so many bytes are left, without taking them.
  [[nodiscard]] Result<void> check(std::uint64_t bytes) {
    TRY_VOID(take(bytes));
    give_back(bytes);
    return {};
  }
  void give_back(std::uint64_t bytes) { taken_ -= bytes; }
  [[nodiscard]] std::uint64_t bytes_max() const { return bytes_max_; }
  [[nodiscard]] std::uint64_t left() const {
    return bytes_max_ - std::min(bytes_max_, taken_.load());
  }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> taken_ = 0;
};

// A file in memory, shared by names and open files.
class Content {
 public:
  explicit Content(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
  ~Content() { budget_->give_back(bytes_.size()); }
  Content(const Content&) = delete;

  [[nodiscard]] std::uint64_t size() const {
    const std::shared_lock lock(mutex_);
    return bytes_.size();
  }
  std::size_t read(std::uint64_t offset, std::span<char> to) const {
    const std::shared_lock lock(mutex_);
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min<std::uint64_t>(to.size(), bytes_.size() - offset);
    std::copy_n(bytes_.data() + offset, count, to.data());
    return count;
  }
  Result<void> write(std::uint64_t offset, BytesView bytes) {
    const std::lock_guard lock(mutex_);
    return write_locked(offset, bytes);
  }
  Result<void> append(BytesView bytes) {
    const std::lock_guard lock(mutex_);
    return write_locked(bytes_.size(), bytes);
  }
  Result<void> resize(std::uint64_t size) {
    const std::lock_guard lock(mutex_);
    return resize_locked(size);
  }

 private:
  Result<void> write_locked(std::uint64_t offset, BytesView bytes) {
    if (offset + bytes.size() > bytes_.size()) TRY_VOID(resize_locked(offset + bytes.size()));
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  Result<void> resize_locked(std::uint64_t size) {
    if (size > bytes_.size()) TRY_VOID(budget_->take(size - bytes_.size()));
    if (size < bytes_.size()) budget_->give_back(bytes_.size() - size);
    bytes_.resize(size);
    return {};
  }

  const std::shared_ptr<Budget> budget_;
  mutable std::shared_mutex mutex_;
  Bytes bytes_;  // guarded by mutex_
};

class MemoryFile final : public File {
 public:
  explicit MemoryFile(std::shared_ptr<Content> content) : content_(std::move(content)) {}

  Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) override {
    return content_->read(offset, to);
  }
  Result<void> pwrite(std::uint64_t offset, BytesView bytes) override {
    return content_->write(offset, bytes);
  }
  Result<void> append(BytesView bytes) override { return content_->append(bytes); }
  Result<void> reserve(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override { return {}; }
  Result<void> truncate(std::uint64_t size) override { return content_->resize(size); }
  Result<std::uint64_t> size() override { return content_->size(); }
  Result<void> datasync() override { return {}; }
  Result<void> sync() override { return {}; }
  void start_writeback(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {}
  void expect(ReadPattern /*pattern*/) override {}
  void read_ahead(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) override {}

 private:
  const std::shared_ptr<Content> content_;
};

// Locked paths.
struct Locked {
  std::mutex mutex;
  std::set<std::string> paths;  // guarded by mutex
};

class MemoryLock final : public FileLock {
 public:
  MemoryLock(std::shared_ptr<Locked> locked, std::string path)
      : locked_(std::move(locked)), path_(std::move(path)) {}
  ~MemoryLock() override {
    const std::lock_guard lock(locked_->mutex);
    locked_->paths.erase(path_);
  }

 private:
  const std::shared_ptr<Locked> locked_;
  const std::string path_;
};

// The current meaning of a changed name.
struct Gone {};
struct Directory {};
struct Beneath {
  std::string path;  // of an unchanged file that was renamed
};
using Changed = std::variant<Gone, Directory, Beneath, std::shared_ptr<Content>>;

std::unexpected<Error> missing(const std::string& path) {
  return fail(Errc::kNotFound, fmt::format("{}: No such file or directory", path));
}

std::unexpected<Error> exists(const std::string& path) {
  return fail(Errc::kConflict, fmt::format("{}: File exists", path));
}

class CopyOnWriteFiles final : public FileSystem {
 public:
  CopyOnWriteFiles(std::shared_ptr<FileSystem> beneath, std::uint64_t bytes_max)
      : beneath_(std::move(beneath)), budget_(std::make_shared<Budget>(bytes_max)) {}

  Result<std::unique_ptr<File>> open(const std::string& path, OpenFile how) override {
    const std::lock_guard lock(mutex_);
    TRY(const FileKind kind, kind_locked(path));
    if (kind == FileKind::kDirectory) {
      return fail(Errc::kUnavailable, fmt::format("{}: Is a directory", path));
    }
    switch (how) {
      case OpenFile::kRead:
        if (kind == FileKind::kNone) return missing(path);
        return open_to_read(path);
      case OpenFile::kWrite:
        if (kind == FileKind::kNone) return missing(path);
        return open_to_write(path);
      case OpenFile::kCreate:
        if (kind != FileKind::kNone) return exists(path);
        break;
      case OpenFile::kReplace:
        break;
    }
    TRY_VOID(check_dir_above(path));
    const auto made = std::make_shared<Content>(budget_);
    changed_.insert_or_assign(path, made);
    return std::make_unique<MemoryFile>(made);
  }

  Result<void> remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    TRY_VOID(check_file(path));
    changed_.insert_or_assign(path, Gone());
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    TRY_VOID(check_file(from));
    TRY_VOID(check_dir_above(to));
    if (from == to) return {};
    changed_.insert_or_assign(to, meaning(from));
    changed_.insert_or_assign(from, Gone());
    return {};
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    TRY_VOID(check_file(from));
    TRY_VOID(check_dir_above(to));
    TRY(const FileKind there, kind_locked(to));
    if (there != FileKind::kNone) return exists(to);
    changed_.insert_or_assign(to, meaning(from));
    return {};
  }

  Result<void> sync_dir(const std::string& dir) override {
    const std::lock_guard lock(mutex_);
    return check_dir(dir);
  }

  Result<void> make_dir(const std::string& dir) override {
    const std::lock_guard lock(mutex_);
    TRY(const FileKind there, kind_locked(dir));
    if (there != FileKind::kNone) return exists(dir);
    TRY_VOID(check_dir_above(dir));
    changed_.insert_or_assign(dir, Directory());
    return {};
  }

  Result<void> remove_dir(const std::string& dir) override {
    const std::lock_guard lock(mutex_);
    TRY(const std::vector<std::string> inside, list_locked(dir));
    if (!inside.empty()) {
      return fail(Errc::kConflict, fmt::format("{}: Directory not empty", dir));
    }
    changed_.insert_or_assign(dir, Gone());
    return {};
  }

  Result<std::vector<std::string>> list(const std::string& dir) override {
    const std::lock_guard lock(mutex_);
    return list_locked(dir);
  }

  Result<FileKind> kind(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return kind_locked(path);
  }

  Result<std::uint64_t> size(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    TRY_VOID(check_file(path));
    const Changed now = meaning(path);
    if (const auto* content = std::get_if<std::shared_ptr<Content>>(&now)) {
      return (*content)->size();
    }
    return beneath_->size(std::get<Beneath>(now).path);
  }

  // Files in memory keep no modification time; nothing depends on it.
  Result<TimestampMs> modified(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    TRY_VOID(check_file(path));
    const Changed now = meaning(path);
    if (const auto* other = std::get_if<Beneath>(&now)) return beneath_->modified(other->path);
    return 0;
  }

  // Of the memory that changes may take.
  Result<DiskSpace> disk_space(const std::string& /*path*/) override {
    return DiskSpace{.free_bytes = budget_->left(), .total_bytes = budget_->bytes_max()};
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
    const std::lock_guard lock(locked_->mutex);
    if (!locked_->paths.insert(path).second) {
      return fail(Errc::kConflict, fmt::format("{} is locked", path));
    }
    return std::make_unique<MemoryLock>(locked_, path);
  }

 private:
  // Callers of the functions below hold mutex_.

  // The file must exist.
  [[nodiscard]] Changed meaning(const std::string& path) const {
    const auto found = changed_.find(path);
    return found == changed_.end() ? Changed(Beneath{path}) : found->second;
  }

  [[nodiscard]] Result<FileKind> kind_locked(const std::string& path) const {
    const auto found = changed_.find(path);
    if (found == changed_.end()) return beneath_->kind(path);
    if (std::holds_alternative<Gone>(found->second)) return FileKind::kNone;
    if (std::holds_alternative<Directory>(found->second)) return FileKind::kDirectory;
    return FileKind::kFile;
  }

  [[nodiscard]] Result<void> check_file(const std::string& path) const {
    TRY(const FileKind kind, kind_locked(path));
    if (kind == FileKind::kNone) return missing(path);
    if (kind == FileKind::kFile) return {};
    return fail(Errc::kUnavailable, fmt::format("{}: Is a directory", path));
  }
  [[nodiscard]] Result<void> check_dir(const std::string& dir) const {
    TRY(const FileKind kind, kind_locked(dir));
    return kind == FileKind::kDirectory ? Result<void>() : missing(dir);
  }
  [[nodiscard]] Result<void> check_dir_above(const std::string& path) const {
    return check_dir(dir_of(path));
  }

  Result<std::unique_ptr<File>> open_to_read(const std::string& path) {
    const Changed now = meaning(path);
    if (const auto* content = std::get_if<std::shared_ptr<Content>>(&now)) {
      return std::make_unique<MemoryFile>(*content);
    }
    return beneath_->open(std::get<Beneath>(now).path, OpenFile::kRead);
  }

  Result<std::unique_ptr<File>> open_to_write(const std::string& path) {
    const Changed now = meaning(path);
    if (const auto* content = std::get_if<std::shared_ptr<Content>>(&now)) {
      return std::make_unique<MemoryFile>(*content);
    }
    const std::string& there = std::get<Beneath>(now).path;
    TRY(const std::uint64_t size, beneath_->size(there));
    TRY_VOID(budget_->check(size));
    TRY(const Bytes whole, read_whole(*beneath_, there, budget_->left()));
    auto copy = std::make_shared<Content>(budget_);
    TRY_VOID(copy->append(whole));
    changed_.insert_or_assign(path, copy);
    return std::make_unique<MemoryFile>(std::move(copy));
  }

  Result<std::vector<std::string>> list_locked(const std::string& dir) const {
    TRY_VOID(check_dir(dir));
    std::set<std::string> names;
    if (!changed_.contains(dir)) {
      TRY(const std::vector<std::string> there, beneath_->list(dir));
      names.insert(there.begin(), there.end());
    }
    for (const auto& [path, now] : changed_) {
      if (dir_of(path) != dir) continue;
      if (std::holds_alternative<Gone>(now)) {
        names.erase(name_of(path));
      } else {
        names.insert(name_of(path));
      }
    }
    return std::vector<std::string>(names.begin(), names.end());
  }

  const std::shared_ptr<FileSystem> beneath_;
  const std::shared_ptr<Budget> budget_;
  const std::shared_ptr<Locked> locked_ = std::make_shared<Locked>();
  std::mutex mutex_;
  std::map<std::string, Changed> changed_;  // by path; guarded by mutex_
};

}  // namespace

std::shared_ptr<FileSystem> copy_on_write_files(std::shared_ptr<FileSystem> beneath,
                                                std::uint64_t bytes_max) {
  return std::make_shared<CopyOnWriteFiles>(std::move(beneath), bytes_max);
}

}  // namespace halite::storage
