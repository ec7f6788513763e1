#include "storage/views/view_table.h"

#include <set>
#include <utility>

#include <fmt/format.h>

namespace halite::storage {
namespace {

constexpr Family kFamily = 0;
constexpr char kViews = 'v';
constexpr char kRemoved = 'x';
constexpr char kUnits = 's';
constexpr char kGroups = 'g';
constexpr char kDays = 'd';
constexpr std::size_t kIdBytes = sizeof(ViewId);
constexpr std::size_t kDayBytes = sizeof(Day);
constexpr std::size_t kWritesTogether = 4096;
const Bytes kOldest = "oldest";

Bytes number_bytes(std::uint32_t number) {
  Bytes bytes;
  append_be(bytes, number);
  return bytes;
}

std::unexpected<Error> damaged(const Row& row) {
  return fail(Errc::kCorruption,
              fmt::format("the row {} of the views is damaged", to_hex(row.key)));
}

ScanSpec scan_of(KeyRange range) {
  ScanSpec spec;
  spec.family = kFamily;
  spec.ranges.push_back(std::move(range));
  return spec;
}

KeyRange all_with(Bytes prefix) {
  Bytes end = prefix_end(prefix);
  return {.begin = std::move(prefix), .end = std::move(end)};
}

// Passes all rows of a range to `take`. The end of a scan is an empty batch.
Task<void> for_each_row(Table& table, ScanSpec spec, ReadContext context,
                        std::function<Result<void>(Row&)> take) {
  const std::unique_ptr<Scanner> scanner = table.scan(std::move(spec), context);
  while (true) {
    auto next = scanner->next({});
    CO_TRY(std::vector<Row> rows, co_await std::move(next));
    if (rows.empty()) co_return Result<void>{};
    for (Row& row : rows) CO_TRY_VOID(take(row));
  }
}

class GroupIterator final : public SeriesIterator {
 public:
  explicit GroupIterator(Table& table)
      : scanner_(table.scan(scan_of(all_with(Bytes(1, kGroups))), {})) {}

  Task<std::optional<std::vector<Bytes>>> next() override {
    auto next = scanner_->next({});
    CO_TRY(const std::vector<Row> rows, co_await std::move(next));
    if (rows.empty()) co_return std::nullopt;
    std::vector<Bytes> groups;
    for (const Row& row : rows) {
      if (row.key.size() > 1 + kIdBytes) groups.push_back(row.key.substr(1 + kIdBytes));
    }
    co_return std::optional(std::move(groups));
  }

