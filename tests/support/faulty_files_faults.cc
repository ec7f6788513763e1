// What FaultyFiles does to bytes: the faults, and what a power cut leaves.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "tests/support/faulty_files.h"

namespace halite::test {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

}  // namespace

void FaultyFiles::begin_as(FaultyFiles& other) {
  const std::scoped_lock lock(mutex_, other.mutex_);
  std::map<InodePtr, InodePtr> copies = {{nullptr, nullptr}};  // a file may have several names
  for (const auto& [path, dir] : other.dirs_) {
    Dir& here = dirs_[path];
    for (const auto& [name, inode] : dir.lasting) {
      InodePtr& copy = copies[inode];
      if (inode && !copy) {
        copy = make_inode();
        copy->shown = copy->lasting = inode->lasting;
      }
      here.lasting[name] = here.shown[name] = copy;
    }
  }
}

void FaultyFiles::keep_on(std::shared_ptr<LastingDisk> disk) {
  const std::lock_guard lock(mutex_);
  disk_ = std::move(disk);
  std::map<std::uint64_t, InodePtr> files;
  for (LastingDisk::Stored& stored : disk_->read()) {
    InodePtr inode;
    if (stored.file != LastingDisk::kDirectory) {
      inode = files[stored.file];
      if (inode == nullptr) {
        inode = files[stored.file] = std::make_shared<Inode>();
        inode->number = stored.file;
        inode->lasting = std::move(stored.bytes);
        inode->shown = inode->lasting;
        inodes_ = std::max(inodes_, stored.file);
      }
    } else {
      dirs_[stored.path];
    }
    Dir& above = dirs_[storage::dir_of(stored.path)];
    above.lasting[storage::name_of(stored.path)] = inode;
    above.shown = above.lasting;
  }
}

void FaultyFiles::fail_writes(std::string name_end, Error error) {
  const std::lock_guard lock(mutex_);
  write_trouble_ = {std::move(name_end), std::move(error)};
}

void FaultyFiles::fail_syncs(std::string name_end, Error error) {
  const std::lock_guard lock(mutex_);
  sync_trouble_ = {std::move(name_end), std::move(error)};
}

void FaultyFiles::fail_opens(std::string name_end, Error error) {
  const std::lock_guard lock(mutex_);
  open_trouble_ = {std::move(name_end), std::move(error)};
}

void FaultyFiles::fail_sync_number(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  syncs_to_failure_ = number;
}

void FaultyFiles::fail_syncs_by_chance(double probability) {
  const std::lock_guard lock(mutex_);
  sync_failure_probability_ = probability;
}

