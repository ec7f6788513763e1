// What a series costs in memory, to take in, and to find again: a million of them, 10 metrics of
// each host, with the ten tags that monitoring agents send.
//
//   index_bench            prints the bytes of the heap that each part takes, and what a series
//                          cache finds that is too small, then runs the benches
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "common/check.h"
#include "ingest/series_cache/series_cache.h"
#include "storage/api/point_store.h"
#include "storage/catalog/filter_series.h"
#include "storage/catalog/series_table.h"
#include "storage/tsdb/head/head.h"

namespace halite {
namespace {

using storage::NewSeries;
using storage::SeriesId;
using storage::SeriesTable;
using storage::TagKeyMatcher;

constexpr std::uint32_t kMetrics = 10;
constexpr std::uint32_t kHosts = 100'000;
constexpr SeriesId kSeries = kHosts * kMetrics;

// Tags after the first, which is the host's name: how many values each has.
struct Key {
  const char* name;
  std::uint64_t values;
};
constexpr std::array<Key, 9> kKeys = {{{"region", 9},
                                       {"datacenter", 27},
                                       {"rack", 100},
                                       {"os", 3},
                                       {"arch", 2},
                                       {"team", 4},
                                       {"service", 20},
                                       {"service_version", 2},
                                       {"service_environment", 3}}};

std::uint64_t value_of(std::uint64_t host, std::size_t key) {
  return (host * 0x9E37'79B9'7F4A'7C15ULL >> 8) / (key + 1) % kKeys[key].values;
}

// All names there are, where they stay.
class Names {
 public:
  Names() {
    for (std::uint32_t i = 0; i < kHosts; ++i) hosts_.push_back(fmt::format("host_{}", i));
    for (const Key& key : kKeys) {
      for (std::uint64_t i = 0; i < key.values; ++i) {
        values_[static_cast<std::size_t>(&key - kKeys.data())].push_back(
            fmt::format("{}-{}", key.name, i));
      }
    }
    for (std::uint32_t i = 0; i < kMetrics; ++i) metrics_.push_back(fmt::format("cpu.usage_{}", i));
  }

  [[nodiscard]] const std::string& metric(std::uint32_t i) const { return metrics_[i]; }

  [[nodiscard]] std::vector<storage::SeriesTag> tags(std::uint64_t host) const {
    std::vector<storage::SeriesTag> tags;
    tags.push_back(
        {.key = "hostname", .value = hosts_[host], .key_uid = 1, .value_uid = 1000 + host});
    for (std::size_t key = 0; key < kKeys.size(); ++key) {
      const std::uint64_t value = value_of(host, key);
      tags.push_back({.key = kKeys[key].name,
                      .value = values_[key][value],
                      .key_uid = key + 2,
                      .value_uid = (key * 100) + value});
    }
    return tags;
  }

 private:
  std::deque<std::string> hosts_;
  std::array<std::deque<std::string>, kKeys.size()> values_;
  std::deque<std::string> metrics_;
};

const Names& names() {
  static const Names kNames;
  return kNames;
}

NewSeries make_series(SeriesId id) {
  NewSeries series;
  const std::uint32_t metric = id % kMetrics;
  series.metric_uid = metric + 1;
  series.metric = names().metric(metric);
  series.shard = id % 20;
  series.tags = names().tags(id / kMetrics);
  append_be_width(series.tsuid, series.metric_uid, 3);
  for (const storage::SeriesTag& tag : series.tags) {
    append_be_width(series.tsuid, tag.key_uid, 3);
    append_be_width(series.tsuid, tag.value_uid, 3);
  }
  return series;
}

SeriesTable& table() {
  static SeriesTable& made_once = *[] {
    auto* const made = new SeriesTable({.series = kSeries * 2});
    for (SeriesId id = 0; id < kSeries; ++id) {
      HALITE_CHECK(made->add(make_series(id)).value() == id, "room for all");
    }
    return made;
  }();
  return made_once;
}

// The series of table() as a point store shows them.
class TableNames : public storage::PointSink {
 public:
  [[nodiscard]] const storage::Series& series(SeriesId id) const override { return table().at(id); }
  Task<storage::InternedSeries> intern(std::vector<SeriesName> /*names*/,
                                       storage::CreateNames /*create*/) override {
    co_return storage::InternedSeries();
  }
  Task<storage::Accepted> append(storage::PointBatch /*batch*/) override {
    co_return storage::Accepted();
  }
};

// The tags of a host as a telnet line has them.
const std::string& line_tags(std::uint64_t host) {
  static const std::vector<std::string>& made_once = *[] {
    auto* const made = new std::vector<std::string>(kHosts);
    for (std::uint64_t i = 0; i < kHosts; ++i) {
      for (const storage::SeriesTag& tag : names().tags(i)) {
        (*made)[i] += fmt::format("{}{}={}", (*made)[i].empty() ? "" : " ", tag.key, tag.value);
      }
    }
    return made;
  }();
  return made_once[host];
}

ingest::SeriesKey line_key(SeriesId id) {
  return {.grammar = ingest::KeyGrammar::kPutLine,
          .metric = names().metric(id % kMetrics),
          .tags = line_tags(id / kMetrics)};
}

// Looks a series up, and adds it if it is missing, as a writer does.
bool look_up(ingest::SeriesCache& cache, ingest::SeriesCache::Reader& reader, SeriesId id) {
  const ingest::SeriesKey key = line_key(id);
  const std::uint64_t hash = cache.hash(key);
  reader.refresh();
  if (reader.find_in_order(key, hash)) return true;
  cache.insert(key, hash, id, cache.epoch());
  return false;
}

constexpr std::size_t kSmallCacheBytes = 16 << 20;

// The share of look-ups that find a text in a cache that is too small, by the order of series. In a
// shuffled order fewer texts fit, because the metrics of a host share one only within a segment.
void print_hit_shares() {
  SeriesId fit = 0;
  {
    ingest::SeriesCache cache(kSmallCacheBytes, 1);
    auto reader = cache.reader({});
    while (cache.keys() == fit) look_up(cache, reader, fit++);
  }
  fmt::print("\n{:<34} {:>8} {:>8} {:>8} {:>8}\n", "series, as multiples of what fits", "ideal",
             "cyclic", "shuffled", "zipfian");
  for (const std::uint32_t times : {1U, 2U, 4U, 8U}) {
    const SeriesId series = std::min(fit * times, kSeries);
    std::vector<double> shares;
    for (const std::string_view order : {"cyclic", "shuffled", "zipfian"}) {
      ingest::SeriesCache cache(kSmallCacheBytes, 1);
      auto reader = cache.reader({});
      std::vector<SeriesId> ids(series);
      std::iota(ids.begin(), ids.end(), SeriesId{0});
      std::minstd_rand random(1);
      std::uniform_real_distribution<double> share(0, 1);
      std::ranges::shuffle(ids, random);  // zipfian: the rank of each
      if (order == "cyclic") std::ranges::sort(ids);
      std::uint64_t found = 0;
      constexpr int kRounds = 12;
      constexpr int kWarmRounds = 2;  // not counted
      for (int round = 0; round < kRounds; ++round) {
        if (order == "shuffled") std::ranges::shuffle(ids, random);
        for (SeriesId i = 0; i < series; ++i) {
          // The inverse of the distribution function of a Zipf law with exponent 1.
          const SeriesId id =
              order == "zipfian"
                  ? ids[static_cast<std::size_t>(std::pow(series, share(random))) - 1]
                  : ids[i];
          const bool hit = look_up(cache, reader, id);
          if (hit && round >= kWarmRounds) ++found;
        }
      }
      shares.push_back(static_cast<double>(found) / (kRounds - kWarmRounds) / series);
    }
    fmt::print("{:<34} {:8.2f} {:8.2f} {:8.2f} {:8.2f}\n",
               fmt::format("{} ({} series)", times, series),
               std::min(1.0, static_cast<double>(fit) / series), shares[0], shares[1], shares[2]);
  }
}

// Series from `begin` on in a cyclic order; `bytes_max` decides which level of the cache answers.
void look_up_cyclic(benchmark::State& state, std::size_t bytes_max, SeriesId begin) {
  const TableNames source;
  ingest::SeriesCache cache(bytes_max, 1, &source);
  auto reader = cache.reader({});
  for (SeriesId id = 0; id < kSeries; ++id) look_up(cache, reader, id);
  const std::size_t texts = cache.keys();
  SeriesId next = begin;
  std::int64_t found = 0;
  for (auto _ : state) {
    found += look_up(cache, reader, next) ? 1 : 0;
    next = next + 1 == kSeries ? begin : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["texts"] = static_cast<double>(texts);
  state.counters["found"] = static_cast<double>(found) / static_cast<double>(state.iterations());
}

std::size_t heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

template <class Work>
// `beside` is what comes from the system and not from the heap.
void print_heap(
    const char* what, const Work& work,
    const std::function<std::size_t()>& beside = [] { return std::size_t{0}; }) {
  const std::size_t before = heap_bytes() + beside();
  work();
  fmt::print("{:<34} {:7.1f} bytes a series\n", what,
             static_cast<double>(heap_bytes() + beside() - before) / kSeries);
}

void print_memory() {
  names();
  line_tags(0);
  print_heap("series, tags, index", [] { table(); });
  static ingest::SeriesCache cache(1ULL << 30, 1);
  print_heap("keys as agents send them", [] {
    for (SeriesId id = 0; id < kSeries; ++id) {
      const ingest::SeriesKey key = line_key(id);
      cache.insert(key, cache.hash(key), id, 0);
    }
    HALITE_CHECK(cache.keys() > kSeries / 1000 * 999, "room for all but those that collide");
  });
  static storage::Head head(1, 20, kSeries * 2);
  const auto points = [](int count) {
    static TimestampMs now = 1'700'000'000'000;
    for (int i = 0; i < count; ++i, now += 10'000) {
      for (SeriesId id = 0; id < kSeries; ++id) {
        storage::HeadShard& shard = head.shard(id % 20);
        auto place = head.position_of(id);
        if (!place) {
          place = shard.add_series(id);
          head.set_position(id, *place);
        }
        shard.append(*place, {.time = now, .value = (id + i) % 100, .is_float = false});
      }
    }
  };
  const auto slabs = [] {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < head.shard_count(); ++i) bytes += head.shard(i).bytes();
    return bytes;
  };
  print_heap("a generation of the head, 1 point", [&points] { points(1); }, slabs);
  print_heap("  and 10 more points", [&points] { points(10); }, slabs);
  print_heap("  and 49 more points", [&points] { points(49); }, slabs);
}

void add_series(benchmark::State& state) {
  std::vector<NewSeries> made;
  for (SeriesId id = 0; id < kSeries / 10; ++id) made.push_back(make_series(id));
  for (auto _ : state) {
    SeriesTable fresh({.series = kSeries});
    for (const NewSeries& series : made) benchmark::DoNotOptimize(fresh.add(series));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(made.size()));
}

// The series of one metric that pass conditions.
void select(benchmark::State& state, const std::vector<TagKeyMatcher>& matchers) {
  std::size_t found = 0;
  const std::size_t end = table().count_of_metric(1);
  for (auto _ : state) {
    const auto ids =
        storage::filter_series(table(), {.metric_uid = 1, .begin = 0, .end = end},
                               {.matchers = matchers, .tags_exactly = std::nullopt}, nullptr);
    found = ids->size();
  }
  state.counters["series"] = static_cast<double>(found);
}

TagKeyMatcher literal(std::uint64_t key, std::vector<std::uint64_t> values) {
  TagKeyMatcher condition(key);
  condition.want_any_of(values);
  return condition;
}

TagKeyMatcher pattern(std::uint64_t key, storage::FilterType type, const char* text) {
  TagKeyMatcher condition(key);
  condition.want_match(storage::TagMatcher::compile({type, "", text}, storage::Regexps()).value(),
                       type == storage::FilterType::kRegexp);
  return condition;
}

}  // namespace
}  // namespace halite

int main(int argc, char** argv) {
  using halite::TagKeyMatcher;
  using halite::storage::FilterType;
  halite::print_memory();
  halite::print_hit_shares();
  benchmark::RegisterBenchmark("add_series", halite::add_series)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("look_up_by_text", [](benchmark::State& state) {
    halite::look_up_cyclic(state, std::size_t{1} << 30, 0);
  });
  benchmark::RegisterBenchmark("look_up_by_names", [](benchmark::State& state) {
    halite::look_up_cyclic(state, std::size_t{128} << 20, halite::kSeries - 100'000);
  });
  const auto question = [](const char* name, const std::vector<TagKeyMatcher>& matchers) {
    benchmark::RegisterBenchmark(name, [matchers](benchmark::State& state) {
      halite::select(state, matchers);
    })->Unit(benchmark::kMicrosecond);
  };
  question("one_host", {halite::literal(1, {5000})});
  question("one_host_and_a_team", {halite::literal(1, {5000}), halite::literal(7, {501})});
  question("eight_hosts", {halite::literal(1, {1005, 1105, 1205, 1305, 1405, 1505, 1605, 1705})});
  question("rack_and_team", {halite::literal(4, {250}), halite::literal(7, {501})});
  question("a_third", {halite::literal(5, {300})});
  question("host_wildcard", {halite::pattern(1, FilterType::kWildcard, "*_77")});
  question("host_regexp", {halite::pattern(1, FilterType::kRegexp, "^host_9+$")});
  question("everything", {});
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
