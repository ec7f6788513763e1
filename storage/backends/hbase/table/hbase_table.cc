#include "storage/backends/hbase/table/hbase_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>

#include "storage/backends/hbase/table/hbase_changes.h"
#include "storage/backends/hbase/table/hbase_scan.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;

constexpr auto kNextMillisecond = std::chrono::milliseconds(2);
// The maximum of versions of one cell that are far ahead.
constexpr int kFarAheadMax = 100;

std::vector<Cell> cells_of(std::vector<hbase::Cell> found, TimestampMs expired_until) {
  std::vector<Cell> cells;
  cells.reserve(found.size());
  for (hbase::Cell& cell : found) {
    if (cell.time <= expired_until) continue;
    cells.push_back({std::move(cell.qualifier), std::move(cell.value), cell.time});
  }
  return cells;
}

Error not_a_counter(std::size_t bytes) {
  return {.code = Errc::kInvalidArgument,
          .message = fmt::format("increment of a cell of {} bytes, a counter has 8", bytes),
          .details = {}};
}

}  // namespace

HBaseTable::HBaseTable(Dependencies dependencies, const std::vector<FamilySpec>& families)
    : dependencies_(std::move(dependencies)), ttls_ms_(families.size()) {
  for (const FamilySpec& family : families) names_.push_back(family.name);
}

void HBaseTable::set_ttls(const TableSpec& spec) {
  for (std::size_t i = 0; i < ttls_ms_.size(); ++i) ttls_ms_[i] = spec.families[i].ttl_ms;
}

TimestampMs HBaseTable::expired_until(Family family) const {
  const std::int64_t ttl_ms = ttls_ms_[family];
  return ttl_ms == 0 ? -1 : dependencies_.clock.now_ms() - ttl_ms;
}

Task<void> HBaseTable::write_until(std::vector<RowWrite> rows, WriteEnd end) {
  CO_TRY_VOID(check_writes(rows, names_.size()));
  std::vector<hbase::RowMutation> mutations =
      mutations_of(std::move(rows), names_, dependencies_.clock);
  const auto deletes = [](const hbase::RowMutation& row) { return !row.deletes.empty(); };
  if (std::ranges::any_of(mutations, deletes)) CO_TRY_VOID(co_await hide(mutations, end));
  co_return co_await dependencies_.client.mutate(dependencies_.name, std::move(mutations), end);
}

Task<void> HBaseTable::append(std::vector<CellAppend> cells) {
  std::vector<hbase::CellAppend> changes;
  changes.reserve(cells.size());
  // Region servers stamp them: later than what replace_cell() deletes, whenever they arrive.
  for (CellAppend& cell : cells) {
    CO_TRY_VOID(check_row_key(cell.row));
    CO_TRY_VOID(check_family(cell.column.family, names_.size()));
    hbase::CellAppend& change = changes.emplace_back();
    change.cell = {std::move(cell.row), names_[cell.column.family],
                   std::move(cell.column.qualifier)};
    change.value = std::move(cell.value);
  }
  co_return co_await dependencies_.client.append(dependencies_.name, std::move(changes));
}

