#include "tests/unit/storage/cells/counter_world.h"

#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/units.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "tests/support/run_task.h"

namespace halite::test {
namespace {

using namespace storage;

constexpr std::string_view kWebRules =
    R"([{"metrics":"web.*","buckets":["1h","1d","all"],"keep":["14d","400d","0"]}])";

}  // namespace

CounterWorld::CounterWorld(std::uint32_t seed, std::size_t write_buffer_bytes)
    : files_(std::make_shared<FaultyFiles>(seed)), write_buffer_bytes_(write_buffer_bytes) {
  open();
}

CounterWorld::~CounterWorld() {
  close();
  pool_.join();
}

void CounterWorld::open() {
  RocksOptions options;
  options.files = files_;
  options.dir = dir_.path() + "/store";
  options.write_buffer_bytes = write_buffer_bytes_;
  metrics_ = std::make_unique<prometheus::Registry>();
  cells_ = RocksStore::open(options, clock_, *metrics_).value();
  std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make({}).value();
  points_ = run_task(CellPointStore::open({*cells_, layout, layout->parameters(), clock_,
                                           pool_.get_executor(), *metrics_},
                                          {}))
                .value();
  counters_ = open_counters({});
}

std::unique_ptr<CounterStore> CounterWorld::open_counters(const RowScanOptions& scan) {
  CounterStore::Dependencies dependencies{.store = *cells_,
                                          .points = *points_,
                                          .series = points_->registry(),
                                          .rows = OpentsdbLayout::make({}).value(),
                                          .scan = scan,
                                          .data_table = "tsdb",
                                          .settings_table = "halite-settings",
                                          .clock = clock_,
                                          .executor = pool_.get_executor(),
                                          .registry = *metrics_};
  return run_task(CounterStore::open(std::move(dependencies),
                                     CounterRules::parse(kWebRules, 7 * kDayMs).value(), {}))
      .value();
}

void CounterWorld::close() {
  std::ignore = run_task(counters_->close());
  counters_.reset();
  std::ignore = run_task(points_->close());
  points_.reset();
  std::ignore = run_task(cells_->close());
  cells_.reset();
}

Result<SeriesId> CounterWorld::intern(const std::string& metric, const std::string& host,
                                      PointSink& sink) {
  const auto ids = run_task(sink.intern({{metric, {{"host", host}}}}, {}));
  if (!ids) return std::unexpected(ids.error());
  return ids->front();
}

Result<std::vector<std::string>> CounterWorld::try_add(PointBatch batch, Bytes once) {
  batch.settle = true;
  batch.once = std::move(once);
  TRY(const Accepted accepted, run_task(counters_->append(std::move(batch))));
  EXPECT_TRUE(accepted.durable.finished());
  std::vector<std::string> refused;
  for (const Refusal& one : accepted.refused) {
    refused.push_back(fmt::format("{}: {}", one.index, one.error.message));
  }
  return refused;
}

Sums CounterWorld::sums(const std::string& metric, std::size_t bucket) {
  const CounterRule* const rule = counters_->rule_of(metric);
  if (rule == nullptr) return {};
  const auto source = counters_->source(rule->buckets.at(bucket), kCountersNow);
  SeriesQuery query;
  query.metric = metric;
  const auto selection = run_task(points_->select(std::move(query), {}));
  if (!selection && selection.error().code == Errc::kNotFound) return {};
  Sums found;
  for (std::uint32_t shard = 0; shard < source->shard_count(); ++shard) {
    const auto scan = source->scan(selection.value(), {0, clock_.now_ms() + 365 * kDayMs}, shard);
    while (true) {
      const std::vector<Block> blocks = run_task(scan->next()).value();
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        const std::string host(source->series(block.series).tags.front().value);
        for (std::size_t i = 0; i < block.size(); ++i) {
          EXPECT_FALSE(block.floats[i]);
          EXPECT_TRUE(
              found.try_emplace({host, block.times[i]}, as_integer(block.values[i])).second);
        }
      }
    }
  }
  return found;
}

}  // namespace halite::test
