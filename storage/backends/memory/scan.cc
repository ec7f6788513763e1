#include <optional>
#include <shared_mutex>
#include <utility>

#include "storage/backends/memory/table.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::memory {
namespace {

bool is_wanted(const ScanSpec& spec, const Stored& cell, std::int64_t ttl_ms, TimestampMs now) {
  return cell.time >= spec.time_begin && !is_expired(cell.time, ttl_ms, now);
}

}  // namespace

// Copies a batch under the lock, and continues after the last key that it read.
class MemoryScanner final : public Scanner {
 public:
  MemoryScanner(std::shared_ptr<const MemoryTable> table, ScanSpec spec, ReadContext context)
      : table_(std::move(table)),
        spec_(std::move(spec)),
        context_(std::move(context)),
        checked_(check_scan(spec_, table_->family_count())) {
    if (spec_.ranges.empty()) spec_.ranges.emplace_back();
    ranges_left_ = spec_.ranges.size();
  }

  Task<std::vector<Row>> next(ScanLimit limit) override {
    if (!checked_) co_return std::unexpected(checked_.error());
    CO_TRY_VOID(check_scan_limit(limit));
    std::vector<Row> rows;
    rows_left_ = limit.rows_max;
    cells_left_ = limit.cells_max;
    while (ranges_left_ > 0 && rows_left_ > 0 && cells_left_ > 0) {
      CO_TRY_VOID(context_.check());
      const std::shared_lock lock(table_->mutex_);
      const FamilyRows& family = table_->families_[spec_.family];
      for (std::size_t i = 0; i < kRowsPerLock && rows_left_ > 0 && cells_left_ > 0; ++i) {
        const auto it = find_row(family.rows);
        if (it == family.rows.end()) {
          leave_range();
          break;
        }
        take_row(*it, family.ttl_ms, rows);
      }
    }
    co_return rows;
  }

 private:
  [[nodiscard]] const KeyRange& range() const {
    const std::size_t done = spec_.ranges.size() - ranges_left_;
    return spec_.ranges[spec_.reverse ? ranges_left_ - 1 : done];
  }

  void leave_range() {
    --ranges_left_;
    position_.reset();
    piece_end_.reset();
  }

  // The next row; end() at the end of the range.
  Rows::const_iterator find_row(const Rows& rows) {
    if (piece_end_ && !rows.contains(*position_)) piece_end_.reset();
    return spec_.reverse ? find_back(rows) : find_forth(rows);
  }

  [[nodiscard]] Rows::const_iterator find_forth(const Rows& rows) const {
    auto it = rows.lower_bound(position_ ? *position_ : range().begin);
    if (position_ && !piece_end_ && it != rows.end() && it->first == *position_) ++it;
    const bool beyond = it != rows.end() && !range().end.empty() && it->first >= range().end;
    return beyond ? rows.end() : it;
  }

  [[nodiscard]] Rows::const_iterator find_back(const Rows& rows) const {
    if (position_ && piece_end_) return rows.find(*position_);
    const Bytes& end = position_ ? *position_ : range().end;
    auto it = end.empty() ? rows.end() : rows.lower_bound(end);
    if (it == rows.begin()) return rows.end();
    --it;
    return it->first < range().begin ? rows.end() : it;
  }

  void take_row(const Rows::value_type& found, std::int64_t ttl_ms, std::vector<Row>& rows) {
    const bool goes_on = piece_end_.has_value();
    position_ = found.first;
    if (!goes_on && spec_.rows != nullptr && !spec_.rows->matches(found.first)) return;
    Row row = copy_row(found, ttl_ms);
    if (row.cells.empty()) return;
    --rows_left_;
    rows.push_back(std::move(row));
  }

  // Copies wanted cells until cells_left_ is 0; then piece_end_ is the last of them.
  Row copy_row(const Rows::value_type& found, std::int64_t ttl_ms) {
    const TimestampMs now = table_->clock_.now_ms();
    const Cells& cells = found.second;
    auto it =
        piece_end_ ? cells.upper_bound(*piece_end_) : cells.lower_bound(spec_.qualifier_begin);
    piece_end_.reset();
    Row row{found.first, {}};
    for (; it != cells.end(); ++it) {
      if (!spec_.qualifier_end.empty() && it->first >= spec_.qualifier_end) break;
      if (!is_wanted(spec_, it->second, ttl_ms, now)) continue;
      if (cells_left_ == 0) {
        piece_end_ = row.cells.back().qualifier;
        break;
      }
      --cells_left_;
      row.cells.push_back(
          {it->first, spec_.keys_only ? Bytes() : it->second.value, it->second.time});
      if (spec_.keys_only) break;
    }
    return row;
  }

  const std::shared_ptr<const MemoryTable> table_;
  ScanSpec spec_;
  const ReadContext context_;
  const Result<void> checked_;
  std::size_t ranges_left_ = 0;
  std::optional<Bytes> position_;   // the last row read
  std::optional<Bytes> piece_end_;  // set if that row continues after this qualifier
  std::uint32_t rows_left_ = 0;     // in the current batch
  std::uint32_t cells_left_ = 0;
};

std::unique_ptr<Scanner> MemoryTable::scan(ScanSpec spec, const ReadContext& context) {
  return std::make_unique<MemoryScanner>(shared_from_this(), std::move(spec), context);
}

}  // namespace halite::storage::memory
