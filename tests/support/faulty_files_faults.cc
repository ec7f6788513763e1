// What FaultyFiles does to bytes: the faults, and what a power cut leaves.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "tests/support/faulty_files.h"

namespace halite::test {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

}  // namespace

void FaultyFiles::fail_writes(std::string name_end, Error error) {
  const std::lock_guard lock(mutex_);
  write_trouble_ = {std::move(name_end), std::move(error)};
}

void FaultyFiles::fail_syncs(std::string name_end, Error error) {
  const std::lock_guard lock(mutex_);
  sync_trouble_ = {std::move(name_end), std::move(error)};
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
  syncs_to_failure_.reset();
  sync_failure_probability_ = 0;
  capacity_.reset();
}

void FaultyFiles::set_sync_time(std::chrono::microseconds time) {
  const std::lock_guard lock(mutex_);
  sync_time_ = time;
}

void FaultyFiles::cut_power() {
  const std::lock_guard lock(mutex_);
  power_ = false;
}

void FaultyFiles::cut_power_after(std::uint64_t changes) {
  const std::lock_guard lock(mutex_);
  cut_at_ = changes_ + changes;
}

void FaultyFiles::restore_power() {
  const std::lock_guard lock(mutex_);
  ++life_;
  locks_.clear();
  cut_at_.reset();
  power_ = true;
  std::set<Inode*> files;
  for (auto& [path, dir] : dirs_) {
    const std::size_t kept =
        std::uniform_int_distribution<std::size_t>(0, dir.unsynced.size())(random_);
    for (std::size_t i = 0; i < kept; ++i) apply(dir.lasting, dir.unsynced[i]);
    dir.unsynced.clear();
    dir.shown = dir.lasting;
    for (const auto& [name, inode] : dir.shown) {
      if (inode != nullptr && files.insert(inode.get()).second) lose_unsynced(*inode);
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
  for (const std::uint64_t sector : inode.dirty) {
    const std::uint64_t begin = sector * kSectorBytes;
    if (random_() % 2 == 0 || begin >= after.size() || begin >= inode.shown.size()) continue;
    const std::uint64_t bytes =
        std::min({kSectorBytes, after.size() - begin, inode.shown.size() - begin});
    after.replace(begin, bytes, inode.shown, begin, bytes);
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
  inode.lasting.resize(inode.shown.size(), '\0');
  for (const std::uint64_t sector : inode.dirty) {
    const std::uint64_t begin = sector * kSectorBytes;
    if (begin >= inode.shown.size() || (error && random_() % 2 == 0)) continue;
    const std::uint64_t bytes = std::min<std::uint64_t>(kSectorBytes, inode.shown.size() - begin);
    inode.lasting.replace(begin, bytes, inode.shown, begin, bytes);
  }
  inode.dirty.clear();  // also of what a failed sync did not write: the next one does not either
  if (error) return std::unexpected(*error);
  return {};
}

}  // namespace halite::test
