// What a point costs in a body of remote_write, from bytes to keys and values, without compression,
// series cache and store. Times are for one point.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "bench/received_sum.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/proto_reader.h"
#include "common/bytes/varint.h"
#include "common/check.h"
#include "ingest/remote_write/remote_write_body.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

constexpr TimestampMs kTime = 1'700'000'000'000;
constexpr std::size_t kSeries = 10'000;

// The name and ten labels, about 190 bytes.
std::vector<Tag> labels_of(std::size_t number) {
  std::vector<Tag> labels = {{.key = std::string(kNameLabel), .value = "cpu_usage_user"}};
  for (const std::string_view key : {"arch", "datacenter", "env", "hostname", "os", "rack",
                                     "region", "service", "team", "version"}) {
    const std::string value =
        key == "hostname" ? fmt::format("host_{}", number) : fmt::format("{}-1a", key);
    labels.push_back({.key = std::string(key), .value = value});
  }
  return labels;
}

void append_field(Bytes& to, std::uint64_t number, BytesView bytes) {
  append_varint(to, number << 3 | static_cast<std::uint64_t>(ProtoWire::kBytes));
  append_varint(to, bytes.size());
  to += bytes;
}

Bytes sample_of(std::size_t number) {
  Bytes sample = "\x09";
  append_le(sample, double_bits(static_cast<double>(number * 7 % 10'000) / 100));
  sample += '\x10';
  append_varint(sample, static_cast<std::uint64_t>(kTime) + number % 1000);
  return sample;
}

Bytes body_of(RemoteWriteVersion version) {
  Bytes series_fields;
  Bytes symbols;
  std::unordered_map<std::string, std::uint64_t> refs;
  const auto ref_of = [&](const std::string& symbol) {
    const auto [at, added] = refs.emplace(symbol, refs.size());
    if (added) append_field(symbols, 4, symbol);
    return at->second;
  };
  static_cast<void>(ref_of(""));
  for (std::size_t i = 0; i < kSeries; ++i) {
    Bytes series;
    Bytes packed;
    for (const Tag& label : labels_of(i)) {
      if (version == RemoteWriteVersion::k1) {
        LabelFields::append(series, label.key, label.value);
      } else {
        append_varint(packed, ref_of(label.key));
        append_varint(packed, ref_of(label.value));
      }
    }
    if (!packed.empty()) append_field(series, 1, packed);
    append_field(series, 2, sample_of(i));
    append_field(series_fields, version == RemoteWriteVersion::k1 ? 1 : 5, series);
  }
  return version == RemoteWriteVersion::k1 ? series_fields : symbols + series_fields;
}

// The counter "point" is the time of one.
void BM_Read(benchmark::State& state, RemoteWriteVersion version) {
  const Bytes bytes = body_of(version);
  ReceivedSum sum;
  for (auto _ : state) {
    const auto body = make_remote_write_body(version, bytes, {});
    HALITE_CHECK(body->read(sum), "it is a request");
  }
  benchmark::DoNotOptimize(sum.sum);
  benchmark::DoNotOptimize(sum.key_bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
  state.counters["point"] = benchmark::Counter(
      static_cast<double>(sum.points), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The names of a series that is not in the cache.
void BM_SeriesName(benchmark::State& state) {
  const Bytes bytes = body_of(RemoteWriteVersion::k1);
  const auto body = make_remote_write_body(RemoteWriteVersion::k1, bytes, {});
  ReceivedSum sum;
  HALITE_CHECK(body->read(sum), "it is a request");
  const SeriesKey key{.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = sum.last_tags};
  for (auto _ : state) benchmark::DoNotOptimize(body->series_name(key));
}

BENCHMARK_CAPTURE(BM_Read, v1, RemoteWriteVersion::k1);
BENCHMARK_CAPTURE(BM_Read, v2, RemoteWriteVersion::k2);
BENCHMARK(BM_SeriesName);

}  // namespace
}  // namespace halite::ingest

BENCHMARK_MAIN();