 private:
  const std::unique_ptr<Scanner> scanner_;
};

}  // namespace

TableSpec ViewTable::spec(std::string name) {
  return {.name = std::move(name), .families = {{.name = "v"}}, .split_keys = {}};
}

Bytes ViewTable::key(char kind, ViewId view, BytesView metric) const {
  Bytes row(1, kind);
  append_be(row, view);
  row.append(metric);
  return row;
}

Task<std::vector<StoredView>> ViewTable::views() {
  std::vector<StoredView> views;
  const auto take = [&views](Row& row) -> Result<void> {
    if (row.cells.size() != 1 || row.cells[0].value.size() < kIdBytes) return damaged(row);
    const Bytes& value = row.cells[0].value;
    views.push_back({.id = load_be<ViewId>(value.data()),
                     .name = row.key.substr(1),
                     .definition = value.substr(kIdBytes)});
    return {};
  };
  CO_TRY_VOID(co_await for_each_row(*table_, scan_of(all_with(Bytes(1, kViews))), {}, take));
  co_return views;
}

Task<void> ViewTable::write_view(StoredView view) {
  std::vector<RowWrite> writes(1);
  writes[0].row = kViews + view.name;
  writes[0].puts.push_back({{kFamily, {}}, number_bytes(view.id) + view.definition, 0});
  co_return co_await table_->write(std::move(writes));
}

// The definition last, so that an interrupted removal is repeated.
Task<void> ViewTable::mark_removed(ViewId view) {
  std::vector<RowWrite> writes(1);
  writes[0].row = key(kRemoved, view, {});
  writes[0].puts.push_back({{kFamily, {}}, {}, 0});
  co_return co_await table_->write(std::move(writes));
}

Task<void> ViewTable::remove_definition(std::string name) {
  std::vector<RowWrite> writes(1);
  writes[0].row = kViews + name;
  writes[0].deletes.push_back({kFamily, {}});
  co_return co_await table_->write(std::move(writes));
}

Task<std::vector<ViewId>> ViewTable::removed() {
  std::vector<ViewId> views;
  const auto take = [&views](Row& row) -> Result<void> {
    if (row.key.size() != 1 + kIdBytes) return damaged(row);
    views.push_back(load_be<ViewId>(row.key.data() + 1));
    return {};
  };
  CO_TRY_VOID(co_await for_each_row(*table_, scan_of(all_with(Bytes(1, kRemoved))), {}, take));
  co_return views;
}

Task<void> ViewTable::clear_removed(ViewId view) {
  for (const char kind : {kUnits, kDays, kGroups, kRemoved}) {
    CO_TRY_VOID(co_await remove_rows(all_with(key(kind, view, {}))));
  }
  co_return Result<void>{};
}

Task<RangeEstimate> ViewTable::estimate(ViewId view) {
  co_return co_await table_->estimate(kFamily, {all_with(key(kDays, view, {}))});
}

Task<std::vector<StoredUnits>> ViewTable::units() {
  std::vector<StoredUnits> all;
  const auto take = [&](Row& row) -> Result<void> {
    if (row.key.size() != 1 + kIdBytes + widths_.metric) return damaged(row);
    // A long row may come in several parts.
    const ViewId view = load_be<ViewId>(row.key.data() + 1);
    const Bytes metric = row.key.substr(1 + kIdBytes);
    if (all.empty() || all.back().view != view || all.back().metric != metric) {
      all.push_back({.view = view, .metric = metric, .oldest = {}, .built = {}});
    }
    for (const Cell& cell : row.cells) {
      if (cell.value.size() != kDayBytes) return damaged(row);
      const auto number = load_be<std::uint32_t>(cell.value.data());
      if (cell.qualifier == kOldest) {
        all.back().oldest = number;
      } else if (cell.qualifier.size() == kDayBytes) {
        all.back().built[load_be<Day>(cell.qualifier.data())] = number;
      } else {
        return damaged(row);
      }
    }
    return {};
  };
  CO_TRY_VOID(co_await for_each_row(*table_, scan_of(all_with(Bytes(1, kUnits))), {}, take));
  co_return all;
}

Task<void> ViewTable::write_units(std::vector<UnitBits> days) {
  std::map<Bytes, RowWrite> rows;
  for (const UnitBits& one : days) {
    Bytes row = key(kUnits, one.view, one.metric);
    RowWrite& write = rows[row];
    write.row = std::move(row);
    Column column{kFamily, number_bytes(one.day)};
    if (one.built == 0) {
      write.deletes.push_back(std::move(column));
    } else {
      write.puts.push_back({std::move(column), number_bytes(one.built), 0});
    }
  }
  std::vector<RowWrite> writes;
  for (auto& [row, write] : rows) writes.push_back(std::move(write));
  if (writes.empty()) co_return Result<void>{};
  co_return co_await table_->write(std::move(writes));
}

Task<void> ViewTable::write_oldest(ViewId view, Bytes metric, Day oldest) {
  std::vector<RowWrite> writes(1);
  writes[0].row = key(kUnits, view, metric);
  writes[0].puts.push_back({{kFamily, kOldest}, number_bytes(oldest), 0});
  co_return co_await table_->write(std::move(writes));
}

Task<std::vector<Bytes>> ViewTable::groups(ViewId view, Bytes metric) {
  std::vector<Bytes> groups;
  const auto take = [&groups](Row& row) -> Result<void> {
    groups.push_back(row.key.substr(1 + kIdBytes));
    return {};
  };
  ScanSpec spec = scan_of(all_with(key(kGroups, view, metric)));
  spec.keys_only = true;
  CO_TRY_VOID(co_await for_each_row(*table_, std::move(spec), {}, take));
  co_return groups;
}

std::unique_ptr<SeriesIterator> ViewTable::all_groups() {
  return std::make_unique<GroupIterator>(*table_);
}

// Groups first: a name may be removed as long as no group has it.
Task<void> ViewTable::write_days(ViewId view, std::vector<StoredDay> days) {
  std::set<Bytes> groups;
  for (const StoredDay& day : days) groups.insert(day.group);
  std::vector<RowWrite> writes;
  for (const Bytes& group : groups) {
    RowWrite& write = writes.emplace_back();
    write.row = key(kGroups, view, group);
    write.puts.push_back({{kFamily, {}}, {}, 0});
    if (writes.size() < kWritesTogether) continue;
    CO_TRY_VOID(co_await table_->write(std::exchange(writes, {})));
  }
  if (!writes.empty()) CO_TRY_VOID(co_await table_->write(std::exchange(writes, {})));
  for (StoredDay& day : days) {
    RowWrite& write = writes.emplace_back();
    write.row = key(kDays, view, BytesView(day.group).substr(0, widths_.metric));
    append_be(write.row, day.day);
    write.row.append(BytesView(day.group).substr(widths_.metric));
    for (auto& [unit, cell] : day.units) {
      Column column{kFamily, Bytes(1, static_cast<char>(unit))};
      if (cell.empty()) {
        write.deletes.push_back(std::move(column));
      } else {
        write.puts.push_back({std::move(column), std::move(cell), 0});
      }
    }
    if (writes.size() < kWritesTogether) continue;
    CO_TRY_VOID(co_await table_->write(std::exchange(writes, {})));
  }
  if (writes.empty()) co_return Result<void>{};
  co_return co_await table_->write(std::move(writes));
}

Task<void> ViewTable::read_days(ViewId view, Bytes metric, Day begin, Day end, ReadContext context,
                                TakeDay take) {
  Bytes from = key(kDays, view, metric);
  Bytes to = from;
  append_be(from, begin);
  append_be(to, end);
  const auto take_row = [&](Row& row) -> Result<void> {
    const std::size_t day_at = 1 + kIdBytes + widths_.metric;
    if (row.key.size() < day_at + kDayBytes) return damaged(row);
    StoredDay day{.day = load_be<Day>(row.key.data() + day_at), .group = metric, .units = {}};
    day.group.append(BytesView(row.key).substr(day_at + kDayBytes));
    for (Cell& cell : row.cells) {
      if (cell.qualifier.size() != 1) return damaged(row);
      day.units.emplace(static_cast<std::uint8_t>(cell.qualifier[0]), std::move(cell.value));
    }
    return take(std::move(day));
  };
  co_return co_await for_each_row(*table_, scan_of({.begin = from, .end = to}), context, take_row);
}

Task<void> ViewTable::remove_days_before(ViewId view, Bytes metric, Day day) {
  Bytes begin = key(kDays, view, metric);
  Bytes end = begin;
  append_be(end, day);
  co_return co_await remove_rows({.begin = std::move(begin), .end = std::move(end)});
}

Task<void> ViewTable::remove_rows(KeyRange range) {
  std::vector<RowWrite> writes;
  const auto take = [&writes](Row& row) -> Result<void> {
    RowWrite& write = writes.emplace_back();
    write.row = row.key;
    for (const Cell& cell : row.cells) write.deletes.push_back({kFamily, cell.qualifier});
    return {};
  };
  const std::unique_ptr<Scanner> scanner = table_->scan(scan_of(std::move(range)), {});
  while (true) {
    auto next = scanner->next({});
    CO_TRY(std::vector<Row> rows, co_await std::move(next));
    if (rows.empty()) co_return Result<void>{};
    for (Row& row : rows) CO_TRY_VOID(take(row));
    CO_TRY_VOID(co_await table_->write(std::exchange(writes, {})));
  }
}

}  // namespace halite::storage
