#include "tests/support/faulty_files.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"

namespace halite::test {

using storage::dir_of;
using storage::File;
using storage::FileKind;
using storage::FileLock;
using storage::name_of;
using storage::OpenFile;
using storage::ReadPattern;

namespace {

std::unexpected<Error> no_power() { return fail(Errc::kUnavailable, "no power"); }

std::unexpected<Error> not_there(const std::string& path) {
  return fail(Errc::kNotFound, fmt::format("{}: no such file or directory", path));
}

std::unexpected<Error> is_there(const std::string& path) {
  return fail(Errc::kConflict, fmt::format("{}: exists", path));
}

}  // namespace

class FaultyFile final : public File {
 public:
  FaultyFile(FaultyFiles& files, std::string path, FaultyFiles::InodePtr inode, bool writes)
      : files_(files),
        path_(std::move(path)),
        inode_(std::move(inode)),
        life_(files.life_),
        writes_(writes) {
    ++files_.open_files_;
  }
  ~FaultyFile() override { --files_.open_files_; }

  Result<std::size_t> pread(std::uint64_t offset, std::span<char> to) override {
    const std::lock_guard lock(files_.mutex_);
    TRY_VOID(usable());
    if (offset >= inode_->shown.size()) return std::size_t{0};
    return inode_->shown.copy(to.data(), to.size(), offset);
  }
  Result<void> pwrite(std::uint64_t offset, BytesView bytes) override {
    const std::lock_guard lock(files_.mutex_);
    return change([&] { return files_.write(path_, *inode_, offset, bytes); });
  }
  Result<void> append(BytesView bytes) override {
    const std::lock_guard lock(files_.mutex_);
    return change([&] { return files_.write(path_, *inode_, inode_->shown.size(), bytes); });
  }
  Result<void> reserve(std::uint64_t, std::uint64_t) override {
    const std::lock_guard lock(files_.mutex_);
    return usable();
  }
  Result<void> truncate(std::uint64_t size) override {
    const std::lock_guard lock(files_.mutex_);
    return change([&] { return files_.resize(*inode_, size); });
  }
  Result<std::uint64_t> size() override {
    const std::lock_guard lock(files_.mutex_);
    TRY_VOID(usable());
    return inode_->shown.size();
  }
  Result<void> datasync() override { return sync(); }
  Result<void> sync() override {
    std::chrono::microseconds time;
    {
      const std::lock_guard lock(files_.mutex_);
      TRY_VOID(usable());
      time = files_.sync_time_;
    }
    if (time.count() > 0) std::this_thread::sleep_for(time);
    const std::lock_guard lock(files_.mutex_);
    return change([&] { return files_.sync(path_, *inode_); });
  }
  void start_writeback(std::uint64_t, std::uint64_t) override {}
  void expect(ReadPattern) override {}
  void read_ahead(std::uint64_t, std::uint64_t) override {}

 private:
  Result<void> usable() const {
    if (life_ != files_.life_) return no_power();
    return files_.power();
  }
  template <class Do>
  Result<void> change(Do do_it) {
    TRY_VOID(usable());
    HALITE_CHECK(writes_, "a file opened for reading is written");
    TRY_VOID(files_.before_change(path_));
    return do_it();
  }

  FaultyFiles& files_;
  const std::string path_;
  const FaultyFiles::InodePtr inode_;
  const std::uint64_t life_;
  const bool writes_;
};

class FaultyLock final : public FileLock {
 public:
  FaultyLock(FaultyFiles& files, std::string path)
      : files_(files), path_(std::move(path)), life_(files.life_) {}
  ~FaultyLock() override {
    const std::lock_guard lock(files_.mutex_);
    if (life_ == files_.life_) files_.locks_.erase(path_);
  }

 private:
  FaultyFiles& files_;
  const std::string path_;
  const std::uint64_t life_;
};

// ---- what every call uses -----------------------------------------------------------------------

Result<void> FaultyFiles::power() const {
  if (!power_) return no_power();
  return {};
}

Result<void> FaultyFiles::before_change(const std::string& path) {
  TRY_VOID(power());
  if (changes_to_cut_ && path.contains(cut_part_) && (*changes_to_cut_)-- == 0) {
    changes_to_cut_.reset();
    power_ = false;
    if (on_cut_) on_cut_(path);
  }
  ++changes_;
  return power();
}

FaultyFiles::InodePtr FaultyFiles::make_inode() {
  auto inode = std::make_shared<Inode>();
  inode->number = ++inodes_;
  if (disk_ != nullptr) disk_->make(inode->number);
  return inode;
}

Result<FaultyFiles::Dir*> FaultyFiles::dir_above(const std::string& path) {
  TRY_VOID(power());
  const auto found = dirs_.find(dir_of(path));
  if (found == dirs_.end()) return not_there(dir_of(path));
  return &found->second;
}

Result<FaultyFiles::InodePtr> FaultyFiles::file_at(const std::string& path) {
  TRY(const Dir* dir, dir_above(path));
  const auto found = dir->shown.find(name_of(path));
  if (found == dir->shown.end() || found->second == nullptr) return not_there(path);
  return found->second;
}

void FaultyFiles::apply(Entries& entries, const Change& change) {
  for (const auto& [name, inode] : change.entries) {
    if (inode) {
      entries[name] = *inode;
    } else {
      entries.erase(name);
    }
  }
}

void FaultyFiles::change(Dir& dir, Change change) {
  apply(dir.shown, change);
  dir.unsynced.push_back(std::move(change));
}

// ---- the file system ----------------------------------------------------------------------------

Result<std::unique_ptr<File>> FaultyFiles::open(const std::string& path, OpenFile how) {
  const std::lock_guard lock(mutex_);
  TRY(Dir * dir, dir_above(path));
  const auto found = dir->shown.find(name_of(path));
  const bool there = found != dir->shown.end();
  if (there && how == OpenFile::kCreate) return is_there(path);
  if (how == OpenFile::kRead && open_trouble_ && path.ends_with(open_trouble_->name_end)) {
    return std::unexpected(open_trouble_->error);
  }
  if (there && found->second == nullptr) {
    return fail(Errc::kUnavailable, fmt::format("{}: is a directory", path));
  }
  InodePtr inode;
  if (there) {
    inode = found->second;
    if (how == OpenFile::kReplace) {
      TRY_VOID(before_change(path));
      TRY_VOID(resize(*inode, 0));
    }
  } else {
    if (how == OpenFile::kRead || how == OpenFile::kWrite) return not_there(path);
    TRY_VOID(before_change(path));
    inode = make_inode();
    change(*dir, {{{name_of(path), inode}}});
  }
  return std::make_unique<FaultyFile>(*this, path, std::move(inode), how != OpenFile::kRead);
}

Result<void> FaultyFiles::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(file_at(path));
  TRY_VOID(before_change(path));
  change(dirs_.at(dir_of(path)), {{{name_of(path), std::nullopt}}});
  return {};
}