// The delete affects only what was read. Later appends are stamped by the region server, which also
// stamped what was read. So the two times must differ by at least a millisecond.
Task<CasOutcome> HBaseTable::replace_cell(Bytes row, Family family, Cell held,
                                          std::vector<CellWrite> with) {
  std::vector<RowWrite> checked(1);
  checked[0] = {std::move(row), std::move(with), {{family, held.qualifier}}};
  CO_TRY_VOID(check_writes(checked, names_.size()));
  hbase::CheckAndMutate change{.family = names_[family],
                               .qualifier = std::move(held.qualifier),
                               .expected = std::move(held.value),
                               .mutation = {}};
  change.mutation.row = std::move(checked[0].row);
  bool stays = false;
  for (CellWrite& put : checked[0].puts) {
    const bool here = put.column.family == family && put.column.qualifier == change.qualifier;
    stays = stays || here;
    change.mutation.puts.push_back(
        {.family = names_[put.column.family],
         .qualifier = std::move(put.column.qualifier),
         .value = std::move(put.value),
         .time = put.time != 0 ? put.time : dependencies_.clock.stamp()});
  }
  if (!stays) {
    hbase::CellDelete whole{.kind = hbase::DeleteKind::kVersions,
                            .family = change.family,
                            .qualifier = change.qualifier,
                            .time = held.time};
    if (held.time > far_ahead()) {
      CO_TRY(change.mutation.deletes, co_await by_version(change.mutation.row, std::move(whole)));
    } else {
      change.mutation.deletes.push_back(std::move(whole));
    }
    asio::steady_timer timer(co_await asio::this_coro::executor, kNextMillisecond);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return co_await dependencies_.client.check_and_mutate(dependencies_.name, std::move(change));
}

// These deletes do not hide what is written later, however old its time is.
Task<std::vector<hbase::CellDelete>> HBaseTable::by_version(const Bytes& row,
                                                            hbase::CellDelete whole) {
  std::vector<hbase::RowGet> gets(1);
  gets[0].row = row;
  gets[0].columns.push_back({.family = whole.family, .qualifiers = {}});
  gets[0].all_versions = true;
  CO_TRY(const std::vector<hbase::Row> found,
         co_await dependencies_.client.get(dependencies_.name, std::move(gets)));
  std::vector<hbase::CellDelete> deletes;
  for (const hbase::Cell& cell : found.front().cells) {
    if (cell.qualifier != whole.qualifier || cell.time > whole.time) continue;
    hbase::CellDelete& one = deletes.emplace_back(whole);
    one.kind = hbase::DeleteKind::kVersion;
    one.time = cell.time;
  }
  co_return deletes;
}

// Clocks differ a little. A cell that is far ahead is an error. If the clock followed it, the
// writes of all others would be too old.
void HBaseTable::follow(TimestampMs time) {
  if (time <= far_ahead()) dependencies_.clock.observe(time);
}

TimestampMs HBaseTable::far_ahead() const {
  return dependencies_.clock.now_ms() + dependencies_.ahead_ms_max;
}

// A delete with the time of such a cell would hide all writes until that time comes.
Task<std::vector<hbase::Row>> HBaseTable::remove_far_ahead(std::vector<hbase::RowGet> gets,
                                                           WriteEnd end) {
  for (int i = 0; i < kFarAheadMax; ++i) {
    CO_TRY(std::vector<hbase::Row> found,
           co_await dependencies_.client.get(dependencies_.name, gets));
    std::vector<hbase::RowMutation> deletes = deletes_of_newer(found, far_ahead());
    if (deletes.empty()) co_return found;
    CO_TRY_VOID(co_await dependencies_.client.mutate(dependencies_.name, std::move(deletes), end));
  }
  co_return fail(Errc::kConflict,
                 fmt::format("a cell of HBase table {} is far ahead in time, even after {} deletes",
                             dependencies_.name, kFarAheadMax));
}

// Another machine, whose clock is ahead, may have written the cells to delete.
Task<void> HBaseTable::hide(std::vector<hbase::RowMutation>& rows, WriteEnd end) {
  std::vector<hbase::RowGet> gets;
  for (const hbase::RowMutation& row : rows) {
    if (row.deletes.empty()) continue;
    hbase::RowGet& get = gets.emplace_back();
    get.row = row.row;
    for (const Bytes& family : names_) {
      hbase::FamilyColumns columns{.family = family, .qualifiers = {}};
      for (const hbase::CellDelete& one : row.deletes) {
        if (one.family == family) columns.qualifiers.push_back(one.qualifier);
      }
      if (!columns.qualifiers.empty()) get.columns.push_back(std::move(columns));
    }
  }
  CO_TRY(const std::vector<hbase::Row> found, co_await remove_far_ahead(std::move(gets), end));
  // One time for all rows: a time for each would advance the clock too far.
  const TimestampMs stamp = dependencies_.clock.stamp();
  dependencies_.clock.observe(stamp + 1);
  auto next = found.begin();
  for (hbase::RowMutation& row : rows) {
    if (row.deletes.empty()) continue;
    TimestampMs newest = 0;
    for (const hbase::Cell& cell : next->cells) newest = std::max(newest, cell.time);
    stamp_deletes(row, std::max(stamp, newest));
    follow(newest + 1);
    ++next;
  }
  co_return Result<void>();
}

Task<std::vector<Row>> HBaseTable::read(std::vector<RowRead> reads) {
  CO_TRY_VOID(check_reads(reads, names_.size()));
  std::vector<hbase::RowGet> gets;
  std::vector<Family> families;
  gets.reserve(reads.size());
  families.reserve(reads.size());
  for (RowRead& read : reads) {
    std::ranges::sort(read.qualifiers);
    const auto repeated = std::ranges::unique(read.qualifiers);
    read.qualifiers.erase(repeated.begin(), repeated.end());
    hbase::RowGet& get = gets.emplace_back();
    get.row = std::move(read.row);
    get.columns.push_back(
        {.family = names_[read.family], .qualifiers = std::move(read.qualifiers)});
    families.push_back(read.family);
  }
  CO_TRY(std::vector<hbase::Row> found,
         co_await dependencies_.client.get(dependencies_.name, std::move(gets)));
  std::vector<Row> rows;
  rows.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    rows.push_back(
        {std::move(found[i].key), cells_of(std::move(found[i].cells), expired_until(families[i]))});
  }
  co_return rows;
}

