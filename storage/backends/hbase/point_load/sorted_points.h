// A batch of points in the order of a table's rows.
//
//   Threads  after make(), call from any thread.
//   Memory   about 17 bytes a point, and the keys of the rows; 16 bytes a point more while it
//   sorts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "storage/api/point_sink.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class SortedPoints {
 public:
  // Of points of one series with equal times the last one in the batch stays. Points that the
  // layout does not admit now are in `refused`, with their positions in the batch. The caller keeps
  // the pin of the series.
  [[nodiscard]] static SortedPoints make(PointBatch batch, const SeriesTable& series,
                                         const RowLayout& layout, TimestampMs now,
                                         std::vector<Refusal>& refused);

  // Points of one series in one row, in time order.
  struct Row {
    BytesView key;
    std::span<const TimestampMs> times;
    std::span<const ValueBits> values;
    std::span<const std::uint8_t> flags;
  };
  // In the order of their keys, which are all different.
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }
  [[nodiscard]] Row row(std::size_t at) const;
  [[nodiscard]] BytesView key(std::size_t at) const;
  // The first row with this key or a greater one.
  [[nodiscard]] std::size_t lower_bound(BytesView key) const;

  [[nodiscard]] std::size_t point_count() const { return times_.size(); }

 private:
  struct Place {
    std::uint64_t key_at = 0;  // in keys_
    std::uint32_t key_bytes = 0;
    std::uint32_t points = 0;
    std::uint64_t point_at = 0;
  };

  void arrange(PointBatch batch, const std::vector<std::uint32_t>& admitted);
  void cut(const SeriesTable& series, const RowLayout& layout);
  [[nodiscard]] BytesView key_of(const Place& place) const {
    return BytesView(keys_).substr(place.key_at, place.key_bytes);
  }

  std::vector<SeriesId> series_;  // only while it is made
  std::vector<TimestampMs> times_;
  std::vector<ValueBits> values_;
  std::vector<std::uint8_t> flags_;
  Bytes keys_;
  std::vector<Place> rows_;
};

}  // namespace halite::storage
