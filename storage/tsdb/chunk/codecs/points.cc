#include "storage/tsdb/chunk/codecs/points.h"

#include <algorithm>
#include <bit>

namespace halite::storage::chunk {
namespace {

// Up to 64 bits of `words` from bit `begin`, the first in bit 0; bits past `count` are zero.
std::uint64_t bits_at(std::span<const std::uint64_t> words, std::size_t begin, std::size_t count) {
  const std::size_t shift = begin % 64;
  std::uint64_t bits = words[begin / 64] >> shift;
  if (shift + count > 64) bits |= words[begin / 64 + 1] << (64 - shift);
  return count == 64 ? bits : bits & ((std::uint64_t{1} << count) - 1);
}

}  // namespace

void FloatBits::append(std::size_t count, bool is_float) {
  const std::size_t size = size_ + count;
  words_.resize((size + 63) / 64);
  if (is_float) {
    for (std::size_t i = size_; i < size;) {
      const std::size_t shift = i % 64;
      const std::size_t taken = std::min(64 - shift, size - i);
      words_[i / 64] |= (~std::uint64_t{0} >> (64 - taken)) << shift;
      i += taken;
    }
  }
  size_ = size;
}

void FloatBits::append(std::span<const std::uint64_t> words, std::size_t begin, std::size_t count) {
  const std::size_t size = size_ + count;
  words_.resize((size + 63) / 64);
  for (std::size_t i = size_; i < size;) {
    const std::size_t shift = i % 64;
    const std::size_t taken = std::min(64 - shift, size - i);
    words_[i / 64] |= bits_at(words, begin, taken) << shift;
    begin += taken;
    i += taken;
  }
  size_ = size;
}

void FloatBits::truncate(std::size_t size) {
  if (size >= size_) return;
  size_ = size;
  words_.resize((size + 63) / 64);
  if (size % 64 != 0) words_.back() &= (std::uint64_t{1} << (size % 64)) - 1;
}

void FloatBits::clear() {
  words_.clear();
  size_ = 0;
}

std::size_t PointsView::float_count() const {
  std::size_t floats = 0;
  for (std::size_t i = 0; i < size(); i += 64) {
    const std::size_t taken = std::min<std::size_t>(64, size() - i);
    floats += static_cast<std::size_t>(std::popcount(bits_at(float_words, float_begin + i, taken)));
  }
  return floats;
}

PointsView Points::within(TimeRange range) const {
  const auto begin = std::ranges::lower_bound(times, range.begin);
  const auto end = std::lower_bound(begin, times.end(), range.end);
  return view().slice(static_cast<std::size_t>(begin - times.begin()),
                      static_cast<std::size_t>(end - begin));
}

void Points::append(PointsView points) {
  times.insert(times.end(), points.times.begin(), points.times.end());
  values.insert(values.end(), points.values.begin(), points.values.end());
  floats.append(points.float_words, points.float_begin, points.size());
}

void Points::clear() {
  times.clear();
  values.clear();
  floats.clear();
}

}  // namespace halite::storage::chunk
