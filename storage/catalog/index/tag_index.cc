#include "storage/catalog/index/tag_index.h"

#include <algorithm>
#include <cstring>

#include <boost/functional/hash.hpp>
#include <xxhash.h>

#include "common/check.h"

namespace halite::storage {
namespace {

constexpr std::size_t kSlabBytesMin = 1 << 10;
constexpr std::size_t kSlabBytesMax = 64 << 10;

}  // namespace

std::size_t TagIndex::TagHash::operator()(const TagUids& uids) const {
  std::size_t seed = 0;
  boost::hash_combine(seed, uids.key);
  boost::hash_combine(seed, uids.value);
  return seed;
}

std::size_t TagIndex::TagHash::operator()(const IndexedTag* tag) const {
  return (*this)(TagEqual::uids(tag));
}

// The slabs of a shard double, so that few sets use little memory.
char* TagIndex::SetShard::allocate(std::size_t bytes) {
  if (const auto left = unused.find(bytes); left != unused.end() && !left->second.empty()) {
    char* const place = left->second.back();
    left->second.pop_back();
    return place;
  }
  if (slab_used + bytes > slab_bytes) {
    const std::size_t wanted = slabs.empty() ? kSlabBytesMin : slab_bytes * 2;
    slab_bytes = std::max(bytes, std::min(wanted, kSlabBytesMax));
    slabs.push_back(std::make_unique_for_overwrite<char[]>(slab_bytes));
    slab_used = 0;
  }
  char* const place = slabs.back().get() + slab_used;
  slab_used += bytes;
  return place;
}

TagIndex::IndexedTag& TagIndex::TagShard::make() {
  if (unused.empty()) return made.emplace_back();
  IndexedTag& left = *unused.back();
  unused.pop_back();
  return left;
}

TagIndex::TagIndex(std::size_t sets_max) : pages_((sets_max + kPageSets - 1) / kPageSets) {}

TagIndex::SetKey TagIndex::key_of(BytesView bytes) {
  return {.bytes = bytes,
          .hash = static_cast<std::uint32_t>(XXH3_64bits(bytes.data(), bytes.size()))};
}

const TagSet* TagIndex::find(BytesView bytes) const {
  const SetKey key = key_of(bytes);
  const SetShard& shard = sets_[key.hash % kSetShards];
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.sets.find(key);
  return found == shard.sets.end() ? nullptr : *found;
}

const TagSet& TagIndex::at(TagSetId id) const {
  const Page* const page = pages_.find(id / kPageSets);
  return *(*page)[id % kPageSets].load(std::memory_order_acquire);
}

TagSet* TagIndex::make_set(SetShard& shard, const SetKey& key, std::span<IndexedTag* const> tags) {
  const BytesView bytes = key.bytes;
  HALITE_CHECK(bytes.size() <= UINT16_MAX, "a tsuid is no longer than a row's key");
  const std::size_t pointers = tags.size() * sizeof(SharedTag*);
  char* const place_of_set = shard.allocate(memory_of(tags.size(), bytes.size()));
  auto* const set = new (place_of_set) TagSet;
  set->hash_ = key.hash;
  set->size_ = static_cast<std::uint16_t>(tags.size());
  set->bytes_ = static_cast<std::uint16_t>(bytes.size());
  auto* const shared = reinterpret_cast<SharedTag**>(place_of_set + sizeof(TagSet));
  std::memcpy(place_of_set + sizeof(TagSet) + pointers, bytes.data(), bytes.size());
  std::ranges::copy(tags, shared);
  set->id_ = place(*set);
  return set;
}

// A set becomes visible after all its tags' posting lists contain it.
TagIndex::Added TagIndex::add(BytesView bytes, std::span<const SeriesTag> tags) {
  const SetKey key = key_of(bytes);
  SetShard& shard = sets_[key.hash % kSetShards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.sets.find(key);
  if (found != shard.sets.end()) return {.set = *found, .made = false};
  std::vector<IndexedTag*> indexed;
  indexed.reserve(tags.size());
  for (const SeriesTag& tag : tags) indexed.push_back(tag_of(tag));
  const TagSet* const set = make_set(shard, key, indexed);
  for (IndexedTag* const tag : indexed) {
    const std::lock_guard posting(lock_of(tag));
    tag->sets.add(set->id_);
  }
  shard.sets.insert(set);
  return {.set = set, .made = true};
}

std::size_t TagIndex::memory_of(std::size_t tags, std::size_t bytes) {
  const std::size_t size = sizeof(TagSet) + tags * sizeof(SharedTag*) + bytes;
  return (size + sizeof(SharedTag*) - 1) / sizeof(SharedTag*) * sizeof(SharedTag*);
}

TagSetId TagIndex::place(const TagSet& set) {
  const std::lock_guard lock(place_mutex_);
  TagSetId id = 0;
  if (unused_ids_.empty()) {
    id = placed_++;
  } else {
    id = unused_ids_.back();
    unused_ids_.pop_back();
  }
  pages_.make(id / kPageSets).page[id % kPageSets].store(&set, std::memory_order_release);
  return id;
}

void TagIndex::remove(const TagSet& set, Removed& removed) {
  SetShard& shard = sets_[set.hash_ % kSetShards];
  {
    const std::lock_guard lock(shard.mutex);
    shard.sets.erase(&set);
  }
  for (const SharedTag* const shared : std::span(set.tags(), set.size())) {
    // The cast is safe: all tags of a set were made by this index.
    auto* const tag = const_cast<IndexedTag*>(static_cast<const IndexedTag*>(shared));
    bool last = false;
    {
      const std::lock_guard posting(lock_of(tag));
      tag->sets.remove(set.id());
      last = tag->sets.size() == 0;
    }
    if (!last) continue;
    remove(*tag);
    removed.tags.push_back(tag);
  }
  removed.sets.push_back(&set);
}

void TagIndex::remove(IndexedTag& tag) {
  TagShard& shard = tags_[TagHash()(&tag) % kTagShards];
  const std::lock_guard lock(shard.mutex);
  shard.tags.erase(&tag);
  const std::lock_guard keys(keys_mutex_);
  const auto key = keys_.find(tag.first.key_uid);
  std::vector<IndexedTag*>& of_key = key->second.tags;
  of_key.back()->place = tag.place;
  of_key[tag.place] = of_key.back();
  of_key.pop_back();
  if (of_key.empty()) keys_.erase(key);
}

void TagIndex::reclaim(const Removed& removed) {
  for (const TagSet* const set : removed.sets) {
    SetShard& shard = sets_[set->hash_ % kSetShards];
    const TagSetId id = set->id();
    {
      const std::lock_guard lock(shard.mutex);
      shard.unused[memory_of(set->size_, set->bytes_)].push_back(
          const_cast<char*>(reinterpret_cast<const char*>(set)));
    }
    const std::lock_guard lock(place_mutex_);
    unused_ids_.push_back(id);
  }
  for (SharedTag* const shared : removed.tags) {
    auto* const tag = static_cast<IndexedTag*>(shared);
    TagShard& shard = tags_[TagHash()(tag) % kTagShards];
    const std::lock_guard lock(shard.mutex);
    tag->tag.store(nullptr, std::memory_order_release);
    tag->first = {};  // no rename applies to it
    shard.unused.push_back(tag);
  }
}

TagIndex::IndexedTag* TagIndex::find_tag(const TagUids& uids) const {
  const TagShard& shard = tags_[TagHash()(uids) % kTagShards];
  const std::shared_lock lock(shard.mutex);
  const auto found = shard.tags.find(uids);
  return found == shard.tags.end() ? nullptr : *found;
}

TagIndex::IndexedTag* TagIndex::tag_of(const SeriesTag& tag) {
  IndexedTag* const known = find_tag({.key = tag.key_uid, .value = tag.value_uid});
  return known == nullptr ? make_tag(tag) : known;
}

TagIndex::IndexedTag* TagIndex::make_tag(const SeriesTag& tag) {
  const TagUids uids{.key = tag.key_uid, .value = tag.value_uid};
  TagShard& shard = tags_[TagHash()(uids) % kTagShards];
  const std::lock_guard lock(shard.mutex);
  const auto found = shard.tags.find(uids);
  if (found != shard.tags.end()) return *found;
  IndexedTag& made = shard.make();
  made.first = tag;
  made.first.key = newest_name(NameKind::kTagKey, tag.key_uid, tag.key);
  made.first.value = newest_name(NameKind::kTagValue, tag.value_uid, tag.value);
  made.tag.store(&made.first, std::memory_order_release);
  shard.tags.insert(&made);
  const std::lock_guard keys(keys_mutex_);
  std::vector<IndexedTag*>& of_key = keys_[tag.key_uid].tags;
  made.place = static_cast<std::uint32_t>(of_key.size());
  of_key.push_back(&made);
  return &made;
}

std::shared_mutex& TagIndex::lock_of(const IndexedTag* tag) const {
  return posting_locks_[TagHash()(tag) / kTagShards % posting_locks_.size()];
}

std::string_view TagIndex::newest_name(NameKind kind, std::uint64_t uid,
                                       std::string_view name) const {
  const std::shared_lock lock(renamed_mutex_);
  const auto found = renamed_.find({kind, uid});
  return found == renamed_.end() ? name : found->second;
}

// Needs the shard's mutex. Readers keep the old tag.
void TagIndex::show(TagShard& shard, IndexedTag& tag, NameKind kind, std::uint64_t uid,
                    std::string_view name) {
  const bool key = kind == NameKind::kTagKey;
  if ((key ? tag.first.key_uid : tag.first.value_uid) != uid) return;
  SeriesTag after = *tag.tag.load(std::memory_order_acquire);
  (key ? after.key : after.value) = name;
  tag.tag.store(&shard.renamed.emplace_back(after), std::memory_order_release);
}

void TagIndex::rename(NameKind kind, std::uint64_t uid, std::string_view name) {
  {
    const std::lock_guard lock(renamed_mutex_);
    renamed_[{kind, uid}] = name;
  }
  for (TagShard& shard : tags_) {
    const std::lock_guard lock(shard.mutex);
    for (IndexedTag& tag : shard.made) show(shard, tag, kind, uid, name);
  }
}

void TagIndex::add_uids(IdSet& keys, IdSet& values) const {
  for (const TagShard& shard : tags_) {
    const std::shared_lock lock(shard.mutex);
    for (const IndexedTag* const tag : shard.tags) {
      add_uid(tag->first.key_uid, keys);
      add_uid(tag->first.value_uid, values);
    }
  }
}

void TagIndex::release_name(NameKind kind, std::uint64_t uid) {
  const std::lock_guard lock(renamed_mutex_);
  renamed_.erase({kind, uid});
}

std::uint32_t TagIndex::count(std::uint64_t key_uid, std::uint64_t value_uid) const {
  const IndexedTag* const tag = find_tag({key_uid, value_uid});
  if (tag == nullptr) return 0;
  const std::shared_lock lock(lock_of(tag));
  return tag->sets.size();
}

void TagIndex::add_sets(std::uint64_t key_uid, std::uint64_t value_uid, IdSet& to) const {
  const IndexedTag* const tag = find_tag({key_uid, value_uid});
  if (tag == nullptr) return;
  const std::shared_lock lock(lock_of(tag));
  tag->sets.add_to(to);
}

std::size_t TagIndex::values(std::uint64_t key_uid) const {
  const std::shared_lock lock(keys_mutex_);
  const auto found = keys_.find(key_uid);
  return found == keys_.end() ? 0 : found->second.tags.size();
}

std::vector<std::uint64_t> TagIndex::key_uids() const {
  std::vector<std::uint64_t> uids;
  const std::shared_lock lock(keys_mutex_);
  for (const auto& [uid, key] : keys_) {
    if (!key.tags.empty()) uids.push_back(uid);
  }
  return uids;
}

std::vector<const SeriesTag*> TagIndex::values_of(std::uint64_t key_uid) const {
  std::vector<const SeriesTag*> tags;
  const std::shared_lock lock(keys_mutex_);
  const auto found = keys_.find(key_uid);
  if (found == keys_.end()) return tags;
  tags.reserve(found->second.tags.size());
  for (const IndexedTag* const tag : found->second.tags) {
    tags.push_back(tag->tag.load(std::memory_order_acquire));
  }
  return tags;
}

void TagIndex::add_sets_if(std::uint64_t key_uid,
                           const std::function<bool(const SeriesTag&)>& passes, IdSet& to) const {
  std::vector<IndexedTag*> tags;
  {
    const std::shared_lock lock(keys_mutex_);
    const auto found = keys_.find(key_uid);
    if (found != keys_.end()) tags = found->second.tags;
  }
  for (const IndexedTag* const tag : tags) {
    if (!passes(*tag->tag.load(std::memory_order_acquire))) continue;
    const std::shared_lock lock(lock_of(tag));
    tag->sets.add_to(to);
  }
}

}  // namespace halite::storage
