#include "storage/backends/hbase/hfile/block_index.h"

#include <utility>

#include "common/check.h"

namespace halite::storage::hbase {
namespace {

constexpr std::size_t kPlaceBytes = 12;
constexpr std::size_t kEntryBytes = kPlaceBytes + 4;  // in a leaf, without the key
// HBase makes no further level of a root with fewer.
constexpr std::size_t kRootEntriesMin = 16;

}  // namespace

BlockIndex::BlockIndex(BlockWriter& blocks, std::size_t block_bytes)
    : blocks_(blocks), block_bytes_(block_bytes) {}

Result<void> BlockIndex::add(BytesView first_key, BlockPlace place) {
  leaf_.push_back({.key = Bytes(first_key), .place = place, .data_blocks = 1});
  leaf_bytes_ += kEntryBytes + first_key.size();
  return leaf_bytes_ >= block_bytes_ ? write_leaf() : Result<void>();
}

Result<void> BlockIndex::write_leaf() {
  TRY(Entry leaf, write(BlockKind::kLeafIndex, leaf_));
  upper_.push_back(std::move(leaf));
  leaf_.clear();
  leaf_bytes_ = 0;
  return {};
}

// The count, the offsets of the entries and of their end, and the entries.
Result<BlockIndex::Entry> BlockIndex::write(BlockKind kind, const std::vector<Entry>& entries) {
  Bytes payload;
  append_be(payload, static_cast<std::uint32_t>(entries.size()));
  std::uint32_t offset = 0;
  Entry made{.key = entries.front().key, .place = {}, .data_blocks = 0};
  for (const Entry& entry : entries) {
    append_be(payload, offset);
    offset += static_cast<std::uint32_t>(kPlaceBytes + entry.key.size());
    made.data_blocks += entry.data_blocks;
  }
  append_be(payload, offset);
  for (const Entry& entry : entries) {
    append_place(payload, entry.place);
    payload += entry.key;
  }
  uncompressed_bytes_ += payload.size();
  TRY(made.place, blocks_.write(kind, payload));
  return made;
}

// The place of the leaf with the middle data block, and the position of the block in it. HBase
// splits a region there.
Bytes BlockIndex::mid_key() const {
  std::uint64_t all = 0;
  for (const Entry& leaf : upper_) all += leaf.data_blocks;
  const std::uint64_t middle = (all - 1) / 2;
  std::uint64_t before = 0;
  Bytes bytes;
  for (const Entry& leaf : upper_) {
    if (middle < before + leaf.data_blocks) {
      append_place(bytes, leaf.place);
      append_be(bytes, static_cast<std::uint32_t>(middle - before));
      break;
    }
    before += leaf.data_blocks;
  }
  return bytes;
}

Result<void> BlockIndex::finish() {
  HALITE_CHECK(!leaf_.empty() || !upper_.empty(), "a file has a data block");
  Bytes middle;
  if (upper_.empty()) {
    upper_ = std::exchange(leaf_, {});
  } else {
    if (!leaf_.empty()) {
      TRY_VOID(write_leaf());
    }
    levels_ = 2;
    middle = mid_key();
  }
  const auto root_bytes = [this] {
    std::size_t bytes = 0;
    for (const Entry& entry : upper_) bytes += kEntryBytes + entry.key.size();
    return bytes;
  };
  while (levels_ > 1 && root_bytes() > block_bytes_ && upper_.size() > kRootEntriesMin) {
    std::vector<Entry> above;
    std::vector<Entry> group;
    std::size_t group_bytes = 0;
    for (Entry& entry : upper_) {
      group_bytes += kEntryBytes + entry.key.size();
      group.push_back(std::move(entry));
      // Two at least, so that each level is smaller than the one below.
      if (group_bytes < block_bytes_ || group.size() < 2) continue;
      TRY(Entry inner, write(BlockKind::kInnerIndex, group));
      above.push_back(std::move(inner));
      group.clear();
      group_bytes = 0;
    }
    if (!group.empty()) {
      TRY(Entry inner, write(BlockKind::kInnerIndex, group));
      above.push_back(std::move(inner));
    }
    upper_ = std::move(above);
    ++levels_;
  }
  root_entries_ = static_cast<std::uint32_t>(upper_.size());
  for (const Entry& entry : upper_) {
    append_place(root_, entry.place);
    append_hadoop_number(root_, static_cast<std::uint32_t>(entry.key.size()));
    root_ += entry.key;
  }
  root_ += middle;
  uncompressed_bytes_ += root_.size();
  return {};
}

}  // namespace halite::storage::hbase
