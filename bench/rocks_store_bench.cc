// What a cell costs in RocksStore: written by many callers at once, scanned, checked at the start.
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <benchmark/benchmark.h>
#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/backends/rocks/inspect/wal_check.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/files/posix_files.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::run_tasks;

constexpr int kWriters = 16;
constexpr std::uint64_t kSeriesCount = 10'000;

class Store {
 public:
  Store() {
    RocksOptions options;
    options.dir = dir_.path() + "/store";
    store_ = RocksStore::open(options, clock_, registry_).value();
    table_ =
        run_task(store_->open_table({.name = "t", .families = {{.name = "d"}}, .split_keys = {}}))
            .value();
  }
  ~Store() {
    table_.reset();
    HALITE_CHECK(run_task(store_->close()), "the store does not close");
  }
  const std::shared_ptr<Table>& table() const { return table_; }
  std::string dir() const { return dir_.path() + "/store"; }

 private:
  test::TempDir dir_;
  SystemClock clock_;
  prometheus::Registry registry_;
  std::unique_ptr<RocksStore> store_;
  std::shared_ptr<Table> table_;
};

// The shape of points: 20 bytes of row, an hour of 4-byte qualifiers, 8 bytes of value.
RowWrite point(std::uint64_t number) {
  const std::uint64_t series = number % kSeriesCount;
  const std::uint64_t time = number / kSeriesCount;
  RowWrite write;
  append_be_width(write.row, series % 16, 1);
  append_be_width(write.row, 1, 3);
  append_be_width(write.row, 1356998400 + time / 360 * 3600, 4);
  append_be_width(write.row, 1, 3);
  append_be_width(write.row, series, 3);
  append_be_width(write.row, 2, 3);
  append_be_width(write.row, series / 7, 3);
  CellWrite cell;
  append_be_width(cell.column.qualifier, time % 360 * 10, 4);
  append_be_width(cell.value, number * 2654435761u, 8);
  write.puts.push_back(std::move(cell));
  return write;
}

Task<void> write_some(std::shared_ptr<Table> table, std::uint64_t from, std::uint64_t count) {
  std::vector<RowWrite> rows;
  rows.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) rows.push_back(point(from + i));
  co_return co_await table->write(std::move(rows));
}

std::uint64_t write_round(const Store& store, std::uint64_t from, std::uint64_t batch) {
  std::vector<Task<void>> tasks;
  for (int writer = 0; writer < kWriters; ++writer, from += batch) {
    tasks.push_back(write_some(store.table(), from, batch));
  }
  for (const auto& outcome : run_tasks(std::move(tasks), 2)) {
    HALITE_CHECK(outcome, "a write failed");
  }
  return from;
}

void write_cells(benchmark::State& state) {
  const Store store;
  const auto batch = static_cast<std::uint64_t>(state.range(0));
  std::uint64_t next = 0;
  for (auto _ : state) next = write_round(store, next, batch);
  state.SetItemsProcessed(static_cast<std::int64_t>(next));
}
BENCHMARK(write_cells)->Arg(10)->Arg(1000)->MeasureProcessCPUTime()->UseRealTime();

void scan_cells(benchmark::State& state) {
  const Store store;
  for (std::uint64_t next = 0; next < 1'000'000;) next = write_round(store, next, 1000);
  std::int64_t cells = 0;
  for (auto _ : state) {
    const auto scanner = store.table()->scan({}, {});
    while (true) {
      const std::vector<Row> rows = run_task(scanner->next({})).value();
      if (rows.empty()) break;
      for (const Row& row : rows) cells += static_cast<std::int64_t>(row.cells.size());
    }
  }
  state.SetItemsProcessed(cells);
}
BENCHMARK(scan_cells)->MeasureProcessCPUTime()->UseRealTime();

void check_log(benchmark::State& state) {
  const Store store;
  for (std::uint64_t next = 0; next < 300'000;) next = write_round(store, next, 1000);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    for (const auto& entry : std::filesystem::directory_iterator(store.dir())) {
      if (entry.path().extension() != ".log") continue;
      HALITE_CHECK(rocks::scan_log(*posix_files(), entry.path()), "cannot read the log");
      bytes += static_cast<std::int64_t>(entry.file_size());
    }
  }
  state.SetBytesProcessed(bytes);
}
BENCHMARK(check_log);

}  // namespace
}  // namespace halite::storage

BENCHMARK_MAIN();
