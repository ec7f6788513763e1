// What the cell point store itself costs, with a table below that costs nothing (append) or a
// sorted map (scan).
#include <benchmark/benchmark.h>
#include <boost/asio/io_context.hpp>
#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/cell_point_store.h"
#include "storage/memory_store.h"
#include "storage/schema/cyclic_layout.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr TimestampMs kNow = 1'700'000'000'000;

// Takes writes and forgets them.
class NullTable final : public Table {
 public:
  explicit NullTable(std::shared_ptr<Table> inner) : inner_(std::move(inner)) {}
  Task<void> write(std::vector<RowWrite> rows) override {
    benchmark::DoNotOptimize(rows.data());
    co_return Result<void>();
  }
  Task<std::vector<Row>> read(std::vector<RowRead> reads) override {
    return inner_->read(std::move(reads));
  }
  std::unique_ptr<Scanner> scan(ScanSpec spec) override { return inner_->scan(std::move(spec)); }
  Task<std::int64_t> increment(Bytes row, Column column, std::int64_t delta) override {
    return inner_->increment(std::move(row), std::move(column), delta);
  }
  Task<CasOutcome> compare_and_put(Bytes row, Column column, std::optional<Bytes> expected,
                                   Bytes value) override {
    return inner_->compare_and_put(std::move(row), std::move(column), std::move(expected),
                                   std::move(value));
  }

 private:
  const std::shared_ptr<Table> inner_;
};

class BenchStore final : public WideColumnStore {
 public:
  BenchStore(const Clock& clock, bool forget) : inner_(clock), forget_(forget) {}
  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override {
    const bool data = spec.name == "tsdb";
    CO_TRY(std::shared_ptr<Table> table, co_await inner_.open_table(std::move(spec)));
    if (data && forget_) table = std::make_shared<NullTable>(std::move(table));
    co_return table;
  }
  Task<void> close() override { return inner_.close(); }

 private:
  MemoryStore inner_;
  bool forget_;
};

class Bench {
 public:
  explicit Bench(bool forget, int series_count) : cells_(clock_, forget) {
    CyclicOptions cyclic;
    std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(cyclic).value();
    CellPointStore::Parts parts{
        cells_, layout, layout->parameters(), clock_, context_.get_executor(), metrics_};
    points_ = run_task(CellPointStore::open(std::move(parts), {})).value();
    std::vector<SeriesName> names;
    for (int i = 0; i < series_count; ++i) {
      names.push_back({"sys.cpu.user",
                       {{"cpu", std::to_string(i % 8)}, {"host", "web" + std::to_string(i / 8)}}});
    }
    for (const auto& id : run_task(points_->intern(names, CreateNames())).value()) {
      ids_.push_back(id.value());
    }
  }
  ~Bench() {
    context_.restart();
    context_.run();
  }

  void append(TimestampMs time) {
    PointBatch batch;
    for (const SeriesId id : ids_) batch.add(id, time, double_bits(0.5), kFloat | kMillis);
    const Accepted accepted = run_task(points_->append(std::move(batch))).value();
    context_.restart();
    context_.run();
    HALITE_CHECK(accepted.durable.finished(), "the write ran");
  }
  CellPointStore& points() { return *points_; }

 private:
  FakeClock clock_{kNow};
  boost::asio::io_context context_;
  prometheus::Registry metrics_;
  BenchStore cells_;
  std::unique_ptr<CellPointStore> points_;
  std::vector<SeriesId> ids_;
};

void append_one_point_a_series(benchmark::State& state) {
  const int series_count = static_cast<int>(state.range(0));
  Bench bench(true, series_count);
  TimestampMs time = kNow;
  for (auto _ : state) bench.append(++time);
  state.SetItemsProcessed(state.iterations() * series_count);
}
BENCHMARK(append_one_point_a_series)->Arg(10)->Arg(1000)->Arg(10000);

void scan_points(benchmark::State& state) {
  const int series_count = static_cast<int>(state.range(0));
  constexpr int kPoints = 360;
  Bench bench(false, series_count);
  for (int i = 0; i < kPoints; ++i) bench.append(kNow + 10'000 * i);
  SeriesQuery query;
  query.metric = "sys.cpu.user";
  query.filters = {{FilterType::kWildcard, "host", "*"}};
  std::int64_t points = 0;
  for (auto _ : state) {
    const auto selection = run_task(bench.points().select(query)).value();
    for (std::uint32_t shard = 0; shard < bench.points().shard_count(); ++shard) {
      const auto scan = bench.points().scan(selection, {kNow, kNow + 3'600'000}, shard);
      for (;;) {
        const auto blocks = run_task(scan->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) points += static_cast<std::int64_t>(block.size());
      }
    }
  }
  HALITE_CHECK(points == state.iterations() * series_count * kPoints, "all points are read");
  state.SetItemsProcessed(points);
}
BENCHMARK(scan_points)->Arg(1000);

}  // namespace
}  // namespace halite::storage

BENCHMARK_MAIN();
