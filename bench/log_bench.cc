// What a point costs on its way into the log and back: encoding its record, appending it, the
// commit, decoding and replay. Times are for one point; bytes are those of records.
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/wal/log.h"
#include "storage/tsdb/wal/records.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

constexpr std::size_t kSeries = 10'000;
constexpr std::size_t kShards = 16;

// A batch as one shard gets it: every sixteenth series, all at one time.
struct Batch {
  std::vector<std::uint32_t> series;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;
  [[nodiscard]] log_records::PointColumns columns() const {
    return {3, series, times, values, flags};
  }
};

Batch batch_of(std::size_t points, bool floats) {
  std::mt19937_64 random(1);
  Batch batch;
  for (std::size_t i = 0; i < points; ++i) {
    batch.series.push_back(static_cast<std::uint32_t>(i * kShards % kSeries));
    batch.times.push_back(1'700'000'000'000 +
                          static_cast<TimestampMs>(i * kShards / kSeries * 10'000));
    batch.values.push_back(floats ? double_bits(static_cast<double>(random() % 100'000) / 100)
                                  : integer_bits(static_cast<std::int64_t>(random() % 100)));
    batch.flags.push_back(floats ? kFloat : 0);
  }
  return batch;
}

void report(benchmark::State& state, std::size_t points, std::size_t bytes) {
  const auto rounds = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(rounds * static_cast<std::int64_t>(points));
  state.SetBytesProcessed(rounds * static_cast<std::int64_t>(bytes));
  state.counters["bytes/point"] = static_cast<double>(bytes) / static_cast<double>(points);
  state.counters["per point"] =
      benchmark::Counter(static_cast<double>(rounds) * static_cast<double>(points),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Encode(benchmark::State& state) {
  const Batch batch = batch_of(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  Bytes payload;
  for (auto round : state) {
    payload.clear();
    log_records::append_points(payload, batch.columns());
    benchmark::DoNotOptimize(payload.data());
  }
  report(state, batch.series.size(), payload.size());
}
BENCHMARK(BM_Encode)->ArgsProduct({{10, 1000}, {0, 1}})->ArgNames({"points", "floats"});

class Nothing final : public log_records::SectionVisitor {
 public:
  Result<void> name(const log_records::NameRecord&) override { return {}; }
  Result<void> series(const log_records::SeriesRecord&) override { return {}; }
  Result<void> points(const log_records::PointColumns& points) override {
    benchmark::DoNotOptimize(points.values.data());
    return {};
  }
};

void BM_Decode(benchmark::State& state) {
  const Batch batch = batch_of(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  Bytes payload;
  log_records::append_points(payload, batch.columns());
  log_records::SectionReader reader;
  Nothing nothing;
  for (auto round : state) HALITE_CHECK(reader.read(payload, nothing), "a record does not read");
  report(state, batch.series.size(), payload.size());
}
BENCHMARK(BM_Decode)->ArgsProduct({{10, 1000}, {0, 1}})->ArgNames({"points", "floats"});

std::unique_ptr<Log> open_log(const std::string& dir, prometheus::Registry& registry,
                              std::uint64_t* replayed_bytes = nullptr) {
  LogOptions options;
  options.dir = dir;
  ReplayCallbacks callbacks;
  callbacks.record = [replayed_bytes](Sequence, BytesView payload) -> Result<void> {
    if (replayed_bytes != nullptr) *replayed_bytes += payload.size();
    return {};
  };
  auto log = Log::open(posix_files(), options, callbacks, registry);
  HALITE_CHECK(log, log.error().message);
  return *std::move(log);
}

// All threads of the process count: encoding, append, the committer's checksums and writes. The
// directory is in memory where there is one, so the disk's own time is not in it.
void BM_Append(benchmark::State& state) {
  const test::TempDir dir;
  prometheus::Registry registry;
  const std::unique_ptr<Log> log = open_log(dir.path() + "/log", registry);
  const Batch batch = batch_of(static_cast<std::size_t>(state.range(0)), state.range(1) != 0);
  Bytes payload;
  for (auto round : state) {
    payload.clear();
    log_records::append_points(payload, batch.columns());
    HALITE_CHECK(test::run_task(log->wait_for_space()), "no room in the log");
    const auto sequence = log->append(payload);
    HALITE_CHECK(sequence, sequence.error().message);
    if (*sequence % 10'000 == 0) {
      HALITE_CHECK(log->truncate_upto(log->cut()), "segments are not dropped");
    }
  }
  report(state, batch.series.size(), payload.size());
  HALITE_CHECK(log->close(), "the log does not close");
}
BENCHMARK(BM_Append)
    ->ArgsProduct({{1000}, {0, 1}})
    ->ArgNames({"points", "floats"})
    ->MeasureProcessCPUTime()
    ->UseRealTime();

void BM_Replay(benchmark::State& state) {
  constexpr std::size_t kBatches = 5'000;
  const test::TempDir dir;
  prometheus::Registry registry;
  const Batch batch = batch_of(1000, false);
  Bytes payload;
  log_records::append_points(payload, batch.columns());
  {
    const std::unique_ptr<Log> log = open_log(dir.path() + "/log", registry);
    for (std::size_t i = 0; i < kBatches; ++i) {
      HALITE_CHECK(test::run_task(log->wait_for_space()), "no room in the log");
      HALITE_CHECK(log->append(payload), "a record is not taken");
    }
    HALITE_CHECK(log->close(), "the log does not close");
  }
  for (auto round : state) {
    std::uint64_t bytes = 0;
    open_log(dir.path() + "/log", registry, &bytes);
    HALITE_CHECK(bytes == kBatches * payload.size(), "not all came back");
  }
  report(state, kBatches * batch.series.size(), kBatches * payload.size());
}
BENCHMARK(BM_Replay)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace halite::storage

BENCHMARK_MAIN();
