// A posting list: the ascending ids of the tag sets that contain a tag, in little memory.
//
// Most values of a tag like a host's name have one tag set, and take 16 bytes. Up to kArrayMax ids
// are an array; more are a roaring bitmap.
//
//   Threads  not thread-safe; the owner locks.
#pragma once

#include <cstdint>
#include <span>

#include <roaring/roaring.hh>

#include "storage/api/series.h"

namespace halite::storage {

// A compressed set of ids. Read from any thread.
using IdSet = ::Roaring;

// Adds the id of a name, unless it is too large for the set.
inline void add_uid(std::uint64_t uid, IdSet& to) {
  if (uid <= UINT32_MAX) to.add(static_cast<std::uint32_t>(uid));
}

class PostingList {
 public:
  static constexpr std::uint32_t kArrayMax = 64;

  PostingList() = default;
  ~PostingList();
  PostingList(const PostingList&) = delete;
  PostingList& operator=(const PostingList&) = delete;

  // Fastest for an id greater than all others.
  void add(TagSetId id);

  // Adds ids in ascending order that it does not have.
  void add(std::span<const TagSetId> ids);

  void remove(TagSetId id);  // if it is present

  [[nodiscard]] std::uint32_t size() const { return size_; }

  void add_to(IdSet& all) const;

 private:
  void add_to_array(TagSetId id);
  void remove_from_array(TagSetId id);

  std::uint32_t size_ = 0;
  union {
    TagSetId one = 0;        // if size_ == 1
    std::uint32_t capacity;  // of array
  };
  union {
    TagSetId* array = nullptr;  // for 2 to kArrayMax ids
    IdSet* bitmap;              // for more
  };
};

}  // namespace halite::storage
