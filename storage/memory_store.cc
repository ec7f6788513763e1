#include "storage/memory_store.h"

#include <algorithm>
#include <iterator>
#include <shared_mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "storage/wide_column_rules.h"

namespace halite::storage {

namespace {

// How many rows one hold of a table's lock looks at: a filter that refuses everything must not keep
// writers out.
constexpr std::size_t kRowsPerLock = 1024;
// Rows that each written row has checked for expired cells, elsewhere in the table.
constexpr std::size_t kRowsSweptPerWrite = 2;

struct Stored {
  Bytes value;
  TimestampMs time = 0;
};

using Cells = std::map<Bytes, Stored, std::less<>>;
using Rows = std::map<Bytes, Cells, std::less<>>;

struct FamilyRows {
  Rows rows;
  std::int64_t ttl_ms = 0;
  Bytes swept_to;  // the sweep goes on behind this row
};

bool is_wanted(const ScanSpec& spec, const Stored& cell, std::int64_t ttl_ms, TimestampMs now) {
  return cell.time >= spec.time_begin && !is_expired(cell.time, ttl_ms, now);
}

}  // namespace

class MemoryTable final : public Table, public std::enable_shared_from_this<MemoryTable> {
 public:
  MemoryTable(const TableSpec& spec, HybridClock& clock)
      : clock_(clock), specs_(spec.families), families_(spec.families.size()) {
    set_ttls(spec);
  }

  Task<void> write(std::vector<RowWrite> rows) override;
  Task<void> append(std::vector<CellAppend> cells) override;
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override;
  std::unique_ptr<Scanner> scan(ScanSpec spec) override;
  Task<RangeEstimate> estimate(Family family, std::vector<KeyRange> ranges) override;
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override;
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override;
  Task<CasOutcome> replace_cell(Bytes row, Family family, Cell held,
                                std::vector<CellWrite> with) override;
  [[nodiscard]] TimestampMs newest_stamp() const override { return clock_.seen(); }

  [[nodiscard]] const std::vector<FamilySpec>& specs() const { return specs_; }
  [[nodiscard]] std::size_t family_count() const { return families_.size(); }
  void set_ttls(const TableSpec& spec) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < families_.size(); ++i) {
      families_[i].ttl_ms = spec.families[i].ttl_ms;
    }
  }

 private:
  friend class MemoryScanner;

  // The rest needs mutex_ held.
  void put(FamilyRows& family, BytesView row, Bytes qualifier, Bytes value, TimestampMs asked);
  void erase(const Bytes& row, const Column& column);
  void sweep(FamilyRows& family, std::size_t rows_max) const;
  const Stored* find(const FamilyRows& family, BytesView row, BytesView qualifier) const;
  Row read_row(RowRead& read) const;
  void read_cells(RowRead& read, const Cells& cells, Row& row) const;

  HybridClock& clock_;
  const std::vector<FamilySpec> specs_;  // names only: the TTLs may change
  mutable std::shared_mutex mutex_;
  std::vector<FamilyRows> families_;  // guarded by mutex_
};

void MemoryTable::put(FamilyRows& family, BytesView row, Bytes qualifier, Bytes value,
                      TimestampMs asked) {
  const TimestampMs time = clock_.time_for(asked);
  auto found = family.rows.find(row);
  if (found == family.rows.end()) found = family.rows.emplace(Bytes(row), Cells()).first;
  Stored& cell = found->second[std::move(qualifier)];
  if (time >= cell.time) cell = {std::move(value), time};
}

void MemoryTable::erase(const Bytes& row, const Column& column) {
  Rows& rows = families_[column.family].rows;
  const auto found = rows.find(row);
  if (found == rows.end()) return;
  found->second.erase(column.qualifier);
  if (found->second.empty()) rows.erase(found);
}

void MemoryTable::sweep(FamilyRows& family, std::size_t rows_max) const {
  if (family.ttl_ms == 0) return;
  const TimestampMs now = clock_.now_ms();
  auto it = family.rows.upper_bound(family.swept_to);
  for (std::size_t i = 0; i < rows_max && it != family.rows.end(); ++i) {
    std::erase_if(it->second, [&](const auto& cell) {
      return is_expired(cell.second.time, family.ttl_ms, now);
    });
    family.swept_to = it->first;
    it = it->second.empty() ? family.rows.erase(it) : std::next(it);
  }
  if (it == family.rows.end()) family.swept_to.clear();
}

