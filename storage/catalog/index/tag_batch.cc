#include "storage/catalog/index/tag_batch.h"

#include <mutex>

namespace halite::storage {

std::uint32_t TagBatch::number_of(std::uint64_t key_uid, std::uint64_t value_uid) {
  const auto [at, is_new] =
      numbers_.try_emplace({key_uid, value_uid}, static_cast<std::uint32_t>(tags_.size()));
  if (is_new) {
    tags_.push_back(index_.find_tag({.key = key_uid, .value = value_uid}));
    if (tags_.back() == nullptr) unknown_.push_back(at->second);
  }
  return at->second;
}

TagIndex::Added TagBatch::add(BytesView bytes, std::span<const std::uint32_t> numbers) {
  added_.clear();
  for (const std::uint32_t number : numbers) added_.push_back(tags_[number]);
  const TagIndex::SetKey key = TagIndex::key_of(bytes);
  TagIndex::SetShard& shard = index_.sets_[key.hash % TagIndex::kSetShards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sets.find(key);
  if (found != shard.sets.end()) return {.set = *found, .made = false};
  const TagSet* const set = index_.make_set(shard, key, added_);
  shard.sets.insert(set);
  for (const std::uint32_t number : numbers) postings_.push_back({.tag = number, .set = set->id()});
  return {.set = set, .made = true};
}

// Sorts by tag, and keeps the order of sets.
TagBatch::~TagBatch() {
  std::vector<std::uint32_t> ends(tags_.size() + 1);
  for (const Posting& posting : postings_) ++ends[posting.tag + 1];
  for (std::size_t tag = 0; tag < tags_.size(); ++tag) ends[tag + 1] += ends[tag];
  std::vector<TagSetId> sets(postings_.size());
  for (const Posting& posting : postings_) sets[ends[posting.tag]++] = posting.set;
  std::uint32_t begin = 0;
  for (std::size_t tag = 0; tag < tags_.size(); ++tag) {
    const std::uint32_t end = ends[tag];
    if (begin == end) continue;
    const std::lock_guard lock(index_.lock_of(tags_[tag]));
    tags_[tag]->sets.add(std::span(sets).subspan(begin, end - begin));
    begin = end;
  }
}

}  // namespace halite::storage
