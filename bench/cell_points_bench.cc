// What the cell point store costs: alone (a table below that forgets), over a sorted map, and over
// RocksDB.
#include <benchmark/benchmark.h>
#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

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
  std::unique_ptr<Scanner> scan(ScanSpec spec, const ReadContext& context) override {
    return inner_->scan(std::move(spec), context);
  }
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

enum class Below { kNothing, kMemory, kRocks };

class BenchStore final : public WideColumnStore {
 public:
  BenchStore(const Clock& clock, Below below, prometheus::Registry& metrics)
      : forget_(below == Below::kNothing) {
    if (below == Below::kRocks) {
      RocksOptions options;
      options.dir = dir_.path() + "/data";
      inner_ = RocksStore::open(options, clock, metrics).value();
    } else {
      inner_ = std::make_unique<MemoryStore>(clock);
    }
  }
  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override {
    const bool data = spec.name == "tsdb";
    CO_TRY(std::shared_ptr<Table> table, co_await inner_->open_table(std::move(spec)));
    if (data && forget_) table = std::make_shared<NullTable>(std::move(table));
    co_return table;
  }
  Task<void> close() override { return inner_->close(); }

 private:
  test::TempDir dir_;
  std::unique_ptr<WideColumnStore> inner_;
  bool forget_;
};

class Bench {
 public:
  Bench(Below below, int series_count) : cells_(clock_, below, metrics_) {
    CyclicOptions cyclic;
    std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(cyclic).value();
    CellPointStore::Dependencies dependencies{
        cells_, layout, layout->parameters(), clock_, background_.get_executor(), metrics_};
    points_ = run_task(CellPointStore::open(std::move(dependencies), {})).value();
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
    HALITE_CHECK(run_task(points_->close()), "all writes are good");
    points_.reset();
    HALITE_CHECK(run_task(cells_.close()), "closes");
  }

  // Several batches under way at a time, as from several connections.
  void append(TimestampMs time, int batches) {
    for (int i = 0; i < batches; ++i) {
      PointBatch batch;
      for (const SeriesId id : ids_) batch.add(id, time + i, double_bits(0.5), kFloat | kMillis);
      HALITE_CHECK(run_task(points_->append(std::move(batch))), "taken");
    }
    HALITE_CHECK(run_task(points_->flush()), "written");
  }
  CellPointStore& points() { return *points_; }

 private:
  FakeClock clock_{kNow};
  boost::asio::thread_pool background_{1};
  prometheus::Registry metrics_;
  BenchStore cells_;
  std::unique_ptr<CellPointStore> points_;
  std::vector<SeriesId> ids_;
};

void append(benchmark::State& state, Below below) {
  const int series_count = static_cast<int>(state.range(0));
  constexpr int kBatches = 32;
  Bench bench(below, series_count);
  TimestampMs time = kNow;
  for (auto _ : state) {
    bench.append(time, kBatches);
    time += kBatches;
  }
  state.SetItemsProcessed(state.iterations() * series_count * kBatches);
}
BENCHMARK_CAPTURE(append, nothing, Below::kNothing)->Arg(10)->Arg(1000)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(append, rocks, Below::kRocks)->Arg(10)->Arg(1000)->MeasureProcessCPUTime();

void scan(benchmark::State& state, Below below) {
  const int series_count = static_cast<int>(state.range(0));
  constexpr int kPoints = 360;
  Bench bench(below, series_count);
  for (int i = 0; i < kPoints; ++i) bench.append(kNow + 10'000 * i, 1);
  SeriesQuery query;
  query.metric = "sys.cpu.user";
  query.filters = {{FilterType::kWildcard, "host", "*"}};
  std::int64_t points = 0;
  for (auto _ : state) {
    const auto selection = run_task(bench.points().select(query, {})).value();
    for (std::uint32_t shard = 0; shard < bench.points().shard_count(); ++shard) {
      const auto blocks_of = bench.points().scan(selection, {kNow, kNow + 3'600'000}, shard);
      for (;;) {
        const auto blocks = run_task(blocks_of->next()).value();
        if (blocks.empty()) break;
        for (const Block& block : blocks) points += static_cast<std::int64_t>(block.size());
      }
    }
  }
  HALITE_CHECK(points == state.iterations() * series_count * kPoints, "all points are read");
  state.SetItemsProcessed(points);
}
BENCHMARK_CAPTURE(scan, memory, Below::kMemory)->Arg(1000)->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(scan, rocks, Below::kRocks)->Arg(1000)->MeasureProcessCPUTime();

}  // namespace
}  // namespace halite::storage

BENCHMARK_MAIN();