const Stored* MemoryTable::find(const FamilyRows& family, BytesView row,
                                BytesView qualifier) const {
  const auto cells = family.rows.find(row);
  if (cells == family.rows.end()) return nullptr;
  const auto cell = cells->second.find(qualifier);
  if (cell == cells->second.end()) return nullptr;
  if (is_expired(cell->second.time, family.ttl_ms, clock_.now_ms())) return nullptr;
  return &cell->second;
}

void MemoryTable::read_cells(RowRead& read, const Cells& cells, Row& row) const {
  const std::int64_t ttl_ms = families_[read.family].ttl_ms;
  const TimestampMs now = clock_.now_ms();
  const auto take = [&](const Bytes& qualifier, const Stored& cell) {
    if (is_expired(cell.time, ttl_ms, now)) return;
    row.cells.push_back({qualifier, cell.value, cell.time});
  };
  if (read.qualifiers.empty()) {
    for (const auto& [qualifier, cell] : cells) take(qualifier, cell);
    return;
  }
  std::ranges::sort(read.qualifiers);
  const auto repeated = std::ranges::unique(read.qualifiers);
  read.qualifiers.erase(repeated.begin(), repeated.end());
  for (const Bytes& qualifier : read.qualifiers) {
    const auto cell = cells.find(qualifier);
    if (cell != cells.end()) take(cell->first, cell->second);
  }
}

Row MemoryTable::read_row(RowRead& read) const {
  const Rows& rows = families_[read.family].rows;
  Row row;
  const auto found = rows.find(read.row);
  if (found != rows.end()) read_cells(read, found->second, row);
  row.key = std::move(read.row);
  return row;
}

Task<void> MemoryTable::write(std::vector<RowWrite> rows) {
  CO_TRY_VOID(check_writes(rows, families_.size()));
  const std::lock_guard lock(mutex_);
  for (RowWrite& row : rows) {
    for (const Column& column : row.deletes) erase(row.row, column);
    for (CellWrite& cell : row.puts) {
      put(families_[cell.column.family], row.row, std::move(cell.column.qualifier),
          std::move(cell.value), cell.time);
    }
  }
  for (FamilyRows& family : families_) sweep(family, rows.size() * kRowsSweptPerWrite);
  co_return Result<void>();
}

Task<std::vector<Row>> MemoryTable::read(std::vector<RowRead> reads) {
  CO_TRY_VOID(check_reads(reads, families_.size()));
  std::vector<Row> rows;
  rows.reserve(reads.size());
  const std::shared_lock lock(mutex_);
  for (RowRead& read : reads) rows.push_back(read_row(read));
  co_return rows;
}

// Counts every row, a turn at a time: exact, and cheap enough for demos.
Task<RangeEstimate> MemoryTable::estimate(Family family, std::vector<KeyRange> ranges) {
  CO_TRY_VOID(check_family(family, families_.size()));
  RangeEstimate sum;
  for (KeyRange& range : ranges) {
    for (bool more = true; more;) {
      const std::shared_lock lock(mutex_);
      const Rows& rows = families_[family].rows;
      auto row = rows.lower_bound(range.begin);
      const auto in_range = [&] {
        return row != rows.end() && (range.end.empty() || row->first < range.end);
      };
      for (std::size_t i = 0; i < kRowsPerLock && in_range(); ++i, ++row) {
        sum.cells += row->second.size();
        for (const auto& [qualifier, cell] : row->second) {
          sum.bytes += row->first.size() + qualifier.size() + cell.value.size();
        }
      }
      more = in_range();
      if (more) range.begin = row->first;
    }
  }
  co_return sum;
}

Task<void> MemoryTable::append(std::vector<CellAppend> cells) {
  for (const CellAppend& cell : cells) {
    CO_TRY_VOID(check_row_key(cell.row));
    CO_TRY_VOID(check_family(cell.column.family, families_.size()));
  }
  const std::lock_guard lock(mutex_);
  for (CellAppend& cell : cells) {
    FamilyRows& family = families_[cell.column.family];
    const Stored* found = find(family, cell.row, cell.column.qualifier);
    Bytes value = found == nullptr ? Bytes() : found->value;
    value += cell.value;
    put(family, cell.row, std::move(cell.column.qualifier), std::move(value), 0);
  }
  co_return Result<void>();
}

