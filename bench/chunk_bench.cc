// What a point of each shape costs as part of a chunk: bytes, and time to encode and decode.
// Sealed chunks have 24 h at 10 s a series, as tsbench's days have, 3 h or 1 h; flushed ones 360
// points. The counter "bytes" is bytes a point of all of a chunk and "ns" the CPU time of a point;
// "bound", where it is there, the order-0 entropy of the shape's steps, which no coder of single
// steps goes below.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/check.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/codecs/decimal_floats.h"
#include "storage/tsdb/chunk/summary.h"
#include "tests/support/point_shapes.h"

namespace halite::storage::chunk {
namespace {

constexpr std::size_t kDayPoints = 8640;
constexpr std::size_t kThreeHoursPoints = 1080;
constexpr std::size_t kHourPoints = 360;
constexpr std::size_t kFlushPoints = 360;
constexpr std::size_t kAllPoints = 50 * kDayPoints;  // of each bench, over all its series

std::vector<Points> series_of(const Shape& shape, Beat beat, std::size_t points) {
  Random random(20261121);
  std::vector<Points> series;
  for (std::size_t i = 0; i < kAllPoints / points; ++i) {
    series.push_back(make_points(shape, beat, points, random));
  }
  return series;
}

struct Packed {
  std::vector<Bytes> chunks;
  std::size_t bytes = 0;
};

Packed packed(const std::vector<Points>& series, Level level) {
  Encoder encoder;
  Packed made;
  for (const Points& points : series) {
    made.chunks.emplace_back();
    encoder.encode(points.view(), level, made.chunks.back());
    made.bytes += made.chunks.back().size();
  }
  return made;
}

// Bytes a step, by the shares of all steps of all series; of doubles, the steps of their decimals.
double order_0_entropy(const std::vector<Points>& series, unsigned decimals) {
  std::map<std::int64_t, double> counts;
  double all = 0;
  for (const Points& points : series) {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const auto value = static_cast<std::int64_t>(
          points.floats[i]
              ? to_mantissa(as_double(points.values[i]), kPowersOfTen[decimals]).mantissa
              : points.values[i]);
      if (i > 0) ++counts[value - before];
      all += i > 0 ? 1 : 0;
      before = value;
    }
  }
  double bits = 0;
  for (const auto& [step, count] : counts) bits -= count * std::log2(count / all);
  return bits / all / 8;
}

void count_points(benchmark::State& state, std::size_t bytes) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kAllPoints));
  state.counters["ns"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kAllPoints * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes"] = static_cast<double>(bytes) / kAllPoints;
}

void BM_encode(benchmark::State& state, const Shape& shape, Beat beat, Level level,
               std::size_t chunk_points) {
  const auto series = series_of(shape, beat, chunk_points);
  Encoder encoder;
  Bytes bytes;
  for (auto _ : state) {
    bytes.clear();
    for (const Points& points : series) encoder.encode(points.view(), level, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  count_points(state, bytes.size());
}

void BM_decode(benchmark::State& state, const Shape& shape, Beat beat, Level level) {
  const auto series = series_of(shape, beat, level == Level::kFast ? kFlushPoints : kDayPoints);
  const Packed chunks = packed(series, level);
  Decoder decoder;
  Points points;
  for (auto _ : state) {
    for (const Bytes& chunk : chunks.chunks) {
      points.clear();
      HALITE_CHECK(decoder.decode(chunk, points), "decodes");
      benchmark::DoNotOptimize(points.values.data());
    }
  }
  count_points(state, chunks.bytes);
}

void BM_bound(benchmark::State& state, const Shape& shape, unsigned decimals) {
  const auto series = series_of(shape, Beat::kSteady, kDayPoints);
  double bound = 0;
  for (auto _ : state) bound = order_0_entropy(series, decimals);
  count_points(state, packed(series, Level::kSealed).bytes);
  state.counters["bound"] = bound;
}

// An hour each of a day; "bytes" are of a day's.
void BM_summaries(benchmark::State& state, const Shape& shape) {
  constexpr std::int64_t kHourMs = 3'600'000;
  const auto series = series_of(shape, Beat::kSteady, kDayPoints);
  Bytes bytes;
  for (auto _ : state) {
    bytes.clear();
    for (const Points& points : series) encode_summaries(points.view(), kHourMs, bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
  count_points(state, bytes.size() * kAllPoints / series.size());
}

void add_benches() {
  for (const Shape& shape : all_shapes()) {
    for (const Level level : {Level::kFast, Level::kSealed}) {
      const std::string at =
          std::string(level == Level::kFast ? "flushed/" : "sealed/") + shape.name;
      benchmark::RegisterBenchmark(("encode/" + at).c_str(), BM_encode, shape, Beat::kSteady, level,
                                   level == Level::kFast ? kFlushPoints : kDayPoints);
      benchmark::RegisterBenchmark(("decode/" + at).c_str(), BM_decode, shape, Beat::kSteady,
                                   level);
    }
    benchmark::RegisterBenchmark(("encode/sealed, 3 h/" + shape.name).c_str(), BM_encode, shape,
                                 Beat::kSteady, Level::kSealed, kThreeHoursPoints);
    benchmark::RegisterBenchmark(("encode/sealed, 1 h/" + shape.name).c_str(), BM_encode, shape,
                                 Beat::kSteady, Level::kSealed, kHourPoints);
  }
  const Shape still = other_shapes().front();
  const std::pair<Beat, const char*> beats[] = {{Beat::kGaps, "gaps"},
                                                {Beat::kJitter, "jitter of ms"},
                                                {Beat::kSecondsJitter, "jitter of s"}};
  for (const auto& [beat, name] : beats) {
    const std::string at = std::string("sealed/times: ") + name;
    benchmark::RegisterBenchmark(("encode/" + at).c_str(), BM_encode, still, beat, Level::kSealed,
                                 kDayPoints);
    benchmark::RegisterBenchmark(("decode/" + at).c_str(), BM_decode, still, beat, Level::kSealed);
  }
  const std::vector<Shape> shapes = metric_shapes();
  for (const Shape& shape : shapes) {
    benchmark::RegisterBenchmark(("encode/summaries/" + shape.name).c_str(), BM_summaries, shape);
  }
  const unsigned decimals[] = {0, 2, 4, 0};
  for (std::size_t i = 0; i < std::size(decimals); ++i) {
    benchmark::RegisterBenchmark(("bound/sealed/" + shapes[i].name).c_str(), BM_bound, shapes[i],
                                 decimals[i])
        ->Iterations(1);
  }
}

}  // namespace
}  // namespace halite::storage::chunk

int main(int argc, char** argv) {
  halite::storage::chunk::add_benches();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
