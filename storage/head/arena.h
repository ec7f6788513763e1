// Memory for byte streams that grow: a stream that moves to a larger piece leaves its old one to
// the next stream that wants that size. Everything goes at once, with the arena.
//
//   Threads  for one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace halite::storage {

class Arena {
 public:
  struct Piece {
    std::uint8_t* data = nullptr;
    std::uint8_t size_class = 0;
  };

  // Sizes grow by half from class to class, from 32 bytes to 2 GiB and beyond.
  static constexpr std::uint8_t kClasses = 48;
  [[nodiscard]] static std::size_t bytes_of(std::uint8_t size_class);

  [[nodiscard]] Piece take(std::uint8_t size_class);
  void give_back(Piece piece);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // held from the system

 private:
  static constexpr std::size_t kSlabBytes = 256 << 10;

  std::vector<std::unique_ptr<std::uint8_t[]>> slabs_;
  std::uint8_t* next_ = nullptr;  // free of the newest common slab
  std::size_t left_ = 0;
  std::size_t bytes_ = 0;
  std::array<std::vector<std::uint8_t*>, kClasses> free_;
};

}  // namespace halite::storage
