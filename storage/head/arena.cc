#include "storage/head/arena.h"

#include "common/check.h"

namespace halite::storage {
namespace {

constexpr std::array<std::size_t, Arena::kClasses> kSizes = [] {
  std::array<std::size_t, Arena::kClasses> sizes{};
  std::size_t bytes = 32;
  for (std::size_t& size : sizes) {
    size = bytes;
    bytes = (bytes + bytes / 2 + 7) / 8 * 8;
  }
  return sizes;
}();

}  // namespace

std::size_t Arena::bytes_of(std::uint8_t size_class) { return kSizes[size_class]; }

Arena::Piece Arena::take(std::uint8_t size_class) {
  HALITE_CHECK(size_class < kClasses, "a stream larger than any piece");
  if (auto& free = free_[size_class]; !free.empty()) {
    std::uint8_t* data = free.back();
    free.pop_back();
    return {data, size_class};
  }
  const std::size_t size = kSizes[size_class];
  if (size > kSlabBytes / 4) {
    bytes_ += size;
    return {slabs_.emplace_back(new std::uint8_t[size]).get(), size_class};
  }
  if (left_ < size) {
    next_ = slabs_.emplace_back(new std::uint8_t[kSlabBytes]).get();
    left_ = kSlabBytes;
    bytes_ += kSlabBytes;
  }
  std::uint8_t* data = next_;
  next_ += size;
  left_ -= size;
  return {data, size_class};
}

void Arena::give_back(Piece piece) { free_[piece.size_class].push_back(piece.data); }

}  // namespace halite::storage
