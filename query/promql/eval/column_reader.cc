#include "query/promql/eval/column_reader.h"

#include <functional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "common/gather.h"
#include "query/promql/eval/series_readings.h"
#include "query/selection/series_search.h"
#include "storage/cells/counters/counter_store.h"

namespace halite::query::promql {
namespace {

constexpr std::uint64_t kPointsBetweenYields = 1 << 18;

}  // namespace

std::int64_t row_bytes(const Labels& labels, std::size_t steps) {
  return static_cast<std::int64_t>(sizeof(Row) + labels.size() * sizeof(Label) +
                                   steps * sizeof(double));
}

namespace {

// Reads one shard. `Reading` makes a state of each series and takes its blocks. The states of
// series that were read stay only if it keeps them.
template <class Reading>
class ShardReader {
 public:
  using State = typename Reading::State;

  ShardReader(storage::BlockSource& stored, QueryBudget& budget,
              const typename Reading::Source& source)
      : stored_(stored), budget_(budget), reading_(source) {}

  Task<void> read(std::shared_ptr<const storage::Selection> selection, TimeRange range,
                  std::uint32_t shard);
  [[nodiscard]] std::vector<State>& states() { return states_; }
  [[nodiscard]] Reading& reading() { return reading_; }

 private:
  Result<void> take(const std::vector<storage::Block>& blocks);
  Result<void> take_whole(const storage::Block& block);
  Result<State*> state_of(storage::SeriesId id);
  // The budget is shared with other threads, so that memory is counted there in larger parts.
  Result<void> reserve(std::int64_t bytes);
  Result<void> count(std::int64_t bytes);

  storage::BlockSource& stored_;
  QueryBudget& budget_;
  Reading reading_;
  std::vector<State> states_;
  std::int64_t reserved_ = 0;  // bytes that the budget has counted ahead
  boost::unordered_flat_map<storage::SeriesId, std::size_t> places_;
  storage::SeriesId last_id_ = 0;
  std::size_t last_ = 0;  // the place of last_id_
};

template <class Reading>
Task<void> ShardReader<Reading>::read(std::shared_ptr<const storage::Selection> selection,
                                      TimeRange range, std::uint32_t shard) {
  QueryBudget::TimedShard timed(budget_, shard);
  const std::unique_ptr<storage::BlockScan> scan = stored_.scan(std::move(selection), range, shard);
  std::uint64_t points = 0;
  for (;;) {
    auto next = scan->next();
    CO_TRY(const std::vector<storage::Block> blocks, co_await std::move(next));
    if (blocks.empty()) co_return budget_.add_bytes(-std::exchange(reserved_, 0));
    CO_TRY_VOID(budget_.check());
    CO_TRY_VOID(take(blocks));
    for (const storage::Block& block : blocks) {
      points += block.size();
      timed.points += block.size();
    }
    // A scan that never suspends must not delay other queries.
    if (points < kPointsBetweenYields) continue;
    points = 0;
    const auto executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
  }
}

template <class Reading>
Result<void> ShardReader<Reading>::take(const std::vector<storage::Block>& blocks) {
  for (const storage::Block& block : blocks) stored_.series(block.series).tags.prefetch_shared();
  for (const storage::Block& block : blocks) stored_.series(block.series).tags.prefetch_tags();
  std::uint64_t points = 0;
  std::int64_t bytes = 0;
  for (const storage::Block& block : blocks) {
    if (block.times.empty()) continue;
    points += block.size();
    if (block.last && !places_.contains(block.series)) {
      TRY_VOID(take_whole(block));
      continue;
    }
    TRY(State* const state, state_of(block.series));
    const std::int64_t before = reading_.bytes(*state);
    reading_.add(*state, block);
    if (block.last) reading_.finish(*state);
    bytes += reading_.bytes(*state) - before;
  }
  budget_.add_blocks(blocks.size());
  TRY_VOID(count(bytes));
  return budget_.add_points(points);
}

// Takes a block that is the only one of its series. places_ does not need the series.
template <class Reading>
Result<void> ShardReader<Reading>::take_whole(const storage::Block& block) {
  const std::int64_t before = reading_.bytes();
  TRY_VOID(reserve(reading_.begin_bytes()));
  State state = reading_.begin(stored_.series(block.series));
  reading_.add(state, block);
  reading_.finish(state);
  std::int64_t bytes = reading_.bytes() - before;
  if constexpr (Reading::kKeepsStates) {
    bytes += reading_.bytes(state);
    states_.push_back(std::move(state));
  }
  return count(bytes);
}

template <class Reading>
Result<typename Reading::State*> ShardReader<Reading>::state_of(storage::SeriesId id) {
  if (!places_.empty() && last_id_ == id) return &states_[last_];
  const auto [place, is_new] = places_.try_emplace(id, states_.size());
  last_id_ = id;
  last_ = place->second;
  if (is_new) {
    const std::int64_t before = reading_.bytes();
    TRY_VOID(reserve(reading_.begin_bytes()));  // before it is allocated
    states_.push_back(reading_.begin(stored_.series(id)));
    TRY_VOID(count(reading_.bytes() - before + reading_.bytes(states_.back())));
  }
  return &states_[last_];
}

template <class Reading>
Result<void> ShardReader<Reading>::reserve(std::int64_t bytes) {
  constexpr std::int64_t kAhead = 1 << 16;
  if (bytes <= reserved_) return {};
  const std::int64_t more = std::max(kAhead, bytes - reserved_);
  TRY_VOID(budget_.add_bytes(more));
  reserved_ += more;
  return {};
}

template <class Reading>
Result<void> ShardReader<Reading>::count(std::int64_t bytes) {
  TRY_VOID(reserve(bytes));
  reserved_ -= bytes;
  return {};
}

// Reads all shards of all metrics that the selector names.
template <class Reading>
class SelectorReader {
 public:
  using State = typename Reading::State;
  using SelectionPtr = std::shared_ptr<const storage::Selection>;