Task<CasOutcome> MemoryTable::replace_cell(Bytes row, Family family, Cell held,
                                           std::vector<CellWrite> with) {
  std::vector<RowWrite> writes(1);
  writes[0] = {std::move(row), std::move(with), {{family, std::move(held.qualifier)}}};
  CO_TRY_VOID(check_writes(writes, families_.size()));
  const std::lock_guard lock(mutex_);
  const Column& column = writes[0].deletes.front();
  const Stored* found = find(families_[family], writes[0].row, column.qualifier);
  if (found == nullptr || found->value != held.value) co_return CasOutcome::kRefused;
  erase(writes[0].row, column);
  for (CellWrite& cell : writes[0].puts) {
    put(families_[cell.column.family], writes[0].row, std::move(cell.column.qualifier),
        std::move(cell.value), cell.time);
  }
  co_return CasOutcome::kApplied;
}

Task<std::int64_t> MemoryTable::increment(Bytes row, Column column, std::int64_t delta) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, families_.size()));
  const std::lock_guard lock(mutex_);
  FamilyRows& family = families_[column.family];
  const Stored* cell = find(family, row, column.qualifier);
  if (cell != nullptr && cell->value.size() != sizeof(std::uint64_t)) {
    co_return fail(
        Errc::kInvalidArgument,
        fmt::format("increment of a cell of {} bytes, a counter has 8", cell->value.size()));
  }
  auto sum = static_cast<std::uint64_t>(delta);  // unsigned: a counter wraps, as HBase's does
  if (cell != nullptr) sum += load_be<std::uint64_t>(cell->value.data());
  Bytes value;
  append_be(value, sum);
  put(family, row, std::move(column.qualifier), std::move(value), 0);
  co_return static_cast<std::int64_t>(sum);
}

Task<CasOutcome> MemoryTable::compare_and_put(Bytes row, Column column,
                                              std::optional<Bytes> expected, Bytes value) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, families_.size()));
  const std::lock_guard lock(mutex_);
  FamilyRows& family = families_[column.family];
  const Stored* cell = find(family, row, column.qualifier);
  const bool as_expected = cell == nullptr ? !expected : expected && cell->value == *expected;
  if (!as_expected) co_return CasOutcome::kRefused;
  put(family, row, std::move(column.qualifier), std::move(value), 0);
  co_return CasOutcome::kApplied;
}

// Copies a batch out under the lock, then goes on behind the last key it looked at.
class MemoryScanner final : public Scanner {
 public:
  MemoryScanner(std::shared_ptr<const MemoryTable> table, ScanSpec spec)
      : table_(std::move(table)),
        spec_(std::move(spec)),
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
      if (spec_.watch != nullptr) CO_TRY_VOID(spec_.watch->check());
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

  // The row to look at next; end() when the range is finished.
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

  // Copies wanted cells until cells_left_ is used up; then piece_end_ is the last of them.
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
  const Result<void> checked_;
  std::size_t ranges_left_ = 0;
  std::optional<Bytes> position_;   // the last row looked at
  std::optional<Bytes> piece_end_;  // set when that row goes on behind this qualifier
  std::uint32_t rows_left_ = 0;     // of the batch being made
  std::uint32_t cells_left_ = 0;
};

std::unique_ptr<Scanner> MemoryTable::scan(ScanSpec spec) {
  return std::make_unique<MemoryScanner>(shared_from_this(), std::move(spec));
}

MemoryStore::MemoryStore(const Clock& clock) : clock_(clock) {}
MemoryStore::~MemoryStore() = default;

Task<std::shared_ptr<Table>> MemoryStore::open_table(TableSpec spec) {
  co_return find_or_make(std::move(spec));
}

Result<std::shared_ptr<Table>> MemoryStore::find_or_make(TableSpec spec) {
  TRY_VOID(check_table_spec(spec));
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(spec.name);
  if (found == tables_.end()) {
    auto table = std::make_shared<MemoryTable>(spec, clock_);
    tables_.emplace(spec.name, table);
    return table;
  }
  TRY_VOID(check_same_families(found->second->specs(), spec));
  found->second->set_ttls(spec);
  return found->second;
}

Task<void> MemoryStore::close() { co_return Result<void>(); }

}  // namespace halite::storage
