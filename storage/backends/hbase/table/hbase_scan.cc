#include "storage/backends/hbase/table/hbase_scan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "storage/api/scan_hint.h"
#include "storage/backends/hbase/table/hbase_table.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage {
namespace {

constexpr std::uint32_t kRowsPerCheck = 1024;

std::vector<hbase::Filter> cell_filters(const ScanSpec& spec) {
  std::vector<hbase::Filter> filters;
  const bool all_cells = spec.qualifier_begin.empty() && spec.qualifier_end.empty();
  if (!all_cells) {
    filters.push_back(hbase::qualifier_span(spec.qualifier_begin, spec.qualifier_end));
  }
  if (spec.keys_only) {
    // After a qualifier filter, HBase's filter for first cells would count a cell that is already
    // refused. Then the rest of the row is dropped here instead.
    if (all_cells) filters.push_back(hbase::first_cell_only());
    filters.push_back(hbase::keys_only());
  }
  return filters;
}

// Servers do not seek in reverse scans.
std::optional<hbase::Filter> row_filter(const ScanSpec& spec) {
  if (spec.hint == nullptr) return std::nullopt;
  if (!spec.hint->row_masks.empty() && !spec.reverse) {
    std::vector<hbase::FuzzyKey> keys;
    for (const KeyMask& mask : spec.hint->row_masks) keys.push_back({mask.key, mask.any});
    return hbase::fuzzy_rows(keys);
  }
  if (spec.hint->row_regex.empty()) return std::nullopt;
  return hbase::row_regex(spec.hint->row_regex);
}

hbase::Filter joined(std::vector<hbase::Filter> filters) {
  if (filters.empty()) return {};
  return filters.size() == 1 ? std::move(filters.front()) : hbase::all_of(filters);
}

// One request for several consecutive ranges.
hbase::ScanRequest request_for(const ScanSpec& spec, std::span<const KeyRange> ranges,
                               const Bytes& family, TimestampMs expired_until) {
  hbase::ScanRequest request;
  request.begin = ranges.front().begin;
  request.end = ranges.back().end;
  request.reverse = spec.reverse;
  request.columns.push_back({.family = family, .qualifiers = {}});
  std::vector<hbase::Filter> filters;
  if (ranges.size() > 1) {
    std::vector<hbase::RowSpan> spans;
    for (const KeyRange& range : ranges) spans.push_back({range.begin, range.end});
    filters.push_back(hbase::row_spans(spans));
  }
  if (auto rows = row_filter(spec)) filters.push_back(*std::move(rows));
  std::ranges::move(cell_filters(spec), std::back_inserter(filters));
  request.filter = joined(std::move(filters));
  const TimestampMs since = std::max(spec.time_begin, expired_until + 1);
  if (since > 0) request.times = {since, std::numeric_limits<TimestampMs>::max()};
  request.raw = spec.deletions;
  request.cache_blocks = !spec.deletions;  // these scans read all rows
  return request;
}

// In reverse order.
std::vector<hbase::ScanRequest> requests_for(const ScanSpec& spec, const HBaseTable& table) {
  std::vector<KeyRange> ranges;
  for (const KeyRange& range : spec.ranges) {
    if (!is_empty(range)) ranges.push_back(range);
  }
  if (spec.ranges.empty()) ranges.emplace_back();
  // In reverse, one range at a time: servers do not seek between ranges then.
  const std::size_t at_once = spec.reverse ? 1 : table.dependencies().range_filter_max;
  std::vector<hbase::ScanRequest> requests;
  for (std::size_t i = 0; i < ranges.size(); i += at_once) {
    const auto some = std::span(ranges).subspan(i, std::min(at_once, ranges.size() - i));
    requests.push_back(
        request_for(spec, some, table.family_name(spec.family), table.expired_until(spec.family)));
  }
  if (!spec.reverse) std::ranges::reverse(requests);
  return requests;
}

}  // namespace

std::vector<ScanDescription> describe_hbase_scan(const ScanSpec& spec, const HBaseTable& table) {
  std::vector<ScanDescription> texts;
  std::vector<hbase::ScanRequest> requests = requests_for(spec, table);
  for (hbase::ScanRequest& request : std::views::reverse(requests)) {
    texts.push_back({.begin = std::move(request.begin),
                     .end = std::move(request.end),
                     .filter = std::move(request.filter.text),
                     .cells_since = request.times.begin});
  }
  return texts;
}

HBaseScanner::HBaseScanner(std::shared_ptr<const HBaseTable> table, ScanSpec spec,
                           ReadContext context)
    : table_(std::move(table)),
      spec_(std::move(spec)),
      context_(std::move(context)),
      checked_(check_scan(spec_, table_->family_count())) {
  if (checked_) requests_ = requests_for(spec_, *table_);
}

