// What a point costs on its way in, without the store: telnet lines and JSON bodies, whose series
// are in the cache or not. Times are for one point; the store takes everything and does nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/check.h"
#include "common/clock.h"
#include "ingest/json/sent_point.h"
#include "ingest/series_cache/series_cache.h"
#include "ingest/telnet/put_line.h"
#include "ingest/writer.h"
#include "storage/api/point_store.h"

namespace halite::ingest {
namespace {

// Gives every name a new id and forgets points.
class NullStore final : public storage::PointStore {
 public:
  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames) override {
    std::vector<Result<storage::SeriesId>> ids;
    ids.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) ids.emplace_back(next_++);
    co_return storage::InternedSeries(pin_series(), std::move(ids));
  }
  [[nodiscard]] const storage::Series& series(storage::SeriesId) const override { return series_; }
  Task<storage::Accepted> append(storage::PointBatch batch) override {
    benchmark::DoNotOptimize(batch.values.data());
    co_return storage::Accepted{.durable = Completion::done(), .refused = {}};
  }
  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery,
                                                         storage::ReadContext) override {
    co_return unread();
  }
  [[nodiscard]] std::uint32_t shard_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<storage::BlockScan> scan(std::shared_ptr<const storage::Selection>,
                                                         TimeRange, std::uint32_t) override {
    return nullptr;
  }
  Task<storage::PinnedSeries> lookup(std::shared_ptr<const storage::Selection>,
                                     std::size_t) override {
    co_return unread();
  }
  Task<storage::PinnedLastPoints> last(std::shared_ptr<const storage::Selection>,
                                       TimeRange) override {
    co_return unread();
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection>, TimeRange) override {
    co_return unread();
  }
  Task<std::vector<std::string>> suggest(storage::NameKind, std::string, std::size_t) override {
    co_return unread();
  }
  Task<void> settle() override { co_return Result<void>{}; }
  Task<void> flush() override { co_return Result<void>(); }
  Task<void> seal() override { co_return Result<void>(); }

 private:
  static std::unexpected<Error> unread() { return fail(Errc::kUnsupported, "not read"); }
  storage::Series series_;
  storage::SeriesId next_ = 0;
};

struct Bench {
  explicit Bench(std::size_t cache_bytes) : writer(store, clock, options(cache_bytes), registry) {}

  static IngestOptions options(std::size_t cache_bytes) {
    IngestOptions made;
    made.limits.series_cache_bytes_max = cache_bytes;
    return made;
  }

  template <class T>
  T run(Task<T> task) {
    T value{};
    boost::asio::co_spawn(context, std::move(task),
                          [&](const std::exception_ptr& thrown, Result<T> result) {
                            HALITE_CHECK(!thrown && result, "the store takes everything");
                            value = *std::move(result);
                          });
    context.restart();
    context.run();
    return value;
  }

  NullStore store;
  SystemClock clock;
  prometheus::Registry registry;
  boost::asio::io_context context;
  Writer writer;
};

constexpr std::size_t kCacheBytes = std::size_t{1} << 30;

// Ten tags, about 190 bytes a line, as tsbs' cpu metrics have them.
std::string tags_of(std::size_t series, std::string_view format, std::string_view between) {
  constexpr std::string_view kKeys[] = {"arch",   "datacenter", "hostname", "os",   "rack",
                                        "region", "service",    "env",      "team", "version"};
  std::string text;
  for (std::size_t i = 0; i < std::size(kKeys); ++i) {
    if (i > 0) text += between;
    const std::string value =
        kKeys[i] == "hostname" ? fmt::format("host_{}", series) : fmt::format("{}{}", kKeys[i], i);
    text += fmt::format(fmt::runtime(format), kKeys[i], value);
  }
  return text;
}

// Lines side by side, as they lie in a connection's buffer.
class Lines {
 public:
  explicit Lines(std::size_t series, bool shuffled = false) {
    std::vector<std::size_t> order(series);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffled) std::ranges::shuffle(order, std::minstd_rand(1));
    std::vector<std::size_t> ends;
    for (const std::size_t i : order) {
      text_ += fmt::format("put cpu.usage_user {} {}.{} {}", 1'451'606'400 + i, i % 100, i % 10,
                           tags_of(i, "{}={}", " "));
      ends.push_back(text_.size());
    }
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      lines_.push_back(std::string_view(text_).substr(begin, end - begin));
      begin = end;
    }
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  [[nodiscard]] auto begin() const { return lines_.begin(); }
  [[nodiscard]] auto end() const { return lines_.end(); }
  [[nodiscard]] std::size_t size() const { return lines_.size(); }

 private:
  std::string text_;
  std::vector<std::string_view> lines_;
};