std::unique_ptr<Scanner> HBaseTable::scan(ScanSpec spec, const ReadContext& context) {
  return std::make_unique<HBaseScanner>(shared_from_this(), std::move(spec), context);
}

std::unique_ptr<PackedScanner> HBaseTable::scan_packed(ScanSpec spec, const ReadContext& context) {
  return std::make_unique<HBaseScanner>(shared_from_this(), std::move(spec), context);
}

std::vector<ScanDescription> HBaseTable::describe_scan(const ScanSpec& spec) const {
  return describe_hbase_scan(spec, *this);
}

Task<std::optional<Cell>> HBaseTable::read_cell(Bytes row, Column column) {
  std::vector<hbase::RowGet> gets(1);
  gets[0].row = std::move(row);
  gets[0].columns.push_back(
      {.family = names_[column.family], .qualifiers = {std::move(column.qualifier)}});
  CO_TRY(std::vector<hbase::Row> found,
         co_await dependencies_.client.get(dependencies_.name, std::move(gets)));
  std::vector<Cell> cells = cells_of(std::move(found.front().cells), -1);
  if (cells.empty()) co_return std::nullopt;
  co_return std::move(cells.front());
}

Task<CasOutcome> HBaseTable::replace(hbase::CellAddress at, std::optional<Cell> found,
                                     Bytes value) {
  hbase::CheckAndPut change;
  change.cell = std::move(at);
  change.value = std::move(value);
  change.time = dependencies_.clock.stamp();
  if (found) {
    change.time = std::max(change.time, found->time);
    change.expected = std::move(found->value);
  }
  follow(change.time);
  co_return co_await dependencies_.client.check_and_put(dependencies_.name, std::move(change));
}

Task<CasOutcome> HBaseTable::compare_and_put(Bytes row, Column column,
                                             std::optional<Bytes> expected, Bytes value) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, names_.size()));
  CO_TRY(std::optional<Cell> found, co_await read_cell(row, column));
  const bool there = found && found->time > expired_until(column.family);
  const bool fits = there ? expected && *expected == found->value : !expected;
  if (!fits) co_return CasOutcome::kRefused;
  hbase::CellAddress at{std::move(row), names_[column.family], std::move(column.qualifier)};
  co_return co_await replace(std::move(at), std::move(found), std::move(value));
}

Task<std::int64_t> HBaseTable::increment(Bytes row, Column column, std::int64_t delta) {
  CO_TRY_VOID(check_row_key(row));
  CO_TRY_VOID(check_family(column.family, names_.size()));
  if (ttls_ms_[column.family] != 0) {
    co_return co_await increment_by_hand(std::move(row), std::move(column), delta);
  }
  hbase::CellAddress at{std::move(row), names_[column.family], std::move(column.qualifier)};
  CO_TRY(const hbase::IncrementResult counted,
         co_await dependencies_.client.increment(dependencies_.name, std::move(at), delta));
  follow(counted.time);
  co_return counted.sum;
}

