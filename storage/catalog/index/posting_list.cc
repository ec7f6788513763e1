#include "storage/catalog/index/posting_list.h"

#include <algorithm>
#include <memory>

namespace halite::storage {

PostingList::~PostingList() {
  if (size_ > kArrayMax) {
    delete bitmap;
  } else if (size_ > 1) {
    delete[] array;
  }
}

void PostingList::add(TagSetId id) {
  if (size_ == 0) {
    one = id;
    size_ = 1;
  } else if (size_ < kArrayMax) {
    add_to_array(id);
  } else if (size_ == kArrayMax) {
    if (std::binary_search(array, array + size_, id)) return;
    auto many = std::make_unique<IdSet>(size_, array);
    many->add(id);
    delete[] array;
    bitmap = many.release();
    ++size_;
  } else if (bitmap->addChecked(id)) {
    ++size_;
  }
}

void PostingList::add(std::span<const TagSetId> ids) {
  for (; !ids.empty() && size_ <= kArrayMax; ids = ids.subspan(1)) add(ids.front());
  if (ids.empty()) return;
  bitmap->addMany(ids.size(), ids.data());
  size_ += static_cast<std::uint32_t>(ids.size());
}

void PostingList::add_to_array(TagSetId id) {
  if (size_ == 1) {
    if (one == id) return;
    auto* const both = new TagSetId[2];
    both[0] = std::min(one, id);
    both[1] = std::max(one, id);
    array = both;
    capacity = 2;
    size_ = 2;
    return;
  }
  TagSetId* const end = array + size_;
  TagSetId* place = id > end[-1] ? end : std::lower_bound(array, end, id);
  if (place != end && *place == id) return;
  if (size_ < capacity) {
    std::copy_backward(place, end, end + 1);
  } else {
    auto* const larger = new TagSetId[std::size_t{capacity} * 2];
    TagSetId* const larger_place = std::copy(array, place, larger);
    std::copy(place, end, larger_place + 1);
    delete[] array;
    array = larger;
    capacity *= 2;
    place = larger_place;
  }
  *place = id;
  ++size_;
}

void PostingList::remove(TagSetId id) {
  if (size_ == 1) {
    if (one == id) size_ = 0;
  } else if (size_ > kArrayMax) {
    if (!bitmap->removeChecked(id) || --size_ > kArrayMax) return;
    auto* const few = new TagSetId[kArrayMax];
    bitmap->toUint32Array(few);
    delete bitmap;
    array = few;
    capacity = kArrayMax;
  } else if (size_ > 1) {
    remove_from_array(id);
  }
}

void PostingList::remove_from_array(TagSetId id) {
  TagSetId* const end = array + size_;
  TagSetId* const place = std::lower_bound(array, end, id);
  if (place == end || *place != id) return;
  std::copy(place + 1, end, place);
  if (--size_ > 1) return;
  const TagSetId left = array[0];
  delete[] array;
  one = left;
}

void PostingList::add_to(IdSet& all) const {
  if (size_ == 1) {
    all.add(one);
  } else if (size_ > kArrayMax) {
    all |= *bitmap;
  } else if (size_ > 1) {
    all.addMany(size_, array);
  }
}

}  // namespace halite::storage
