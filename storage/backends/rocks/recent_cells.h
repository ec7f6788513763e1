// The values of cells that were lately read and written again, so that the next such change of a
// cell need not look for it in memtables and files.
//
//   Threads  the committer's thread; contains() from any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"

namespace halite::storage::rocks {

class RecentCells {
 public:
  explicit RecentCells(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Call it before the changes of a batch. Above the limit it removes cells that were not used
  // lately. Other calls remove none for the limit: the database lacks the changes of the batch.
  void begin_batch() {
    const std::lock_guard lock(mutex_);
    if (young_bytes_ <= bytes_max_ / 2) return;
    old_ = std::exchange(young_, {});
    young_bytes_ = 0;
  }

  // The value with its time; empty: not known. Valid until the next call. Values are short.
  Bytes& at(std::uint32_t family, const Bytes& key) {
    if (!has_family(family)) families_.push_back(family);
    const std::lock_guard lock(mutex_);
    const auto [cell, added] = young_.try_emplace(Key(family, key));
    if (!added) return cell->second;
    young_bytes_ += kCellBytes + key.size();
    const auto before = old_.find(cell->first);
    if (before != old_.end()) {
      cell->second = std::move(before->second);
      old_.erase(before);
    }
    return cell->second;
  }

  [[nodiscard]] bool contains(std::uint32_t family, const Bytes& key) const {
    const Key cell(family, key);
    const std::lock_guard lock(mutex_);
    const auto known = [&cell](const Cells& cells) {
      const auto found = cells.find(cell);
      return found != cells.end() && !found->second.empty();
    };
    return known(young_) || known(old_);
  }

  // Whether any of the cells was of this family.
  [[nodiscard]] bool has_family(std::uint32_t family) const {
    return std::ranges::find(families_, family) != families_.end();
  }

  void erase(std::uint32_t family, const Bytes& key) {
    const Key cell(family, key);
    const std::lock_guard lock(mutex_);
    young_.erase(cell);
    old_.erase(cell);
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    young_.clear();
    young_bytes_ = 0;
    old_.clear();
  }

 private:
  static constexpr std::size_t kCellBytes = 128;  // of a cell beside its key
  using Key = std::pair<std::uint32_t, Bytes>;
  using Cells = boost::unordered_flat_map<Key, Bytes>;

  const std::size_t bytes_max_;
  std::vector<std::uint32_t> families_;  // few
  mutable std::mutex mutex_;
  Cells young_;
  std::size_t young_bytes_ = 0;  // rather too much than too little
  Cells old_;
};

}  // namespace halite::storage::rocks
