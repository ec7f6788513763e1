#include "storage/backends/hbase/point_load/sorted_points.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/check.h"

namespace halite::storage {
namespace {

struct Position {
  TimestampMs time = 0;
  SeriesId series = 0;
  std::uint32_t index = 0;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}

bool strictly_sorted(const PointBatch& batch) {
  for (std::size_t i = 1; i < batch.size(); ++i) {
    const bool next = std::tie(batch.series[i - 1], batch.times[i - 1]) <
                      std::tie(batch.series[i], batch.times[i]);
    if (!next) return false;
  }
  return true;
}

}  // namespace

SortedPoints SortedPoints::make(PointBatch batch, const SeriesTable& series,
                                const RowLayout& layout, TimestampMs now,
                                std::vector<Refusal>& refused) {
  const SeriesId known = series.size();
  std::vector<std::uint32_t> admitted;
  admitted.reserve(batch.size());
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    HALITE_CHECK(batch.series[i] < known, "a series id of another store");
    Result<void> admits = layout.admit(batch.times[i], now);
    if (admits) {
      admitted.push_back(i);
    } else {
      refused.push_back({i, std::move(admits).error()});
    }
  }
  SortedPoints points;
  points.arrange(std::move(batch), admitted);
  points.cut(series, layout);
  return points;
}

void SortedPoints::arrange(PointBatch batch, const std::vector<std::uint32_t>& admitted) {
  if (admitted.size() == batch.size() && strictly_sorted(batch)) {
    series_ = std::move(batch.series);
    times_ = std::move(batch.times);
    values_ = std::move(batch.values);
    flags_ = std::move(batch.flags);
    return;
  }
  std::vector<Position> order;
  order.reserve(admitted.size());
  for (const std::uint32_t i : admitted) order.push_back({batch.times[i], batch.series[i], i});
  // The last one of equal points is the first.
  std::ranges::sort(order, [](const Position& a, const Position& b) {
    return std::tie(a.series, a.time, b.index) < std::tie(b.series, b.time, a.index);
  });
  const auto same = [](const Position& a, const Position& b) {
    return a.series == b.series && a.time == b.time;
  };
  order.erase(std::ranges::unique(order, same).begin(), order.end());
  series_.reserve(order.size());
  times_.reserve(order.size());
  values_.reserve(order.size());
  flags_.reserve(order.size());
  for (const Position& at : order) {
    series_.push_back(at.series);
    times_.push_back(at.time);
    values_.push_back(batch.values[at.index]);
    flags_.push_back(batch.flags[at.index]);
  }
}

void SortedPoints::cut(const SeriesTable& series, const RowLayout& layout) {
  const std::int64_t span_ms = layout.bucket_span_ms();
  for (std::size_t begin = 0; begin < times_.size();) {
    const TimestampMs row_end = (floor_div(times_[begin], span_ms) + 1) * span_ms;
    std::size_t end = begin + 1;
    while (end < times_.size() && series_[end] == series_[begin] && times_[end] < row_end) ++end;
    const Bytes key = layout.row_key(series.at(series_[begin]).tsuid.bytes(), times_[begin]);
    rows_.push_back({.key_at = keys_.size(),
                     .key_bytes = static_cast<std::uint32_t>(key.size()),
                     .points = static_cast<std::uint32_t>(end - begin),
                     .point_at = begin});
    keys_ += key;
    begin = end;
  }
  series_ = {};
  std::ranges::sort(rows_, {}, [this](const Place& place) { return key_of(place); });
}

SortedPoints::Row SortedPoints::row(std::size_t at) const {
  const Place& place = rows_[at];
  return {.key = key_of(place),
          .times = std::span(times_).subspan(place.point_at, place.points),
          .values = std::span(values_).subspan(place.point_at, place.points),
          .flags = std::span(flags_).subspan(place.point_at, place.points)};
}

BytesView SortedPoints::key(std::size_t at) const { return key_of(rows_[at]); }

std::size_t SortedPoints::lower_bound(BytesView key) const {
  const auto found = std::ranges::lower_bound(rows_, key, {},
                                              [this](const Place& place) { return key_of(place); });
  return static_cast<std::size_t>(found - rows_.begin());
}

}  // namespace halite::storage
