#include "storage/head/head_shard.h"

#include <algorithm>
#include <cstring>

namespace halite::storage {

std::uint32_t HeadShard::add_series(SeriesId id) {
  const auto place = static_cast<std::uint32_t>(series_.size());
  HeadSeries& series = series_.emplace_back();
  series.id = id;
  const Arena::Piece piece = arena_.take(0);
  series.data = piece.data;
  series.size_class = piece.size_class;
  return place;
}

void HeadShard::append(std::uint32_t place, const StreamPoint& point) {
  HeadSeries& series = series_[place];
  if (series.bytes + kStreamPointBytesMax > Arena::bytes_of(series.size_class)) grow(series);
  std::uint8_t* const begin = series.data + series.bytes;
  const std::uint8_t* const end = encode_point(begin, series.state, point);
  series.bytes += static_cast<std::uint32_t>(end - begin);
  ++series.points;
  series.last_is_float = point.is_float;
  if (point.time <= series.time_max) series.ordered = false;
  series.time_max = std::max(series.time_max, point.time);
  series.time_min = std::min(series.time_min, point.time);
}

void HeadShard::grow(HeadSeries& series) {
  const Arena::Piece old = {series.data, series.size_class};
  const Arena::Piece larger = arena_.take(static_cast<std::uint8_t>(series.size_class + 1));
  std::memcpy(larger.data, old.data, series.bytes);
  series.data = larger.data;
  series.size_class = larger.size_class;
  arena_.give_back(old);
}

}  // namespace halite::storage
