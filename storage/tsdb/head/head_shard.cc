#include "storage/tsdb/head/head_shard.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace halite::storage {
namespace {

// A block begins with the number of the next one. Blocks grow with the chain, so the unused part of
// the last block stays a small fraction.
constexpr std::size_t kLinkBytes = sizeof(Arena::Extent);
constexpr std::array<std::uint8_t, 24> kUnits = {2,  2,  2,  2,  3,  3,  4,  5,  6,  7,  8,   10,
                                                 12, 14, 16, 20, 24, 28, 32, 40, 64, 96, 128, 192};

std::size_t units_of(std::uint8_t number) {
  return kUnits[std::min<std::size_t>(number, kUnits.size()) - 1];
}

// End of the last of so many blocks; without blocks, of the series' own bytes.
std::size_t end_of_room(std::uint8_t blocks) {
  return blocks == 0 ? HeadSeries::kOwnBytes : units_of(blocks) * Arena::kUnitBytes;
}

}  // namespace

std::uint32_t HeadShard::add_series(SeriesId id) {
  const std::uint32_t position = series_++;
  if (position / kSlabSeries == slabs_.size()) slabs_.emplace_back();
  new (&series_at(position)) HeadSeries{.id = id};
  return position;
}

void HeadShard::append(std::uint32_t position, const StreamPoint& point) {
  HeadSeries& series = series_at(position);
  if (series.points == 0) series.first_time = series.time = point.time;
  if (series.points > 0 && point.time <= series.time) series.ordered = false;
  ++series.points;
  series.last_is_float = point.is_float;
  std::size_t room = end_of_room(series.blocks) - series.used;
  if (room >= kStreamPointBytesMax) {
    std::uint8_t* const begin = end_of(series);
    series.used +=
        static_cast<std::uint16_t>(point_stream::encode_point(begin, series, point) - begin);
    return;
  }
  std::array<std::uint8_t, kStreamPointBytesMax> bytes;
  const std::uint8_t* from = bytes.data();
  auto left =
      static_cast<std::size_t>(point_stream::encode_point(bytes.data(), series, point) - from);
  while (true) {
    const std::size_t part = std::min(left, room);
    std::memcpy(end_of(series), from, part);
    series.used += static_cast<std::uint16_t>(part);
    left -= part;
    if (left == 0) return;
    from += part;
    grow(series);
    room = end_of_room(series.blocks) - series.used;
  }
}

void HeadShard::grow(HeadSeries& series) {
  if (series.blocks < kUnits.size()) ++series.blocks;
  const Arena::Extent block = blocks_.take(units_of(series.blocks));
  if (series.tail == 0) {
    series.second = block;
  } else {
    std::memcpy(blocks_.at(series.tail), &block, kLinkBytes);
  }
  series.tail = block;
  series.used = kLinkBytes;
}

void HeadShard::copy(std::uint32_t position, HeadPoints& copy) const {
  const HeadSeries& series = at(position);
  copy.id = series.id;
  copy.ordered = series.ordered;
  copy.points = series.points;
  copy.first_time = series.first_time;
  copy.bytes.assign(series.own.data(),
                    series.own.data() + (series.tail == 0 ? series.used : HeadSeries::kOwnBytes));
  std::uint8_t number = 1;
  for (Arena::Extent block = series.second; block != 0; ++number) {
    const std::uint8_t* const begin = blocks_.at(block);
    const std::size_t end = block == series.tail ? series.used : end_of_room(number);
    copy.bytes.insert(copy.bytes.end(), begin + kLinkBytes, begin + end);
    Arena::Extent next = 0;
    if (block != series.tail) std::memcpy(&next, begin, kLinkBytes);
    block = next;
    if (number == kUnits.size()) --number;
  }
}

}  // namespace halite::storage
