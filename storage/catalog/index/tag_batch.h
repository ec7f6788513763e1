// Adds many tag sets to a TagIndex, with one look-up of each tag and one lock of its posting list.
//
//   TagBatch batch(index);
//   numbers = batch.number_of(key_uid, value_uid) of all tags
//   for (number : batch.unknown()) batch.make(number, tag);
//   batch.add(bytes, numbers of a set) of all sets
//
//   Threads   not thread-safe; several batches may fill an index at the same time.
//   Order     the posting lists have the sets when the batch is destroyed. Until then no filter may
//             be answered and no set removed, so it is for the start only.
//   Lifetime  the index must outlive it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"
#include "storage/api/series.h"
#include "storage/catalog/index/tag_index.h"

namespace halite::storage {

class TagBatch {
 public:
  explicit TagBatch(TagIndex& index) : index_(index) {}
  ~TagBatch();
  TagBatch(const TagBatch&) = delete;
  TagBatch& operator=(const TagBatch&) = delete;

  // The number of a tag in this batch. If the index does not have the tag, the batch must make it
  // before it adds a set with it.
  std::uint32_t number_of(std::uint64_t key_uid, std::uint64_t value_uid);
  // The numbers of tags that the index did not have when they were numbered.
  [[nodiscard]] std::span<const std::uint32_t> unknown() const { return unknown_; }
  void make(std::uint32_t number, const SeriesTag& tag) { tags_[number] = index_.make_tag(tag); }

  // TagIndex::add() of the set of these tags.
  TagIndex::Added add(BytesView bytes, std::span<const std::uint32_t> numbers);

 private:
  // A set that the posting list of a tag does not have yet.
  struct Posting {
    std::uint32_t tag = 0;  // its number
    TagSetId set = 0;
  };

  TagIndex& index_;
  boost::unordered_flat_map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> numbers_;
  std::vector<TagIndex::IndexedTag*> tags_;  // by number; nullptr: not made yet
  std::vector<std::uint32_t> unknown_;
  std::vector<Posting> postings_;             // in ascending order of sets
  std::vector<TagIndex::IndexedTag*> added_;  // used by add()
};

}  // namespace halite::storage
