// Allocates blocks of about 16 to 4080 bytes from slabs. A 32-bit number identifies a block. All
// memory is freed at once, with the arena.
//
//   Threads  not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halite::storage {

// Zeroed memory directly from the operating system. Freeing many slabs leaves no holes in the heap.
class Slab {
 public:
  static constexpr std::size_t kBytes = 256 << 10;

  Slab();  // throws std::bad_alloc
  ~Slab();
  Slab(Slab&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  Slab& operator=(Slab&&) = delete;

  [[nodiscard]] std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_;
};

class Arena {
 public:
  static constexpr std::size_t kUnitBytes = 16;  // block sizes are multiples of it
  using Extent = std::uint32_t;                  // number of a block's first unit; 0: none

  [[nodiscard]] Extent take(std::size_t units);
  [[nodiscard]] std::uint8_t* at(Extent block) const {
    return slabs_[block / kSlabUnits].data() + (block % kSlabUnits) * kUnitBytes;
  }

  // Of allocated blocks. The unused part of the newest slab was never touched and occupies no
  // memory.
  [[nodiscard]] std::size_t bytes() const { return next_ * kUnitBytes; }

 private:
  static constexpr std::size_t kSlabUnits = Slab::kBytes / kUnitBytes;

  std::vector<Slab> slabs_;
  std::size_t next_ = 0;  // next free unit
  std::size_t end_ = 0;   // end of the newest slab, in units
};

}  // namespace halite::storage