Result<void> FaultyFiles::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  TRY(const InodePtr inode, file_at(from));
  TRY(Dir * target, dir_above(to));
  TRY_VOID(before_change(to));
  if (dir_of(from) == dir_of(to)) {
    change(*target, {{{name_of(to), inode}, {name_of(from), std::nullopt}}});
  } else {  // two changes: after a power cut it may have both names
    change(*target, {{{name_of(to), inode}}});
    change(dirs_.at(dir_of(from)), {{{name_of(from), std::nullopt}}});
  }
  return {};
}

Result<void> FaultyFiles::link(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  TRY(const InodePtr inode, file_at(from));
  TRY(Dir * target, dir_above(to));
  if (target->shown.contains(name_of(to))) return is_there(to);
  TRY_VOID(before_change(to));
  change(*target, {{{name_of(to), inode}}});
  return {};
}

Result<void> FaultyFiles::sync_dir(const std::string& dir) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(power());
  const auto found = dirs_.find(dir);
  if (found == dirs_.end()) return not_there(dir);
  TRY_VOID(before_change(dir));
  if (!ignores_sync(dir)) make_last(dir, found->second, found->second.unsynced.size());
  return {};
}

Result<void> FaultyFiles::make_dir(const std::string& dir) {
  const std::lock_guard lock(mutex_);
  TRY(Dir * above, dir_above(dir));
  if (above->shown.contains(name_of(dir))) return is_there(dir);
  TRY_VOID(before_change(dir));
  change(*above, {{{name_of(dir), InodePtr()}}});
  dirs_[dir] = {};
  return {};
}

Result<void> FaultyFiles::remove_dir(const std::string& dir) {
  const std::lock_guard lock(mutex_);
  TRY(Dir * above, dir_above(dir));
  const auto found = dirs_.find(dir);
  if (found == dirs_.end()) return not_there(dir);
  if (!found->second.shown.empty()) return is_there(dir);
  TRY_VOID(before_change(dir));
  // No file system lets what was in it outlive its removal.
  make_last(dir, found->second, found->second.unsynced.size());
  change(*above, {{{name_of(dir), std::nullopt}}});
  dirs_.erase(found);
  return {};
}

Result<std::vector<std::string>> FaultyFiles::list(const std::string& dir) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(power());
  const auto found = dirs_.find(dir);
  if (found == dirs_.end()) return not_there(dir);
  std::vector<std::string> names;
  for (const auto& [name, inode] : found->second.shown) names.push_back(name);
  return names;
}

Result<FileKind> FaultyFiles::kind(const std::string& path) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(power());
  if (dirs_.contains(path)) return FileKind::kDirectory;
  return file_at(path) ? FileKind::kFile : FileKind::kNone;
}

Result<std::uint64_t> FaultyFiles::size(const std::string& path) {
  const std::lock_guard lock(mutex_);
  TRY(const InodePtr inode, file_at(path));
  return inode->shown.size();
}

Result<TimestampMs> FaultyFiles::modified(const std::string& path) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(file_at(path));
  return TimestampMs{0};
}

Result<storage::DiskSpace> FaultyFiles::disk_space(const std::string&) {
  const std::lock_guard lock(mutex_);
  TRY_VOID(power());
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;
  const std::uint64_t in_use = used();
  const std::uint64_t all = capacity_.value_or(kPlenty);
  return storage::DiskSpace{.free_bytes = all > in_use ? all - in_use : 0, .total_bytes = all};
}

Result<std::unique_ptr<FileLock>> FaultyFiles::lock(const std::string& path) {
  const std::lock_guard lock(mutex_);
  TRY(Dir * dir, dir_above(path));
  if (!dir->shown.contains(name_of(path))) {
    TRY_VOID(before_change(path));
    change(*dir, {{{name_of(path), make_inode()}}});
  }
  if (!locks_.insert(path).second) return fail(Errc::kConflict, fmt::format("{} is locked", path));
  return std::make_unique<FaultyLock>(*this, path);
}

}  // namespace halite::test