void add_all(Bench& bench, TelnetBatch& batch, const Lines& lines) {
  std::string replies;
  for (const std::string_view line : lines) {
    batch.add(line, replies);
    if (batch.full()) benchmark::DoNotOptimize(bench.run(batch.flush(replies)));
  }
  benchmark::DoNotOptimize(bench.run(batch.flush(replies)));
  HALITE_CHECK(replies.empty(), "every line is taken");
}

void per_point(benchmark::State& state, std::size_t points) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * points));
  state.counters["ns_per_point"] =
      benchmark::Counter(static_cast<double>(state.iterations() * points) / 1e9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_PutLineHit(benchmark::State& state) {
  const Lines lines(static_cast<std::size_t>(state.range(0)));
  Bench bench(kCacheBytes);
  TelnetBatch batch(bench.writer);
  add_all(bench, batch, lines);
  for (auto _ : state) add_all(bench, batch, lines);
  per_point(state, lines.size());
}
BENCHMARK(BM_PutLineHit)->Arg(1000)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void BM_PutLineHitRandomOrder(benchmark::State& state) {
  const auto series = static_cast<std::size_t>(state.range(0));
  Bench bench(kCacheBytes);
  TelnetBatch batch(bench.writer);
  add_all(bench, batch, Lines(series));
  const Lines lines(series, true);
  for (auto _ : state) add_all(bench, batch, lines);
  per_point(state, lines.size());
}
BENCHMARK(BM_PutLineHitRandomOrder)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void BM_PutLineMiss(benchmark::State& state) {
  const Lines lines(10'000);
  Bench bench(0);
  TelnetBatch batch(bench.writer);
  for (auto _ : state) add_all(bench, batch, lines);
  per_point(state, lines.size());
}
BENCHMARK(BM_PutLineMiss)->Unit(benchmark::kMillisecond);

void BM_SplitPutLine(benchmark::State& state) {
  const Lines lines(1000);
  PutPieces pieces;
  for (auto _ : state) {
    for (const std::string_view line : lines) {
      benchmark::DoNotOptimize(split_put_line(line, pieces));
      benchmark::DoNotOptimize(pieces);
    }
  }
  per_point(state, lines.size());
}
BENCHMARK(BM_SplitPutLine);

void BM_ParsePutLine(benchmark::State& state) {
  const Lines lines(1000);
  const PointRules rules({}, "");
  for (auto _ : state) {
    for (const std::string_view line : lines) {
      benchmark::DoNotOptimize(parse_put_line(line, rules));
    }
  }
  per_point(state, lines.size());
}
BENCHMARK(BM_ParsePutLine);

// Bodies of 1000 points over so many series.
std::vector<std::string> bodies_of(std::size_t series) {
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < series; ++i) {
    if (i % 1000 == 0) {
      if (!bodies.empty()) bodies.back() += ']';
      bodies.emplace_back("[");
    } else {
      bodies.back() += ',';
    }
    bodies.back() +=
        fmt::format(R"({{"metric":"cpu.usage_user","timestamp":{},"value":{}.{},"tags":{{{}}}}})",
                    1'451'606'400 + i, i % 100, i % 10, tags_of(i, R"("{}":"{}")", ","));
  }
  bodies.back() += ']';
  return bodies;
}

void put_all(Bench& bench, const std::vector<std::string>& bodies) {
  for (const std::string& body : bodies) {
    const PutOutcome outcome = bench.run(bench.writer.put_json(body));
    HALITE_CHECK(outcome.failed == 0, "every point is taken");
  }
}

void BM_PutJsonHit(benchmark::State& state) {
  const auto bodies = bodies_of(static_cast<std::size_t>(state.range(0)));
  Bench bench(kCacheBytes);
  put_all(bench, bodies);
  for (auto _ : state) put_all(bench, bodies);
  per_point(state, static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(BM_PutJsonHit)->Arg(1000)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void BM_PutJsonMiss(benchmark::State& state) {
  const auto bodies = bodies_of(10'000);
  Bench bench(0);
  for (auto _ : state) put_all(bench, bodies);
  per_point(state, 10'000);
}
BENCHMARK(BM_PutJsonMiss)->Unit(benchmark::kMillisecond);

// Several senders at once: the cache is shared.
void BM_PutLineHitThreads(benchmark::State& state) {
  static const Lines kLines(10'000);
  static Bench shared(kCacheBytes);
  TelnetBatch batch(shared.writer);
  std::string replies;
  boost::asio::io_context context;
  const auto round = [&] {
    for (const std::string_view line : kLines) batch.add(line, replies);
    boost::asio::co_spawn(context, batch.flush(replies),
                          [](const std::exception_ptr&, const Result<TelnetBatch::Flushed>&) {});
    context.restart();
    context.run();
  };
  round();
  for (auto _ : state) round();
  per_point(state, kLines.size());
}
BENCHMARK(BM_PutLineHitThreads)->Threads(1)->Threads(4)->UseRealTime();

}  // namespace
}  // namespace halite::ingest

BENCHMARK_MAIN();
