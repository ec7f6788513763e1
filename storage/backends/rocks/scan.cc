#include "storage/backends/rocks/scan.h"

#include <utility>

#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::rocks {

namespace {

// A seek costs about as much as this many steps.
constexpr int kStepsBeforeSeek = 8;
// Keys that one next() visits: about ten milliseconds of work.
constexpr std::uint32_t kKeysPerTurn = 65536;
// Rows, wanted or not, between two checks of the context. Each may cost a read from the disk.
constexpr std::uint32_t kRowsPerCheck = 64;

}  // namespace

CellScan::CellScan(Database& database, FamilyHandle family, ScanSpec spec, ReadContext context)
    : database_(database),
      family_(std::move(family)),
      spec_(std::move(spec)),
      context_(std::move(context)) {
  for (const KeyRange& range : spec_.ranges) {
    if (is_empty(range)) continue;
    ranges_.push_back({range.begin.empty() ? Bytes() : row_prefix(range.begin),
                       range.end.empty() ? Bytes() : row_prefix(range.end)});
  }
  if (spec_.ranges.empty()) ranges_.emplace_back();
  if (ranges_.empty()) return;
  lowest_ = ranges_.front().begin;
  highest_ = ranges_.back().end;
}

void CellScan::open() {
  rocksdb::ReadOptions options;
  options.total_order_seek = true;  // across rows, so the rows' filters do not apply
  options.background_purge_on_iterator_cleanup = true;  // the last owner may be an event loop
  lowest_slice_ = lowest_;
  highest_slice_ = highest_;
  if (!lowest_.empty()) options.iterate_lower_bound = &lowest_slice_;
  if (!highest_.empty()) options.iterate_upper_bound = &highest_slice_;
  it_.reset(database_.db().NewIterator(options, family_.column_family));
}

Result<void> CellScan::check() const { return checked(it_->status(), "cannot scan"); }

Result<CellScan::Batch> CellScan::next(ScanLimit limit, TimestampMs now) {
  Batch batch;
  if (ranges_done_ == ranges_.size()) {
    batch.finished = true;
    return batch;
  }
  TRY_VOID(context_.check());  // it may have waited long for a thread
  if (it_ == nullptr) open();
  std::uint32_t cells_left = limit.cells_max;
  keys_left_ = kKeysPerTurn;
  while (batch.rows.size() < limit.rows_max && cells_left > 0 && keys_left_ > 0) {
    if (!row_open_) {
      if (++rows_seen_ % kRowsPerCheck == 0) TRY_VOID(context_.check());
      if (!find_row()) break;
      TRY(const bool wanted, open_row());
      if (!wanted) continue;
    }
    Row row{row_key_, {}};
    TRY(const bool done, take_cells(cells_left, now, row));
    if (done) leave_row();
    if (!row.cells.empty()) batch.rows.push_back(std::move(row));
  }
  TRY_VOID(check());
  batch.finished = ranges_done_ == ranges_.size();
  if (batch.finished) it_.reset();  // releases files and memory
  return batch;
}

const CellScan::EncodedRange& CellScan::range() const {
  return ranges_[spec_.reverse ? ranges_.size() - 1 - ranges_done_ : ranges_done_];
}

bool CellScan::find_row() {
  for (; ranges_done_ < ranges_.size(); ++ranges_done_, range_entered_ = false) {
    if (!range_entered_) enter_range();
    if (!it_->Valid() && !it_->status().ok()) return false;
    if (in_range()) return true;
  }
  return false;
}

// The ranges are in order, so after one range the iterator may be in the next one already.
void CellScan::enter_range() {
  const bool fresh = ranges_done_ == 0;
  range_entered_ = true;
  if (!spec_.reverse) {
    if (fresh && range().begin.empty()) {
      it_->SeekToFirst();
    } else if (fresh || (it_->Valid() && it_->key().ToStringView() < BytesView(range().begin))) {
      seek(range().begin);
    }
    return;
  }
  if (fresh && range().end.empty()) {
    it_->SeekToLast();
  } else if (fresh || (it_->Valid() && it_->key().ToStringView() >= BytesView(range().end))) {
    it_->SeekForPrev(range().end);
    if (it_->Valid() && it_->key().ToStringView() == BytesView(range().end)) it_->Prev();
  }
}

bool CellScan::in_range() const {
  if (!it_->Valid()) return false;
  const BytesView key = it_->key().ToStringView();
  if (spec_.reverse) return key >= BytesView(range().begin);
  return range().end.empty() || key < BytesView(range().end);
}

Result<bool> CellScan::open_row() {
  const BytesView key = it_->key().ToStringView();
  row_prefix_ = key.substr(0, row_prefix_size(key).value_or(key.size()));
  TRY(row_key_, row_of_prefix(row_prefix_));
  if (spec_.rows != nullptr && !spec_.rows->matches(row_key_)) {
    leave_row();
    return false;
  }
  if (spec_.reverse) seek(row_prefix_ + spec_.qualifier_begin);
  row_open_ = true;
  return true;
}

bool CellScan::in_row() const {
  return it_->Valid() && it_->key().ToStringView().starts_with(row_prefix_);
}

BytesView CellScan::qualifier() const {
  return it_->key().ToStringView().substr(row_prefix_.size());
}

void CellScan::to_first_wanted_cell() {
  if (spec_.qualifier_begin.empty()) return;
  for (int i = 0; in_row() && qualifier() < BytesView(spec_.qualifier_begin); ++i) {
    if (i == kStepsBeforeSeek) {
      seek(row_prefix_ + spec_.qualifier_begin);
      return;
    }
    step();
  }
}

Result<bool> CellScan::take_cells(std::uint32_t& cells_left, TimestampMs now, Row& row) {
  const std::int64_t ttl_ms = *family_.ttl_ms;
  to_first_wanted_cell();
  // A row that has begun is cut only for the number of its cells, not for keys visited.
  for (; in_row() && (keys_left_ > 0 || !row.cells.empty()); step()) {
    if (!spec_.qualifier_end.empty() && qualifier() >= BytesView(spec_.qualifier_end)) return true;
    TRY(const StoredCell cell,
        parse_cell_of(it_->key().ToStringView(), it_->value().ToStringView()));
    if (cell.time < spec_.time_begin || is_expired(cell.time, ttl_ms, now)) continue;
    if (cells_left == 0) return false;
    --cells_left;
    row.cells.push_back(
        {Bytes(qualifier()), spec_.keys_only ? Bytes() : Bytes(cell.value), cell.time});
    if (spec_.keys_only) return true;
  }
  return !in_row();
}

// Moves to the next row, in the scan's direction.
void CellScan::leave_row() {
  row_open_ = false;
  if (spec_.reverse) {
    // The iterator may be after the row, so steps do not work here.
    it_->SeekForPrev(row_prefix_);
    if (in_row()) it_->Prev();
    count_key();
    return;
  }
  for (int i = 0; in_row(); ++i) {
    if (i == kStepsBeforeSeek) {
      seek(row_prefix_end(row_prefix_));
      return;
    }
    step();
  }
}

void CellScan::step() {
  it_->Next();
  count_key();
}

void CellScan::seek(const Bytes& key) {
  it_->Seek(key);
  count_key();
}

void CellScan::count_key() {
  if (keys_left_ > 0) --keys_left_;
}

}  // namespace halite::storage::rocks