Task<std::vector<AddOutcome>> HBaseTable::add(std::vector<CounterAdd> adds) {
  CO_TRY_VOID(check_adds(adds, names_.size()));
  std::vector<AddOutcome> outcomes(adds.size());
  // Additions to one row are made one after the other, those to different rows together.
  boost::unordered_flat_map<Bytes, std::size_t> seen;
  std::vector<std::vector<std::size_t>> rounds;
  for (std::size_t i = 0; i < adds.size(); ++i) {
    const std::size_t round = seen[adds[i].row]++;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(i);
  }
  for (const std::vector<std::size_t>& round : rounds) {
    CO_TRY_VOID(co_await add_to_rows(adds, round, outcomes));
  }
  co_return outcomes;
}

// Cells get the region server's times, and expire by its clock.
Task<void> HBaseTable::add_to_rows(const std::vector<CounterAdd>& adds,
                                   const std::vector<std::size_t>& places,
                                   std::vector<AddOutcome>& outcomes) {
  std::vector<hbase::RowAdd> changes;
  changes.reserve(places.size());
  for (const std::size_t place : places) {
    const CounterAdd& add = adds[place];
    hbase::RowAdd& change = changes.emplace_back();
    change.row = add.row;
    for (const CounterAdd::Delta& one : add.deltas) {
      change.deltas.push_back({names_[one.column.family], one.column.qualifier, one.delta});
    }
    if (add.once) change.once = {add.row, names_[add.once->family], add.once->qualifier};
  }
  CO_TRY(const std::vector<hbase::RowAddResult> results,
         co_await dependencies_.client.add(dependencies_.name, std::move(changes)));
  for (std::size_t i = 0; i < places.size(); ++i) {
    outcomes[places[i]] = results[i].outcome;
    for (const hbase::Cell& counter : results[i].counters) follow(counter.time);
    if (results[i].outcome != AddOutcome::kOverflow) continue;
    CO_TRY_VOID(co_await remove_zeros(adds[places[i]], results[i].counters));
  }
  co_return Result<void>();
}

// After an addition that was undone. A counter of 0 was probably absent before; it means the same.
Task<void> HBaseTable::remove_zeros(const CounterAdd& add,
                                    const std::vector<hbase::Cell>& counters) {
  const Bytes zero(sizeof(std::int64_t), '\0');
  for (const CounterAdd::Delta& one : add.deltas) {
    for (const hbase::Cell& counter : counters) {
      const bool here =
          counter.family == names_[one.column.family] && counter.qualifier == one.column.qualifier;
      if (!here || counter.value != zero) continue;
      CO_TRY_VOID(co_await replace_cell(add.row, one.column.family,
                                        Cell{counter.qualifier, counter.value, counter.time}, {}));
    }
  }
  co_return Result<void>();
}

// For counters with a TTL: an expired cell counts as 0, which the server cannot decide.
Task<std::int64_t> HBaseTable::increment_by_hand(Bytes row, Column column, std::int64_t delta) {
  for (;;) {
    CO_TRY(std::optional<Cell> found, co_await read_cell(row, column));
    auto sum = static_cast<std::uint64_t>(delta);  // unsigned: a counter wraps
    if (found && found->time > expired_until(column.family)) {
      if (found->value.size() != sizeof(std::uint64_t)) {
        co_return std::unexpected(not_a_counter(found->value.size()));
      }
      sum += load_be<std::uint64_t>(found->value.data());
    }
    Bytes value;
    append_be(value, sum);
    hbase::CellAddress at{row, names_[column.family], column.qualifier};
    CO_TRY(const CasOutcome outcome,
           co_await replace(std::move(at), std::move(found), std::move(value)));
    // Unknown: it may have counted. Another attempt may skip a number, but returns none twice.
    if (outcome == CasOutcome::kApplied) co_return static_cast<std::int64_t>(sum);
  }
}

}  // namespace halite::storage
