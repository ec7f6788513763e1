#include "storage/backends/memory/table.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::memory {
namespace {

// Rows elsewhere in the table that each written row checks for expired cells.
constexpr std::size_t kRowsSweptPerWrite = 2;

}  // namespace

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

// Counts every row, in pieces: exact, and fast enough for demos.
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

AddOutcome MemoryTable::add_row(CounterAdd& add) {
  if (add.once && find(families_[add.once->family], add.row, add.once->qualifier) != nullptr) {
    return AddOutcome::kRepeated;
  }
  std::vector<std::int64_t> sums;
  for (const CounterAdd::Delta& one : add.deltas) {
    const Stored* cell = find(families_[one.column.family], add.row, one.column.qualifier);
    const auto sum = counter_sum(
        cell == nullptr ? std::nullopt : std::optional<BytesView>(cell->value), one.delta);
    if (!sum) return sum.error();
    sums.push_back(*sum);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Column& column = add.deltas[i].column;
    Bytes value;
    append_be(value, static_cast<std::uint64_t>(sums[i]));
    put(families_[column.family], add.row, std::move(column.qualifier), std::move(value), 0);
  }
  if (add.once) put(families_[add.once->family], add.row, std::move(add.once->qualifier), {}, 0);
  return AddOutcome::kAdded;
}

Task<std::vector<AddOutcome>> MemoryTable::add(std::vector<CounterAdd> adds) {
  CO_TRY_VOID(check_adds(adds, families_.size()));
  const std::lock_guard lock(mutex_);
  std::vector<AddOutcome> outcomes;
  for (CounterAdd& add : adds) outcomes.push_back(add_row(add));
  co_return outcomes;
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
  auto sum = static_cast<std::uint64_t>(delta);  // unsigned: a counter wraps, as in HBase
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

}  // namespace halite::storage::memory
