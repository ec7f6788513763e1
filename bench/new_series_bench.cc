// What series that a store has never seen cost it: intern() and append() of batches of a thousand,
// each series with a host of its own and two tags that many share. Then the flush that writes the
// rows of names and series.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/check.h"
#include "common/threads/run_here.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/engine_store.h"

namespace halite::storage {
namespace {

constexpr TimestampMs kMoment = 1'700'000'000'000;
constexpr std::size_t kBatch = 1000;

template <class T>
T must(Result<T> result) {
  HALITE_CHECK(result, result.error().message);
  return std::move(*result);
}

class World {
 public:
  World() {
    std::string name = (std::filesystem::temp_directory_path() / "halite-bench-XXXXXX").string();
    HALITE_CHECK(mkdtemp(name.data()) != nullptr, "no directory");
    dir_ = name;
    RocksOptions rocks;
    rocks.dir = dir_ / "rocks";
    rows_ = must(RocksStore::open(rocks, clock_, registry_));
    EngineOptions options;
    options.dir = dir_ / "engine";
    options.head_freeze_bytes = 1 << 30;
    EngineStore::Dependencies dependencies{.store = *rows_,
                                           .layout = must(CyclicLayout::make({})),
                                           .clock = clock_,
                                           .files = posix_files(),
                                           .registry = registry_};
    points_ = must(run_here(EngineStore::open(std::move(dependencies), options)));
  }
  ~World() {
    HALITE_CHECK(run_here(points_->close()), "not closed");
    points_.reset();
    HALITE_CHECK(run_here(rows_->close()), "not closed");
    rows_.reset();
    std::filesystem::remove_all(dir_);
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  EngineStore& points() { return *points_; }

 private:
  std::filesystem::path dir_;
  const FakeClock clock_{kMoment};
  prometheus::Registry registry_;
  std::unique_ptr<RocksStore> rows_;
  std::unique_ptr<EngineStore> points_;
};

std::vector<SeriesName> new_hosts(std::size_t first) {
  std::vector<SeriesName> names(kBatch);
  for (std::size_t i = 0; i < kBatch; ++i) {
    names[i].metric = "cpu.usage_user";
    names[i].tags = {{"datacenter", fmt::format("region-{}", i % 9)},
                     {"hostname", fmt::format("host_{}", first + i)},
                     {"service", fmt::format("{}", i % 20)}};
  }
  return names;
}

void take(EngineStore& points, std::size_t first) {
  const auto ids = must(run_here(points.intern(new_hosts(first), CreateNames())));
  PointBatch batch;
  for (const auto& id : ids) batch.add(*id, kMoment, first, 0);
  must(run_here(points.append(std::move(batch))));
}

void BM_NewSeries(benchmark::State& state) {
  World world;
  std::size_t first = 0;
  for (auto _ : state) {
    take(world.points(), first);
    first += kBatch;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(first));
}
BENCHMARK(BM_NewSeries)->Iterations(1000)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

// Each iteration a hundred thousand of them, and the flush alone is timed.
void BM_FlushOfNewSeries(benchmark::State& state) {
  World world;
  std::size_t first = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (int i = 0; i < 100; ++i, first += kBatch) take(world.points(), first);
    state.ResumeTiming();
    HALITE_CHECK(run_here(world.points().flush()), "not flushed");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(first));
}
BENCHMARK(BM_FlushOfNewSeries)
    ->Iterations(5)
    ->MeasureProcessCPUTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace halite::storage

BENCHMARK_MAIN();
