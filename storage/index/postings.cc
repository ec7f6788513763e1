#include "storage/index/postings.h"

#include <algorithm>

namespace halite::storage {

Postings::~Postings() {
  if (size_ > kArrayMax) {
    delete bitmap_;
  } else if (size_ > 1) {
    delete[] array_;
  }
}

void Postings::add(TagSetId id) {
  if (size_ == 0) {
    one_ = id;
    size_ = 1;
  } else if (size_ < kArrayMax) {
    add_to_array(id);
  } else if (size_ == kArrayMax) {
    if (std::binary_search(array_, array_ + size_, id)) return;
    auto bitmap = std::make_unique<IdSet>(size_, array_);
    bitmap->add(id);
    delete[] array_;
    bitmap_ = bitmap.release();
    ++size_;
  } else if (bitmap_->addChecked(id)) {
    ++size_;
  }
}

void Postings::add_to_array(TagSetId id) {
  if (size_ == 1) {
    if (one_ == id) return;
    auto* const array = new TagSetId[2];
    array[0] = std::min(one_, id);
    array[1] = std::max(one_, id);
    array_ = array;
    capacity_ = 2;
    size_ = 2;
    return;
  }
  TagSetId* const end = array_ + size_;
  TagSetId* place = id > end[-1] ? end : std::lower_bound(array_, end, id);
  if (place != end && *place == id) return;
  if (size_ < capacity_) {
    std::copy_backward(place, end, end + 1);
  } else {
    auto* const larger = new TagSetId[std::size_t{capacity_} * 2];
    TagSetId* const larger_place = std::copy(array_, place, larger);
    std::copy(place, end, larger_place + 1);
    delete[] array_;
    array_ = larger;
    capacity_ *= 2;
    place = larger_place;
  }
  *place = id;
  ++size_;
}

void Postings::add_to(IdSet& all) const {
  if (size_ == 1) {
    all.add(one_);
  } else if (size_ > kArrayMax) {
    all |= *bitmap_;
  } else if (size_ > 1) {
    all.addMany(size_, array_);
  }
}

void Postings::keep_in(IdSet& all) const {
  if (size_ > kArrayMax) {
    all &= *bitmap_;
    return;
  }
  IdSet mine;
  add_to(mine);
  all &= mine;
}

std::size_t Postings::heap_bytes() const {
  if (size_ > kArrayMax) return bitmap_->getSizeInBytes(false);
  return size_ > 1 ? capacity_ * sizeof(TagSetId) : 0;
}

}  // namespace halite::storage
