#include "storage/cells/point_rows.h"

#include <algorithm>
#include <utility>

#include "storage/cells/layouts/column.h"

namespace halite::storage {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}

std::int64_t row_begin(const RowLayout& layout, TimestampMs time) {
  const std::int64_t span_ms = layout.bucket_span_ms();
  return floor_div(time, span_ms) * span_ms;
}

}  // namespace

PointRows::PointRows(std::shared_ptr<const RowLayout> layout, const SeriesTable& series,
                     Family family, ColumnOptions options)
    : layout_(std::move(layout)),
      opentsdb_(dynamic_cast<const OpentsdbLayout*>(layout_.get()) != nullptr),
      series_(series),
      family_(family),
      options_(options) {}

bool PointRows::times_decide() const { return !layout_->pieces_in_time_order(); }

PointWrites PointRows::make(const PointBatch& batch, const std::vector<std::uint32_t>& order,
                            const std::vector<ReplacedPoint>& replaced, TimestampMs now) const {
  PointWrites writes;
  const bool appends = opentsdb_ && options_.form == ColumnForm::kAppend;
  if (!appends) writes.rows.reserve(order.size());
  Replaced next_replaced = replaced.begin();
  for (std::size_t begin = 0; begin < order.size();) {
    const SeriesId series = batch.series[order[begin]];
    const TimestampMs first = batch.times[order[begin]];
    const TimestampMs row_end = row_begin(*layout_, first) + layout_->bucket_span_ms();
    std::size_t end = begin + 1;
    while (end < order.size() && batch.series[order[end]] == series &&
           batch.times[order[end]] < row_end) {
      ++end;
    }
    const Points points = Points(order).subspan(begin, end - begin);
    begin = end;
    Bytes key = layout_->row_key(series_.at(series).tsuid.bytes(), first);
    if (appends) {
      add_entries(batch, points, std::move(key), writes.appends);
      continue;
    }
    RowWrite& row = writes.rows.emplace_back();
    row.row = std::move(key);
    next_replaced = delete_replaced(batch, points, next_replaced, replaced.end(), row);
    if (opentsdb_ && options_.form == ColumnForm::kBackfill && row_end <= now) {
      add_compacted(batch, points, row);
    } else {
      add_single(batch, points, row);
    }
  }
  return writes;
}

void PointRows::add_single(const PointBatch& batch, Points points, RowWrite& row) const {
  for (const std::uint32_t i : points) {
    PointCell cell = layout_->point_cell(batch.times[i], batch.values[i], batch.flags[i]);
    row.puts.push_back(
        CellWrite{Column{family_, std::move(cell.qualifier)}, std::move(cell.value), 0});
  }
}

void PointRows::add_compacted(const PointBatch& batch, Points points, RowWrite& row) const {
  const TimestampMs base = row_begin(*layout_, batch.times[points.front()]);
  for (std::size_t begin = 0; begin < points.size(); begin += options_.points_max) {
    std::vector<TimestampMs> times;
    std::vector<ValueBits> values;
    std::vector<std::uint8_t> flags;
    const std::size_t count = std::min(options_.points_max, points.size() - begin);
    for (const std::uint32_t i : points.subspan(begin, count)) {
      times.push_back(batch.times[i]);
      values.push_back(batch.values[i]);
      flags.push_back(batch.flags[i]);
    }
    PointCell cell = compacted_cell(base, times, values, flags);
    row.puts.push_back(
        CellWrite{Column{family_, std::move(cell.qualifier)}, std::move(cell.value), 0});
  }
}

void PointRows::add_entries(const PointBatch& batch, Points points, Bytes row,
                            std::vector<CellAppend>& appends) const {
  const TimestampMs base = row_begin(*layout_, batch.times[points.front()]);
  CellAppend& append = appends.emplace_back();
  append.row = std::move(row);
  append.column = Column{family_, Bytes(kAppendQualifier)};
  for (const std::uint32_t i : points) {
    append_entry(append.value, base, batch.times[i], batch.values[i], batch.flags[i]);
  }
}

PointRows::Replaced PointRows::delete_replaced(const PointBatch& batch, Points points,
                                               Replaced replaced, Replaced end,
                                               RowWrite& row) const {
  for (const std::uint32_t i : points) {
    if (replaced == end) break;
    if (replaced->index != i) continue;
    const PointCell cell = layout_->point_cell(batch.times[i], batch.values[i], batch.flags[i]);
    PointCell old = layout_->point_cell(batch.times[i], replaced->value, replaced->flags);
    if (old.qualifier != cell.qualifier) {
      row.deletes.push_back(Column{family_, std::move(old.qualifier)});
    }
    ++replaced;
  }
  return replaced;
}

}  // namespace halite::storage
