// The layout of the rollups of one interval and aggregator.
//
// Rows are OpenTSDB's, whatever layout the points have (docs/formats/opentsdb-layout.md). Rows are
// decoded whole: they contain the cells of all aggregators, and older cells under names.
#pragma once

#include <memory>
#include <string>

#include "storage/cells/layouts/rollup_cell.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct RollupAggregator {
  std::uint8_t id = 0;  // 0 to 127
  std::string name;     // lower case; in rows from before 2.4
};

class RollupLayout final : public RowLayout {
 public:
  RollupLayout(std::shared_ptr<const OpentsdbLayout> rows, RollupInterval interval,
               RollupAggregator aggregator)
      : rows_(std::move(rows)), interval_(interval), aggregator_(std::move(aggregator)) {}

  [[nodiscard]] std::uint32_t salt_buckets() const override { return rows_->salt_buckets(); }
  [[nodiscard]] std::uint32_t salt_of(BytesView tsuid) const override {
    return rows_->salt_of(tsuid);
  }
  [[nodiscard]] const UidWidths& widths() const override { return rows_->widths(); }
  [[nodiscard]] std::size_t pairs_at() const override { return rows_->pairs_at(); }
  [[nodiscard]] Bytes row_key(BytesView tsuid, TimestampMs time) const override;
  [[nodiscard]] PointCell point_cell(TimestampMs time, ValueBits value,
                                     std::uint8_t flags) const override;
  [[nodiscard]] std::int64_t bucket_span_ms() const override;
  [[nodiscard]] std::vector<BucketScan> metric_buckets(BytesView metric_uid, TimeRange range,
                                                       std::uint32_t salt,
                                                       TimestampMs now) const override;
  [[nodiscard]] std::vector<BucketScan> series_buckets(BytesView tsuid, TimeRange range,
                                                       TimestampMs now) const override;
  [[nodiscard]] Result<RowId> parse_row(BytesView row) const override {
    return rows_->parse_row(row);
  }
  [[nodiscard]] Result<void> decode(const RowId& row, std::span<const CellRef> cells,
                                    TimeRange range, RowPoints& out) const override;
  // Accepts whole seconds whose row key is valid and whose number in the row fits 12 bits.
  [[nodiscard]] Result<void> admit(TimestampMs time, TimestampMs now) const override;

 private:
  std::shared_ptr<const OpentsdbLayout> rows_;
  RollupInterval interval_;
  RollupAggregator aggregator_;
};

}  // namespace halite::storage