HBaseScanner::~HBaseScanner() = default;

Task<std::vector<Row>> HBaseScanner::next(ScanLimit limit) {
  if (!checked_) co_return std::unexpected(checked_.error());
  CO_TRY_VOID(check_scan_limit(limit));
  CO_TRY_VOID(context_.check());
  CO_TRY_VOID(co_await fill(limit));
  std::vector<Row> batch;
  std::size_t cells_left = limit.cells_max;
  while (!rows_.empty() && batch.size() < limit.rows_max && cells_left > 0) {
    Row& row = rows_.front();
    if (row.cells.size() <= cells_left) {
      cells_left -= row.cells.size();
      cells_ -= row.cells.size();
      batch.push_back(std::move(row));
      rows_.pop_front();
      continue;
    }
    const auto cut = row.cells.begin() + static_cast<std::ptrdiff_t>(cells_left);
    batch.push_back({row.key, {std::move_iterator(row.cells.begin()), std::move_iterator(cut)}});
    row.cells.erase(row.cells.begin(), cut);
    cells_ -= cells_left;
    cells_left = 0;
  }
  co_return batch;
}

// The last row counts only if another one has begun after it, or if all its cells fit.
bool HBaseScanner::enough(ScanLimit limit) const {
  const bool finished = scanner_ == nullptr && requests_.empty();
  return finished || rows_.size() > limit.rows_max || cells_ > limit.cells_max;
}

Task<void> HBaseScanner::fill(ScanLimit limit) {
  while (!enough(limit)) {
    CO_TRY(const PackedRows rows, co_await next_wanted());
    take(rows);
  }
  co_return Result<void>();
}

Task<PackedRows> HBaseScanner::next_packed(ScanLimit limit) {
  if (!checked_) co_return std::unexpected(checked_.error());
  CO_TRY_VOID(check_scan_limit(limit));
  CO_TRY_VOID(context_.check());
  co_return co_await next_wanted();
}

Task<PackedRows> HBaseScanner::next_wanted() {
  while (scanner_ != nullptr || !requests_.empty()) {
    if (scanner_ == nullptr) start_next();
    CO_TRY(hbase::ScanBatch batch, co_await scanner_->next_packed());
    if (batch.rows.empty()) {
      scanner_.reset();
      continue;
    }
    CO_TRY_VOID(sift(batch.rows));
    if (!batch.rows.empty()) co_return std::move(batch.rows);
  }
  co_return PackedRows();
}

void HBaseScanner::start_next() {
  const HBaseTable::Dependencies& dependencies = table_->dependencies();
  scanner_ = dependencies.client.scan(dependencies.name, std::move(requests_.back()));
  requests_.pop_back();
}

Result<void> HBaseScanner::sift(PackedRows& rows) {
  // With keys only, the first cell was chosen when the scan began; none expires since.
  const TimestampMs expired = spec_.keys_only ? -1 : table_->expired_until(spec_.family);
  const bool every_cell = !spec_.keys_only && expired < 0;
  std::size_t kept = 0;
  std::size_t cells = 0;
  for (RowRef& row : rows.rows) {
    if (!in_row_ || row.key != row_) TRY_VOID(begin_row(row.key));
    if (!wanted_) continue;
    if (!every_cell) {
      const std::size_t begin = cells;
      for (std::size_t i = row.begin; i < row.end; ++i) {
        if (rows.cells[i].time <= expired || (spec_.keys_only && row_began_)) continue;
        rows.cells[cells] = rows.cells[i];
        if (spec_.keys_only) rows.cells[cells].value = {};
        row_began_ = true;
        ++cells;
      }
      row.begin = begin;
      row.end = cells;
      if (begin == cells) continue;
    }
    rows.rows[kept++] = row;
  }
  rows.rows.resize(kept);
  return {};
}

Result<void> HBaseScanner::begin_row(BytesView key) {
  row_ = key;
  in_row_ = true;
  row_began_ = false;
  wanted_ = spec_.rows == nullptr || spec_.rows->matches(key);
  if (++asked_ < kRowsPerCheck) return {};
  asked_ = 0;
  return context_.check();
}

void HBaseScanner::take(const PackedRows& rows) {
  for (const RowRef& row : rows.rows) {
    // If a row was returned in part, its rest begins the next batch.
    if (rows_.empty() || rows_.back().key != row.key) rows_.push_back({Bytes(row.key), {}});
    for (const CellRef& cell : rows.cells_of(row)) {
      rows_.back().cells.push_back({Bytes(cell.qualifier), Bytes(cell.value), cell.time});
      ++cells_;
    }
  }
}

}  // namespace halite::storage