  // Each shard gets a Reading(source). `stage` is the one that the evaluation is in.
  SelectorReader(storage::PointStore& store, const storage::CounterStore* counters,
                 std::shared_ptr<QueryBudget> budget, std::optional<QueryBudget::Timed>& stage,
                 typename Reading::Source source)
      : store_(store),
        counters_(counters),
        budget_(std::move(budget)),
        stage_(stage),
        source_(source) {}

  // Passes each shard of each metric to `use` when the metric is read, and forgets it.
  using Use = std::function<void(ShardReader<Reading>& shard)>;
  Task<void> read(Selector selector, TimeRange range, std::vector<SelectionPtr>& selections,
                  Use use);
  // Whether the selector names a metric that has counters.
  [[nodiscard]] bool reads_counters() const { return reads_counters_; }

 private:
  [[nodiscard]] const storage::CounterRule* counters_of(const std::string& metric) const {
    return counters_ == nullptr ? nullptr : counters_->rule_of(metric);
  }
  Task<void> read_metric(storage::BlockSource* stored, SelectionPtr selection, TimeRange range);

  storage::PointStore& store_;
  const storage::CounterStore* const counters_;
  const std::shared_ptr<QueryBudget> budget_;
  std::optional<QueryBudget::Timed>& stage_;
  const typename Reading::Source source_;
  std::vector<std::unique_ptr<ShardReader<Reading>>> shards_;
  bool reads_counters_ = false;
};

template <class Reading>
Task<void> SelectorReader<Reading>::read(Selector selector, TimeRange range,
                                         std::vector<SelectionPtr>& selections, Use use) {
  stage_.emplace(*budget_, Stage::kSelect);
  std::vector<Selector> selectors;
  selectors.push_back(std::move(selector));
  SeriesSearch search(store_, std::move(selectors), range.begin, budget_, counters_);
  auto listing = search.metrics();
  CO_TRY(const std::vector<std::string> metrics, co_await std::move(listing));
  for (const std::string& metric : metrics) {
    if (metrics.size() > 1) stage_.emplace(*budget_, Stage::kSelect);
    const storage::CounterRule* const rule = counters_of(metric);
    reads_counters_ |= rule != nullptr;
    auto finding = search.find(metric, false);
    CO_TRY(FoundMetric found, co_await std::move(finding));
    if (found.selection == nullptr) continue;
    selections.push_back(found.selection);
    stage_.emplace(*budget_, Stage::kRead);
    // As queries of OpenTSDB without a downsampler see them. A sum of all time is that of the last
    // time.
    std::unique_ptr<storage::BlockSource> sums;
    if (rule != nullptr) sums = counters_->source(rule->buckets.front(), range.end - 1);
    storage::BlockSource* const stored = sums == nullptr ? &store_ : sums.get();
    auto reading = read_metric(stored, std::move(found.selection), range);
    CO_TRY_VOID(co_await std::move(reading));
    stage_.emplace(*budget_, Stage::kMerge);
    for (const auto& shard : shards_) use(*shard);
    shards_.clear();
    CO_TRY_VOID(budget_->check());
  }
  co_return Result<void>();
}

template <class Reading>
Task<void> SelectorReader<Reading>::read_metric(storage::BlockSource* stored,
                                                SelectionPtr selection, TimeRange range) {
  std::vector<Task<void>> tasks;
  for (const storage::ShardSeriesCount& share : stored->series_by_shard(*selection)) {
    shards_.push_back(std::make_unique<ShardReader<Reading>>(*stored, *budget_, source_));
    tasks.push_back(shards_.back()->read(selection, range, share.shard));
  }
  const std::size_t count = tasks.size();
  auto gathering = gather(std::move(tasks), count);
  const std::vector<Result<void>> outcomes = co_await std::move(gathering);
  for (const Result<void>& outcome : outcomes) CO_TRY_VOID(outcome);
  co_return Result<void>();
}

}  // namespace

Task<std::vector<Row>> ColumnReader::read_columns(Selector selector, WindowPlan plan) {
  std::vector<Row> rows;
  SelectorReader<ColumnReading> reader(store_, counters_, budget_, stage_, &plan);
  auto scanning = reader.read(std::move(selector), plan.range(), selections_,
                              [&rows](ShardReader<ColumnReading>& shard) {
                                for (ColumnReading::State& state : shard.states()) {
                                  shard.reading().finish(state);
                                  if (state.has_values) rows.push_back(std::move(state.row));
                                }
                              });
  CO_TRY_VOID(co_await std::move(scanning));
  reads_counters_ |= reader.reads_counters();
  co_return rows;
}

Task<std::optional<Vector>> ColumnReader::read_groups(Selector selector, WindowPlan plan,
                                                      const Aggregation& aggregation) {
  GroupFold all(aggregation, plan.steps);
  bool collides = false;
  SelectorReader<GroupReading> reader(store_, counters_, budget_, stage_,
                                      {.plan = &plan, .aggregation = &aggregation});
  auto scanning = reader.read(std::move(selector), plan.range(), selections_,
                              [&](ShardReader<GroupReading>& shard) {
                                GroupReading& reading = shard.reading();
                                for (auto& state : shard.states()) reading.finish(state);
                                collides |= reading.collides;
                                all.merge(reading.fold);
                              });
  CO_TRY_VOID(co_await std::move(scanning));
  reads_counters_ |= reader.reads_counters();
  if (collides || (aggregation.op == AggregateOp::kAvg && all.overflows())) co_return std::nullopt;
  co_return all.finish();
}

Task<std::vector<MatrixRow>> ColumnReader::read_samples(Selector selector, TimeRange range) {
  std::vector<MatrixRow> rows;
  SelectorReader<SampleReading> reader(store_, counters_, budget_, stage_, {});
  auto scanning = reader.read(std::move(selector), range, selections_,
                              [&rows](ShardReader<SampleReading>& shard) {
                                for (MatrixRow& row : shard.states()) {
                                  if (!row.times.empty()) rows.push_back(std::move(row));
                                }
                              });
  CO_TRY_VOID(co_await std::move(scanning));
  reads_counters_ |= reader.reads_counters();
  co_return rows;
}

}  // namespace halite::query::promql
