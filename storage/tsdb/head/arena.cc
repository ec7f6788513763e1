#include "storage/tsdb/head/arena.h"

#include <sys/mman.h>

#include <limits>
#include <new>

#include "common/check.h"

namespace halite::storage {

Slab::Slab() {
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::uint8_t*>(memory);
}

Slab::~Slab() {
  if (data_ != nullptr) ::munmap(data_, kBytes);
}

Arena::Extent Arena::take(std::size_t units) {
  if (end_ - next_ < units) {
    next_ = slabs_.size() * kSlabUnits;
    if (next_ == 0) next_ = 1;  // 0 means no block
    slabs_.emplace_back();
    end_ = slabs_.size() * kSlabUnits;
    HALITE_CHECK(end_ <= std::numeric_limits<Extent>::max(), "a shard of the head over 64 GiB");
  }
  const auto block = static_cast<Extent>(next_);
  next_ += units;
  return block;
}

}  // namespace halite::storage