void FaultyFiles::set_capacity(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

void FaultyFiles::heal() {
  const std::lock_guard lock(mutex_);
  write_trouble_.reset();
  sync_trouble_.reset();
  open_trouble_.reset();
  syncs_to_failure_.reset();
  sync_failure_probability_ = 0;
  capacity_.reset();
}

void FaultyFiles::ignore_syncs(std::string part) {
  const std::lock_guard lock(mutex_);
  ignored_syncs_ = std::move(part);
}

bool FaultyFiles::ignores_sync(const std::string& path) const {
  return ignored_syncs_ && path.contains(*ignored_syncs_);
}

void FaultyFiles::set_sync_time(std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  sync_time_ = time;
}

void FaultyFiles::cut_power() {
  const std::lock_guard lock(mutex_);
  power_ = false;
}

void FaultyFiles::cut_power_after(std::uint64_t changes, std::string part) {
  const std::lock_guard lock(mutex_);
  changes_to_cut_ = changes;
  cut_part_ = std::move(part);
}

void FaultyFiles::cut_power_for_good(const std::function<void()>& after) {
  const std::lock_guard lock(mutex_);
  power_ = false;
  lose_all_unsynced();
  after();
}

void FaultyFiles::on_cut(std::function<void(const std::string& path)> then) {
  const std::lock_guard lock(mutex_);
  on_cut_ = [this, then = std::move(then)](const std::string& path) {
    lose_all_unsynced();
    then(path);
  };
}

void FaultyFiles::restore_power() {
  const std::lock_guard lock(mutex_);
  begin_life();
  lose_all_unsynced();
}

void FaultyFiles::restart_process() {
  const std::lock_guard lock(mutex_);
  begin_life();
}

void FaultyFiles::begin_life() {
  ++life_;
  locks_.clear();
  changes_to_cut_.reset();
  power_ = true;
}

void FaultyFiles::make_last(const std::string& path, Dir& dir, std::size_t changes) {
  for (std::size_t i = 0; i < changes; ++i) {
    apply(dir.lasting, dir.unsynced[i]);
    if (disk_ == nullptr) continue;
    LastingDisk::Entries entries;
    for (const auto& [name, inode] : dir.unsynced[i].entries) {
      std::optional<std::uint64_t> number;
      if (inode) number = *inode != nullptr ? (*inode)->number : LastingDisk::kDirectory;
      entries.emplace_back(name, number);
    }
    disk_->change(path, entries);
  }
  dir.unsynced.erase(dir.unsynced.begin(),
                     dir.unsynced.begin() + static_cast<std::ptrdiff_t>(changes));
}

void FaultyFiles::lose_all_unsynced() {
  std::set<Inode*> files;
  for (auto& [path, dir] : dirs_) {
    make_last(path, dir,
              std::uniform_int_distribution<std::size_t>(0, dir.unsynced.size())(random_));
    dir.unsynced.clear();
    dir.shown = dir.lasting;
    for (const auto& [name, inode] : dir.shown) {
      if (inode == nullptr) {
        dirs_.try_emplace(path == "/" ? path + name : path + "/" + name);  // its removal was lost
      } else if (files.insert(inode.get()).second) {
        lose_unsynced(*inode);
      }
    }
  }
  std::erase_if(dirs_, [this](const auto& entry) {
    const std::string& path = entry.first;
    if (path == "/" || path == ".") return false;
    const auto above = dirs_.find(storage::dir_of(path));
    return above == dirs_.end() || !above->second.shown.contains(storage::name_of(path));
  });
}

void FaultyFiles::lose_unsynced(Inode& inode) {
  const std::uint64_t shorter = std::min(inode.shown.size(), inode.lasting.size());
  const std::uint64_t longer = std::max(inode.shown.size(), inode.lasting.size());
  Bytes after = inode.lasting;
  after.resize(std::uniform_int_distribution<std::uint64_t>(shorter, longer)(random_), '\0');
  // Of some files nothing got to the disk, of some nearly all.
  const double share = std::array{0.0, 0.5, 0.95, 1.0}[random_() % 4];
  if (share == 1.0) after.resize(inode.shown.size(), '\0');
  std::bernoulli_distribution written(share);
  // The process may end at any moment here: nothing that was synced is touched.
  if (disk_ != nullptr && after.size() != inode.lasting.size())
    disk_->resize(inode.number, after.size());
  for (const std::uint64_t sector : inode.dirty) {
    const std::uint64_t begin = sector * kSectorBytes;
    if (!written(random_) || begin >= after.size() || begin >= inode.shown.size()) continue;
    const std::uint64_t bytes =
        std::min({kSectorBytes, after.size() - begin, inode.shown.size() - begin});
    after.replace(begin, bytes, inode.shown, begin, bytes);
    if (disk_ != nullptr) disk_->write(inode.number, begin, BytesView(after).substr(begin, bytes));
  }
  inode.shown = after;
  inode.lasting = std::move(after);
  inode.dirty.clear();
}

void FaultyFiles::flip_bit(const std::string& path, std::uint64_t offset, unsigned bit) {
  Bytes byte(1, '\0');
  {
    const std::lock_guard lock(mutex_);
    const auto inode = file_at(path);
    HALITE_CHECK(inode && offset < (*inode)->shown.size(), "no such byte to damage");
    byte[0] = static_cast<char>((*inode)->shown[offset] ^ 1 << bit);
  }
  overwrite(path, offset, byte);
}

void FaultyFiles::overwrite(const std::string& path, std::uint64_t offset, BytesView bytes) {
  const std::lock_guard lock(mutex_);
  const auto inode = file_at(path);
  HALITE_CHECK(inode && offset + bytes.size() <= (*inode)->shown.size(), "no bytes to damage");
  (*inode)->shown.replace(offset, bytes.size(), bytes);
  if (offset + bytes.size() <= (*inode)->lasting.size())
    (*inode)->lasting.replace(offset, bytes.size(), bytes);
}

std::uint64_t FaultyFiles::used_bytes() {
  const std::lock_guard lock(mutex_);
  return used();
}

std::uint64_t FaultyFiles::changes() {
  const std::lock_guard lock(mutex_);
  return changes_;
}

std::uint64_t FaultyFiles::used() {
  std::set<const Inode*> files;
  std::uint64_t bytes = 0;
  for (const auto& [path, dir] : dirs_) {
    for (const auto& [name, inode] : dir.shown) {
      if (inode != nullptr && files.insert(inode.get()).second) bytes += inode->shown.size();
    }
  }
  return bytes;
}

Result<void> FaultyFiles::write(const std::string& path, Inode& inode, std::uint64_t offset,
                                BytesView bytes) {
  if (write_trouble_ && path.ends_with(write_trouble_->name_end))
    return std::unexpected(write_trouble_->error);
  bool full = false;
  if (const std::uint64_t end = offset + bytes.size(); capacity_ && end > inode.shown.size()) {
    const std::uint64_t in_use = used();
    const std::uint64_t free = *capacity_ > in_use ? *capacity_ - in_use : 0;
    const std::uint64_t end_max = inode.shown.size() + free;
    full = end > end_max;
    if (full) bytes = bytes.substr(0, end_max > offset ? end_max - offset : 0);
  }
  if (!bytes.empty()) {
    const std::uint64_t end = offset + bytes.size();
    if (end > inode.shown.size()) inode.shown.resize(end, '\0');
    inode.shown.replace(offset, bytes.size(), bytes);
    for (std::uint64_t at = offset / kSectorBytes; at * kSectorBytes < end; ++at) {
      inode.dirty.insert(at);
    }
  }
  if (full) return fail(Errc::kOverloaded, fmt::format("{}: no space left on device", path));
  return {};
}

Result<void> FaultyFiles::resize(Inode& inode, std::uint64_t size) {
  // What is cut off may stay on the disk, and must not show again when the file grows.
  for (std::uint64_t at = size / kSectorBytes; at * kSectorBytes < inode.shown.size(); ++at) {
    inode.dirty.insert(at);
  }
  inode.shown.resize(size, '\0');
  return {};
}

Result<void> FaultyFiles::sync(const std::string& path, Inode& inode) {
  std::optional<Error> error;
  if (sync_trouble_ && path.ends_with(sync_trouble_->name_end)) error = sync_trouble_->error;
  if (syncs_to_failure_ && --*syncs_to_failure_ == 0) {
    syncs_to_failure_.reset();
    error = Error{Errc::kUnavailable, fmt::format("{}: input/output error", path), {}};
  }
  if (std::bernoulli_distribution(sync_failure_probability_)(random_))
    error = Error{Errc::kUnavailable, fmt::format("{}: input/output error", path), {}};
  if (ignores_sync(path)) return {};
  if (disk_ != nullptr && inode.lasting.size() != inode.shown.size())
    disk_->resize(inode.number, inode.shown.size());
  inode.lasting.resize(inode.shown.size(), '\0');
  std::uint64_t run_begin = 0;  // bytes that are still to be told to the disk
  std::uint64_t run_end = 0;
  const auto end_run = [&] {
    if (disk_ == nullptr || run_begin == run_end) return;
    disk_->write(inode.number, run_begin,
                 BytesView(inode.lasting).substr(run_begin, run_end - run_begin));
  };
  for (const std::uint64_t sector : inode.dirty) {
    const std::uint64_t begin = sector * kSectorBytes;
    if (begin >= inode.shown.size() || (error && random_() % 2 == 0)) continue;
    const std::uint64_t bytes = std::min<std::uint64_t>(kSectorBytes, inode.shown.size() - begin);
    inode.lasting.replace(begin, bytes, inode.shown, begin, bytes);
    if (begin != run_end) {
      end_run();
      run_begin = begin;
    }
    run_end = begin + bytes;
  }
  end_run();
  inode.dirty.clear();  // also of what a failed sync did not write: the next one does not either
  if (error) return std::unexpected(*error);
  return {};
}

}  // namespace halite::test
