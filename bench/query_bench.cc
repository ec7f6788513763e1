// What a question costs above its store: CPU nanoseconds a stored point, from blocks to the answer.
// The store makes its blocks up as they are asked for.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/bytes/bytes.h"
#include "common/check.h"
#include "query/engine/engine.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "storage/catalog/series_table.h"
#include "tests/support/run_task.h"

namespace halite::query {
namespace {

using storage::Block;
using storage::Series;
using storage::SeriesId;

constexpr TimestampMs kT = 1'356'998'400'000;
constexpr std::uint32_t kShards = 16;

class Everything final : public storage::Selection {};

// Series of one metric with a point every step, hour by hour as rows of hours would give them.
class MadeUpScan final : public storage::BlockScan {
 public:
  MadeUpScan(SeriesId series, std::int64_t step_ms, TimeRange range, std::uint32_t shard,
             bool floats)
      : series_(series),
        step_ms_(step_ms),
        range_(range),
        shard_(shard),
        id_(shard),
        floats_(floats),
        hour_(range.begin) {}

  Task<std::vector<Block>> next() override {
    std::vector<Block> blocks;
    while (hour_ < range_.end && blocks.size() < 256) {
      if (id_ >= series_) {
        id_ = shard_;
        hour_ += kHour;
        continue;
      }
      blocks.push_back(make_block());
      id_ += kShards;
    }
    co_return std::move(blocks);
  }

 private:
  static constexpr std::int64_t kHour = 3'600'000;

  Block make_block() const {
    Block block;
    block.series = id_;
    const auto count = static_cast<std::size_t>(kHour / step_ms_);
    block.times.resize(count);
    block.values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      block.times[i] = hour_ + static_cast<std::int64_t>(i) * step_ms_;
      const auto value = static_cast<std::int64_t>(i * 7 + id_);
      block.values[i] =
          floats_ ? double_bits(static_cast<double>(value) * 0.1) : integer_bits(value);
    }
    if (floats_) block.floats.set();
    return block;
  }

  const SeriesId series_;
  const std::int64_t step_ms_;
  const TimeRange range_;
  const std::uint32_t shard_;
  SeriesId id_;
  const bool floats_;
  TimestampMs hour_;
};

class MadeUpStore final : public storage::PointStore {
 public:
  MadeUpStore(SeriesId series, std::int64_t step_ms, bool floats)
      : step_ms_(step_ms), floats_(floats) {
    for (SeriesId i = 0; i < series; ++i) {
      storage::NewSeries one;
      one.metric_uid = 1;
      one.shard = i % kShards;
      one.metric = "m";
      names_.push_back(fmt::format("host{:05}", i));
      one.tags = {{.key = "host", .value = names_.back(), .key_uid = 1, .value_uid = i + 1},
                  {.key = "dc", .value = "lga", .key_uid = 2, .value_uid = 1}};
      append_be_width(one.tsuid, 1, 3);
      for (const storage::SeriesTag& tag : one.tags) {
        append_be_width(one.tsuid, tag.key_uid, 3);
        append_be_width(one.tsuid, tag.value_uid, 3);
      }
      HALITE_CHECK(series_.add(one).value() == i, "no series twice");
    }
  }

  const Series& series(SeriesId id) const override { return series_.at(id); }
  std::uint32_t shard_count() const override { return kShards; }
  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery,
                                                         storage::ReadContext) override {
    co_return std::make_shared<Everything>();
  }
  std::unique_ptr<storage::BlockScan> scan(std::shared_ptr<const storage::Selection>,
                                           TimeRange range, std::uint32_t shard) override {
    return std::make_unique<MadeUpScan>(static_cast<SeriesId>(series_.size()), step_ms_, range,
                                        shard, floats_);
  }

  // Not asked for by questions.
  Task<storage::InternedSeries> intern(std::vector<SeriesName>, storage::CreateNames) override {
    co_return unused();
  }
  Task<storage::Accepted> append(storage::PointBatch) override { co_return unused(); }
  Task<storage::PinnedSeries> lookup(std::shared_ptr<const storage::Selection>,
                                     std::size_t) override {
    co_return unused();
  }
  Task<storage::PinnedLastPoints> last(std::shared_ptr<const storage::Selection>,
                                       TimeRange) override {
    co_return unused();
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection>, TimeRange) override {
    co_return unused();
  }
  Task<std::vector<std::string>> suggest(storage::NameKind, std::string, std::size_t) override {
    co_return unused();
  }
  Task<void> settle() override { co_return Result<void>{}; }
  Task<void> flush() override { co_return unused(); }
  Task<void> seal() override { co_return unused(); }

 private:
  static std::unexpected<Error> unused() { return fail(Errc::kUnsupported, "not for this bench"); }

  const std::int64_t step_ms_;
  const bool floats_;
  storage::SeriesTable series_{{.series = 1'000'000}};
  std::deque<std::string> names_;
};

struct Case {
  const char* name;
  SeriesId series;
  int hours;
  const char* m;
  bool floats = false;
};

constexpr std::array kCases = {
    Case{"one_host_12h_1m_avg", 1, 12, "sum:1m-avg:m"},
    Case{"one_host_12h_raw", 1, 12, "sum:m"},
    Case{"1000_hosts_1h_1m_avg", 1000, 1, "sum:1m-avg:m"},
    Case{"1000_hosts_1h_1m_avg_doubles", 1000, 1, "sum:1m-avg:m", true},
    Case{"1000_hosts_1h_1m_max_by_host", 1000, 1, "max:1m-max:m{host=*}"},
    Case{"1000_hosts_1h_1m_p99", 1000, 1, "p99:1m-avg:m"},
    Case{"1000_hosts_1h_rate", 1000, 1, "sum:rate{counter}:m"},
    Case{"1000_hosts_1h_raw_sum", 1000, 1, "sum:m"},
    Case{"1000_hosts_1h_raw_none", 1000, 1, "none:m"},
    Case{"10000_hosts_24h_1m_avg", 10'000, 24, "sum:1m-avg:m"},
    Case{"10000_hosts_24h_raw_sum", 10'000, 24, "sum:m"},
};

void run_case(benchmark::State& state, const Case& one) {
  MadeUpStore store(one.series, 10'000, one.floats);
  const SystemClock clock;
  prometheus::Registry metrics;
  boost::asio::thread_pool pool(4);
  QueryEngine engine(store, clock, {}, false,
                     {.large = pool.get_executor(), .small = pool.get_executor()}, metrics);
  ParseContext context;
  context.now = kT;
  // The last second of the last hour, so that no further hour is read.
  const TimestampMs end = kT + one.hours * 3'600'000LL - 60'000;
  const auto question = parse_question_uri(
      {{"start", fmt::format("{}ms", kT)}, {"end", fmt::format("{}ms", end)}, {"m", one.m}},
      context);
  HALITE_CHECK(question, question.error().message);
  std::uint64_t points = 0;
  for (auto _ : state) {
    const auto answer = test::run_task(engine.run(*question, {}));
    HALITE_CHECK(answer, answer.error().message);
    points += (*answer)->cost.points_read;
    benchmark::DoNotOptimize(answer);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(points));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
  pool.join();
}

const bool kRegistered = [] {
  for (const Case& one : kCases) {
    benchmark::RegisterBenchmark(one.name, run_case, one)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace halite::query

BENCHMARK_MAIN();
