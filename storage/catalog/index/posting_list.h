// Which tag sets have a tag: an ascending set of their ids, as small as it can be.
//
// Most values of a tag such as a host's name belong to one set, and take 16 bytes; up to
// kArrayMax ids are an array; more are a roaring bitmap.
//
//   Threads  not safe by itself: whoever owns it locks.
#pragma once

#include <cstdint>
#include <memory>

#include <roaring/roaring.hh>

#include "storage/api/series.h"

namespace halite::storage {

// A compressed set of ids, safe to read from several threads.
using IdSet = ::Roaring;

// A name's id; one that has no place in a set is left out.
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

  // Quickest when it is greater than all before.
  void add(TagSetId id);

  void remove(TagSetId id);  // if it is here

  [[nodiscard]] std::uint32_t size() const { return size_; }

  void add_to(IdSet& all) const;
  // Of all, only what is here, too.
  void intersect(IdSet& all) const;

  [[nodiscard]] std::size_t heap_bytes() const;

 private:
  void add_to_array(TagSetId id);
  void remove_from_array(TagSetId id);

  std::uint32_t size_ = 0;
  union {
    TagSetId one = 0;        // size_ == 1
    std::uint32_t capacity;  // of array
  };
  union {
    TagSetId* array = nullptr;  // 2 to kArrayMax
    IdSet* bitmap;              // more
  };
};

}  // namespace halite::storage
