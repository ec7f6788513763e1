// Tags and sets of tags, each kept once, and which sets have a tag.
//
// Filters are answered from here by sets of tag sets, whatever the number of metrics that share
// them; series_table.h knows which of them a metric has.
//
//   Threads   any call from any thread.
//   Order     what add() has returned is in every answer given later.
//   Lifetime  addresses hold; what remove() took out stays as it was until reclaim().
//
// Over 140 lines because metrics, tags and tag sets refer to each other.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <roaring/roaring.hh>

#include "common/bytes.h"
#include "storage/api/series.h"
#include "storage/catalog/index/posting_list.h"

namespace halite::storage {

class TagIndex {
 public:
  explicit TagIndex(std::size_t sets_max);
  ~TagIndex();
  TagIndex(const TagIndex&) = delete;
  TagIndex& operator=(const TagIndex&) = delete;

  // By the bytes of a tsuid behind the metric uid.
  [[nodiscard]] const TagSet* find(BytesView bytes) const;

  // The set of these tags, which are those of the bytes, in their order.
  struct Added {
    const TagSet* set = nullptr;
    bool made = false;  // by this call
  };
  Added add(BytesView bytes, std::span<const SeriesTag> tags);

  [[nodiscard]] const TagSet& at(TagSetId id) const;

  // How many series have the set, which is counted by who makes and forgets them.
  static void count_series(const TagSet& set) { set.series_.fetch_add(1); }
  [[nodiscard]] static bool uncount_series(const TagSet& set) {  // true: it was the last
    return set.series_.fetch_sub(1) == 1;
  }

  // What nobody finds any more, and some may still look at.
  struct Removed {
    std::vector<const TagSet*> sets;
    std::vector<SharedTag*> tags;
  };
  // Takes a set out, and its tags as far as no other set has them. No add() may run meanwhile.
  void remove(const TagSet& set, Removed& removed);
  // Nobody looks at these any more: their memory and ids are used again.
  void reclaim(const Removed& removed);

  // Tags show the new name from now on, also those that are made by who has not heard of it.
  void rename(NameKind kind, std::uint64_t uid, std::string_view name);

  // The keys and the values that tags have, added.
  void add_uids(IdSet& keys, IdSet& values) const;
  // Such names have gone, and no tag has them: their ids may get others.
  void release_name(NameKind kind, std::uint64_t uid);

  // How many sets have a tag, and which.
  [[nodiscard]] std::uint32_t count(std::uint64_t key_uid, std::uint64_t value_uid) const;
  void add_sets(std::uint64_t key_uid, std::uint64_t value_uid, IdSet& to) const;

  // The distinct values of a key.
  [[nodiscard]] std::size_t values(std::uint64_t key_uid) const;
  // Adds the sets whose value of the key passes; it is called once a value.
  void add_sets_if(std::uint64_t key_uid, const std::function<bool(const SeriesTag&)>& passes,
                   IdSet& to) const;

 private:
  struct IndexedTag : SharedTag {
    SeriesTag first;          // as it was made
    PostingList sets;         // guarded by its lock_of()
    std::uint32_t place = 0;  // in its key's list; guarded by keys_mutex_
  };
  struct TagUids {
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    bool operator==(const TagUids&) const = default;
  };
  struct TagHash {
    using is_transparent = void;
    std::size_t operator()(const TagUids& uids) const;
    std::size_t operator()(const IndexedTag* tag) const;
  };
  struct TagEqual {
    using is_transparent = void;
    static TagUids uids(const TagUids& of) { return of; }
    static TagUids uids(const IndexedTag* of) { return {of->first.key_uid, of->first.value_uid}; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return uids(a) == uids(b);
    }
  };
  struct TagShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_set<IndexedTag*, TagHash, TagEqual> tags;  // guarded by mutex
    std::deque<IndexedTag> made;                                     // guarded by mutex
    std::vector<IndexedTag*> unused;                                 // of made; guarded by mutex
    std::deque<SeriesTag> renamed;                                   // guarded by mutex
    IndexedTag& make();
  };

  struct SetKey {
    BytesView bytes;
    std::uint32_t hash = 0;
  };
  struct SetHash {
    using is_transparent = void;
    std::size_t operator()(const SetKey& key) const { return key.hash; }
    std::size_t operator()(const TagSet* set) const { return set->hash_; }
  };
  struct SetEqual {
    using is_transparent = void;
    bool operator()(const TagSet* a, const TagSet* b) const { return a == b; }
    bool operator()(const SetKey& a, const TagSet* b) const { return a.bytes == b->bytes(); }
    bool operator()(const TagSet* a, const SetKey& b) const { return a->bytes() == b.bytes; }
  };
  struct SetShard {
    mutable std::shared_mutex mutex;
    boost::unordered_flat_set<const TagSet*, SetHash, SetEqual> sets;  // guarded by mutex
    std::vector<std::unique_ptr<char[]>> slabs;                        // guarded by mutex
    std::size_t slab_bytes = 0;                                        // of the newest
    std::size_t slab_used = 0;
    boost::unordered_flat_map<std::size_t, std::vector<char*>> unused;  // by size; likewise
    char* allocate(std::size_t bytes);
  };
  struct Key {
    std::vector<IndexedTag*> tags;  // one a value
  };

  static constexpr std::size_t kTagShards = 16;
  static constexpr std::size_t kSetShards = 64;
  static constexpr std::size_t kPageSets = 4096;
  using Page = std::array<std::atomic<const TagSet*>, kPageSets>;

  [[nodiscard]] static SetKey key_of(BytesView bytes);
  [[nodiscard]] static std::size_t memory_of(std::size_t tags, std::size_t bytes);
  void remove(IndexedTag& tag);
  [[nodiscard]] const IndexedTag* find_tag(const TagUids& uids) const;
  IndexedTag* tag_of(const SeriesTag& tag);
  [[nodiscard]] std::shared_mutex& lock_of(const IndexedTag* tag) const;
  TagSetId place(const TagSet& set);
  [[nodiscard]] std::string_view newest_name(NameKind kind, std::uint64_t uid,
                                             std::string_view name) const;
  static void show(TagShard& shard, IndexedTag& tag, NameKind kind, std::uint64_t uid,
                   std::string_view name);

  std::array<TagShard, kTagShards> tags_;
  std::array<SetShard, kSetShards> sets_;
  mutable std::array<std::shared_mutex, 64> posting_locks_;

  mutable std::shared_mutex keys_mutex_;
  boost::unordered_flat_map<std::uint64_t, Key> keys_;  // by key uid; guarded by keys_mutex_

  mutable std::shared_mutex renamed_mutex_;
  // By kind and uid, guarded by renamed_mutex_.
  boost::unordered_flat_map<std::pair<NameKind, std::uint64_t>, std::string_view> renamed_;

  std::mutex place_mutex_;
  TagSetId placed_ = 0;                    // guarded by place_mutex_
  std::vector<TagSetId> unused_ids_;       // below placed_; guarded by place_mutex_
  std::vector<std::atomic<Page*>> pages_;  // the vector never grows
};

}  // namespace halite::storage
