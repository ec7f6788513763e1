// What a point costs in a text format, from bytes to keys and values, without series cache and
// store. Times are for one point.
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/received_sum.h"
#include "common/check.h"
#include "ingest/formats/point_format.h"

namespace halite::ingest {
namespace {

constexpr TimestampMs kTime = 1'700'000'000'000;

// Ten tags, about 190 bytes a line, as tsbs' cpu metrics have them.
SeriesName series_of(std::size_t number) {
  SeriesName name{.metric = "cpu_usage_user", .tags = {}};
  for (const std::string_view key : {"arch", "datacenter", "env", "hostname", "os", "rack",
                                     "region", "service", "team", "version"}) {
    const std::string value =
        key == "hostname" ? fmt::format("host_{}", number) : fmt::format("{}-1a", key);
    name.tags.push_back({.key = std::string(key), .value = value});
  }
  return name;
}

constexpr std::size_t kSeries = 1'000;

// `points` of each series in a row.
std::string text_of(Format format, std::size_t points) {
  const auto writer = make_writer(format);
  std::string text;
  writer->header(text);
  for (std::size_t i = 0; i < kSeries; ++i) {
    HALITE_CHECK(writer->series(series_of(i), text), "every format can say these names");
    for (std::size_t j = 0; j < points; ++j) {
      const double value = static_cast<double>((i * 7 + j * 13) % 10'000) / 100;
      const auto time = kTime + static_cast<TimestampMs>(j) * 10'000;
      HALITE_CHECK(
          writer->point({.time = time, .value = double_bits(value), .flags = kFloat}, text),
          "and these points");
    }
  }
  writer->footer(text);
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// The counter "point" is the time of one.
void parse(benchmark::State& state, Format format, const std::string& text) {
  static const PointRules kRules({}, "");
  const std::vector<std::string_view> lines = lines_of(text);
  ReceivedSum sum;
  for (auto _ : state) {
    const auto parser = make_parser(format, {}, kRules);
    for (const std::string_view line : lines) parser->line(line, sum);
  }
  benchmark::DoNotOptimize(sum.sum);
  benchmark::DoNotOptimize(sum.key_bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.counters["point"] = benchmark::Counter(
      static_cast<double>(sum.points), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_Parse(benchmark::State& state, Format format, std::size_t points) {
  parse(state, format, text_of(format, points));
}

// Ten fields a line, as Telegraf sends them.
void BM_ParseInfluxFields(benchmark::State& state) {
  std::string text;
  for (std::size_t i = 0; i < kSeries; ++i) {
    text += "cpu";
    for (const Tag& tag : series_of(i).tags) text += fmt::format(",{}={}", tag.key, tag.value);
    for (std::size_t field = 0; field < 10; ++field) {
      text +=
          fmt::format("{}usage_{}={}.{}", field == 0 ? ' ' : ',', field, (i + field) % 100, i % 10);
    }
    text += fmt::format(" {}000000\n", kTime);
  }
  parse(state, Format::kInflux, text);
}

void BM_Write(benchmark::State& state, Format format) {
  const auto writer = make_writer(format);
  std::string text;
  std::size_t points = 0;
  for (auto _ : state) {
    text.clear();
    HALITE_CHECK(writer->series(series_of(1), text), "every format can say these names");
    for (TimestampMs i = 0; i < 1'000; ++i) {
      const double value = static_cast<double>(i * 13 % 10'000) / 100;
      HALITE_CHECK(
          writer->point({.time = kTime + i * 10'000, .value = double_bits(value), .flags = kFloat},
                        text),
          "and these points");
      ++points;
    }
  }
  writer->finish(text);
  state.counters["point"] = benchmark::Counter(
      static_cast<double>(points), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The names of a series that is not in the cache.
void BM_SeriesName(benchmark::State& state, Format format) {
  class Last final : public PointReceiver {
   public:
    void series(const SeriesKey& key) override {
      metric = key.metric;
      tags = key.tags;
      grammar = key.grammar;
    }
    void point(PointBits /*point*/) override {}
    void refuse(std::string /*reason*/) override {}
    std::string metric;
    std::string tags;
    KeyGrammar grammar = KeyGrammar::kNames;
  };
  static const PointRules kRules({}, "");
  const auto parser = make_parser(format, {}, kRules);
  Last last;
  const std::string text = text_of(format, 1);
  for (const std::string_view line : lines_of(text)) parser->line(line, last);
  const SeriesKey key{.grammar = last.grammar, .metric = last.metric, .tags = last.tags};
  for (auto _ : state) benchmark::DoNotOptimize(parser->series_name(key));
}

BENCHMARK_CAPTURE(BM_Parse, opentsdb, Format::kOpenTsdb, 10);
BENCHMARK_CAPTURE(BM_Parse, influx, Format::kInflux, 10);
BENCHMARK(BM_ParseInfluxFields);
BENCHMARK_CAPTURE(BM_Parse, prometheus, Format::kPrometheus, 10);
BENCHMARK_CAPTURE(BM_Parse, openmetrics, Format::kOpenMetrics, 10);
BENCHMARK_CAPTURE(BM_Parse, vmjson, Format::kVmJson, 10);
BENCHMARK_CAPTURE(BM_Parse, vmjson_long, Format::kVmJson, 1'000);
BENCHMARK_CAPTURE(BM_Parse, promdump, Format::kPromDump, 10);
BENCHMARK_CAPTURE(BM_Parse, csv, Format::kCsv, 10);
BENCHMARK_CAPTURE(BM_Parse, graphite, Format::kGraphite, 10);
BENCHMARK_CAPTURE(BM_Write, opentsdb, Format::kOpenTsdb);
BENCHMARK_CAPTURE(BM_Write, influx, Format::kInflux);
BENCHMARK_CAPTURE(BM_Write, prometheus, Format::kPrometheus);
BENCHMARK_CAPTURE(BM_Write, openmetrics, Format::kOpenMetrics);
BENCHMARK_CAPTURE(BM_Write, vmjson, Format::kVmJson);
BENCHMARK_CAPTURE(BM_Write, promdump, Format::kPromDump);
BENCHMARK_CAPTURE(BM_Write, csv, Format::kCsv);
BENCHMARK_CAPTURE(BM_Write, graphite, Format::kGraphite);
BENCHMARK_CAPTURE(BM_SeriesName, opentsdb, Format::kOpenTsdb);
BENCHMARK_CAPTURE(BM_SeriesName, influx, Format::kInflux);
BENCHMARK_CAPTURE(BM_SeriesName, prometheus, Format::kPrometheus);
BENCHMARK_CAPTURE(BM_SeriesName, vmjson, Format::kVmJson);
BENCHMARK_CAPTURE(BM_SeriesName, csv, Format::kCsv);
BENCHMARK_CAPTURE(BM_SeriesName, graphite, Format::kGraphite);

}  // namespace
}  // namespace halite::ingest

BENCHMARK_MAIN();
