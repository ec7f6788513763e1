#include "storage/cells/rollups/rollup_block_scan.h"

#include <cmath>
#include <limits>

namespace halite::storage {
namespace {

constexpr TimeRange kAllTimes = {0, std::numeric_limits<TimestampMs>::max()};

// Java's cast from double to long.
std::int64_t to_long(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

std::int64_t count_at(const RowPoints& points, std::size_t i) {
  const ValueBits bits = points.values[i];
  return (points.flags[i] & kFloat) != 0 ? to_long(as_double(bits)) : as_integer(bits);
}

}  // namespace

Task<std::vector<Block>> RollupBlockScan::next() {
  std::vector<Block> blocks;
  while (blocks.empty()) {
    CO_TRY(const std::vector<WantedRow> rows, co_await rows_->next());
    if (rows.empty()) break;
    for (const WantedRow& row : rows) CO_TRY_VOID(decode(row, blocks));
  }
  co_return blocks;
}

// Whether the row has any requested cell, at any time.
Result<bool> RollupBlockScan::read(const WantedRow& row) {
  values_.clear();
  counts_.clear();
  TRY_VOID(values_layout_.decode(row.id, row.cells, kAllTimes, values_));
  if (counts_layout_ != nullptr) {
    TRY_VOID(counts_layout_->decode(row.id, row.cells, kAllTimes, counts_));
  }
  return !values_.times.empty() || !counts_.times.empty();
}

Result<void> RollupBlockScan::decode(const WantedRow& row, std::vector<Block>& blocks) {
  TRY(const bool any, read(row));
  if (!any) return {};
  blocks.emplace_back().series = row.series;
  std::size_t counted = 0;
  for (std::size_t i = 0; i < values_.times.size(); ++i) {
    const TimestampMs time = values_.times[i];
    if (time < row.times.begin || time >= row.times.end) continue;
    if (counts_layout_ != nullptr) {
      while (counted < counts_.times.size() && counts_.times[counted] < time) ++counted;
      if (counted == counts_.times.size()) break;
      if (counts_.times[counted] != time) continue;
    }
    if (blocks.back().size() == kBlockPointsMax) blocks.emplace_back().series = row.series;
    Block& block = blocks.back();
    if ((values_.flags[i] & kFloat) != 0) block.floats.set(block.size());
    block.times.push_back(time);
    block.values.push_back(values_.values[i]);
    if (counts_layout_ != nullptr) block.counts.push_back(count_at(counts_, counted));
  }
  return {};
}

}  // namespace halite::storage
