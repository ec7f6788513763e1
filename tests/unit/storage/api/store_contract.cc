#include "tests/unit/storage/api/store_contract.h"

#include <fmt/format.h>

#include "storage/api/scan.h"

namespace halite::storage {

using test::run_task;

std::vector<StoreKind> lasting_store_kinds() {
  std::vector<StoreKind> kinds = store_kinds();
  std::erase_if(kinds, [](const StoreKind& kind) { return !kind.lasts; });
  return kinds;
}

TableSpec two_families(std::string name) {
  return {.name = std::move(name),
          .families = {{.name = "d", .ttl_ms = 0}, {.name = "t", .ttl_ms = kShortTtlMs}},
          .split_keys = {}};
}

void StoreContract::SetUp() {
  harness_ = GetParam().make(clock_);
  open(spec_);
}

void StoreContract::TearDown() {
  table_.reset();
  const Result<void> closed = run_task(harness_->store().close());
  EXPECT_TRUE(closed) << closed.error().message;
}

void StoreContract::open(TableSpec spec) {
  spec_ = std::move(spec);
  auto table = run_task(harness_->store().open_table(spec_));
  ASSERT_TRUE(table) << table.error().message;
  table_ = *table;
}

void StoreContract::reopen() {
  table_.reset();
  harness_->reopen();
  open(spec_);
}

Result<void> StoreContract::put(const Bytes& row, const Bytes& qualifier, const Bytes& value,
                                TimestampMs time, Family family) {
  RowWrite write;
  write.row = row;
  write.puts.push_back({{family, qualifier}, value, time});
  return run_task(table_->write({write}));
}

Result<void> StoreContract::remove(const Bytes& row, const Bytes& qualifier, Family family) {
  RowWrite write;
  write.row = row;
  write.deletes.push_back({family, qualifier});
  return run_task(table_->write({write}));
}

std::optional<Bytes> StoreContract::get(const Bytes& row, const Bytes& qualifier, Family family) {
  const auto rows = run_task(table_->read({{row, family, {qualifier}}}));
  if (!rows || rows->size() != 1 || rows->front().key != row) {
    ADD_FAILURE() << (rows ? "not the row asked for" : rows.error().message);
    return std::nullopt;
  }
  if (rows->front().cells.empty()) return std::nullopt;
  EXPECT_EQ(rows->front().cells.front().qualifier, qualifier);
  return rows->front().cells.front().value;
}

std::vector<Cell> StoreContract::cells(const Bytes& row, Family family) {
  const auto rows = run_task(table_->read({{row, family, {}}}));
  if (!rows || rows->size() != 1) {
    ADD_FAILURE() << (rows ? "not one row" : rows.error().message);
    return {};
  }
  return rows->front().cells;
}

std::vector<Row> StoreContract::scan(const ScanSpec& spec, ScanLimit limit) {
  const std::unique_ptr<Scanner> scanner = table_->scan(spec, {});
  std::vector<Row> all;
  while (true) {
    auto batch = run_task(scanner->next(limit));
    if (!batch) {
      ADD_FAILURE() << batch.error().message;
      return all;
    }
    if (batch->empty()) {
      expect_packed(spec, limit, all);
      return all;
    }
    std::size_t cells = 0;
    for (Row& row : *batch) {
      cells += row.cells.size();
      EXPECT_FALSE(row.cells.empty()) << "a row without a wanted cell: " << to_hex(row.key);
      if (!all.empty() && all.back().key == row.key) {
        EXPECT_EQ(&row, &batch->front()) << "a row in two pieces of one batch";
        all.back().cells.insert(all.back().cells.end(), row.cells.begin(), row.cells.end());
      } else {
        all.push_back(std::move(row));
      }
    }
    EXPECT_LE(batch->size(), limit.rows_max);
    EXPECT_LE(cells, limit.cells_max);
  }
}

// The other way to read a scan finds the same.
void StoreContract::expect_packed(const ScanSpec& spec, ScanLimit limit,
                                  const std::vector<Row>& expected) {
  const std::unique_ptr<PackedScanner> scanner = table_->scan_packed(spec, {});
  std::vector<std::string> found;
  Bytes last;
  for (;;) {
    const auto batch = run_task(scanner->next_packed(limit));
    ASSERT_TRUE(batch) << batch.error().message;
    if (batch->empty()) break;
    for (const RowRef& row : batch->rows) {
      ASSERT_FALSE(batch->cells_of(row).empty()) << to_hex(row.key);
      const bool goes_on = !found.empty() && &row == &batch->rows.front() && row.key == last;
      if (!goes_on) found.push_back(to_hex(row.key));
      last = row.key;
      for (const CellRef& cell : batch->cells_of(row)) {
        found.back() += fmt::format(" {}={}@{}", to_hex(cell.qualifier), cell.value, cell.time);
      }
    }
  }
  std::vector<std::string> texts;
  for (const Row& row : expected) {
    texts.push_back(to_hex(row.key));
    for (const Cell& cell : row.cells) {
      texts.back() += fmt::format(" {}={}@{}", to_hex(cell.qualifier), cell.value, cell.time);
    }
  }
  EXPECT_EQ(found, texts);
}

std::vector<Bytes> StoreContract::scan_keys(const ScanSpec& spec, ScanLimit limit) {
  std::vector<Bytes> keys;
  for (Row& row : scan(spec, limit)) keys.push_back(std::move(row.key));
  return keys;
}

std::string text_of(const Row& row) {
  std::string text = row.key + ":";
  for (const Cell& cell : row.cells) {
    if (text.back() != ':') text += ' ';
    text += cell.qualifier + "=" + cell.value;
  }
  return text;
}

std::vector<std::string> texts_of(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const Row& row : rows) texts.push_back(text_of(row));
  return texts;
}

Bytes numbered(std::string_view prefix, std::size_t number) {
  return fmt::format("{}{:06}", prefix, number);
}

}  // namespace halite::storage
