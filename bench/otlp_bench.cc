// What a data point of OTLP costs, from bytes to keys and values, without series cache and store.
// Times are for one point: 10,000 with 5 attributes each, in metrics of 100.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/received_sum.h"
#include "common/bytes/bytes.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "common/check.h"
#include "ingest/otlp/otlp_body.h"

namespace halite::ingest {
namespace {

constexpr std::uint64_t kTime = 1'700'000'000'000'000'000;
constexpr std::size_t kMetrics = 100;
constexpr std::size_t kPoints = 100;  // of each

Bytes message(std::uint32_t field, BytesView content) {
  Bytes bytes;
  append_varint(bytes, field << 3 | 2);
  append_varint(bytes, content.size());
  return bytes.append(content);
}
Bytes fixed(std::uint32_t field, std::uint64_t value) {
  Bytes bytes;
  append_varint(bytes, field << 3 | 1);
  append_le(bytes, value);
  return bytes;
}

std::string value_of(std::size_t attribute, std::size_t metric, std::size_t point) {
  return fmt::format("value-{}-{}", attribute, attribute == 0 ? metric * kPoints + point : metric);
}
constexpr std::string_view kKeys[] = {"http.route", "http.request.method", "server.address",
                                      "network.protocol.version", "host"};

Bytes protobuf_body() {
  Bytes metrics;
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    Bytes gauge;
    for (std::size_t i = 0; i < kPoints; ++i) {
      Bytes point = fixed(2, kTime - 60'000'000'000) + fixed(3, kTime) +
                    fixed(4, std::bit_cast<std::uint64_t>(static_cast<double>(i) / 8));
      for (std::size_t a = 0; a < std::size(kKeys); ++a) {
        point += message(7, message(1, kKeys[a]) + message(2, message(1, value_of(a, metric, i))));
      }
      gauge += message(1, point);
    }
    metrics += message(2, message(1, fmt::format("http.server.metric.{}", metric)) +
                              message(3, "s") + message(5, gauge));
  }
  const Bytes resource = message(1, message(1, "service.name") + message(2, message(1, "shop")));
  return message(1, message(1, resource) + message(2, metrics));
}

std::string json_body() {
  std::string metrics;
  for (std::size_t metric = 0; metric < kMetrics; ++metric) {
    if (metric > 0) metrics += ',';
    metrics += fmt::format(
        R"({{"name":"http.server.metric.{}","unit":"s","gauge":{{"dataPoints":[)", metric);
    for (std::size_t i = 0; i < kPoints; ++i) {
      metrics += fmt::format(R"({}{{"startTimeUnixNano":"{}","timeUnixNano":"{}","asDouble":{},)",
                             i > 0 ? "," : "", kTime, kTime, static_cast<double>(i) / 8);
      metrics += R"("attributes":[)";
      for (std::size_t a = 0; a < std::size(kKeys); ++a) {
        metrics += fmt::format(R"({}{{"key":"{}","value":{{"stringValue":"{}"}}}})",
                               a > 0 ? "," : "", kKeys[a], value_of(a, metric, i));
      }
      metrics += "]}";
    }
    metrics += "]}}";
  }
  return R"({"resourceMetrics":[{"resource":{"attributes":[{"key":"service.name","value":)"
         R"({"stringValue":"shop"}}]},"scopeMetrics":[{"metrics":[)" +
         metrics + "]}]}]}";
}

// The counter "point" is the time of one.
void BM_Otlp(benchmark::State& state, OtlpEncoding encoding) {
  const Bytes bytes = encoding == OtlpEncoding::kJson ? json_body() : protobuf_body();
  ReceivedSum sum;
  for (auto _ : state) {
    const Result<void> read = make_otlp_body(encoding, bytes, {})->read(sum);
    HALITE_CHECK(read.has_value(), "the body is a request");
  }
  benchmark::DoNotOptimize(sum.sum);
  benchmark::DoNotOptimize(sum.key_bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
  state.counters["point"] = benchmark::Counter(
      static_cast<double>(sum.points), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(BM_Otlp, protobuf, OtlpEncoding::kProtobuf);
BENCHMARK_CAPTURE(BM_Otlp, json, OtlpEncoding::kJson);

}  // namespace
}  // namespace halite::ingest

BENCHMARK_MAIN();
