// Memory for what only grows: blocks of some 16 to 4080 bytes, cut one after the other from slabs,
// named by 32-bit numbers. Everything goes at once, with the arena, back to the system.
//
//   Threads  for one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halite::storage {

// A piece of memory straight from the system, zeros at first. What holds many of them does not
// leave holes in the process's heap.
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
  static constexpr std::size_t kUnitBytes = 16;  // blocks are so many of them
  using Extent = std::uint32_t;                  // the number of a block's first unit; 0: none

  [[nodiscard]] Extent take(std::size_t units);
  [[nodiscard]] std::uint8_t* at(Extent block) const {
    return slabs_[block / kSlabUnits].data() + (block % kSlabUnits) * kUnitBytes;
  }

  // Of blocks taken. What is left of the newest slab was never touched and is no memory yet.
  [[nodiscard]] std::size_t bytes() const { return next_ * kUnitBytes; }

 private:
  static constexpr std::size_t kSlabUnits = Slab::kBytes / kUnitBytes;

  std::vector<Slab> slabs_;
  std::size_t next_ = 0;  // unit
  std::size_t end_ = 0;   // of the newest slab
};

}  // namespace halite::storage
