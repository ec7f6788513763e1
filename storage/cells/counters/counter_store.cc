// Over 400 lines because an increment passes names, groups and tables in one protocol.
#include "storage/cells/counters/counter_store.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/check.h"
#include "common/config/config_value.h"
#include "common/metrics.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/counters/counter_source.h"

namespace halite::storage {
namespace {

constexpr Family kKeys = 1;
constexpr std::int64_t kKeyTtlMs = 600'000;  // so long a key is remembered
constexpr std::chrono::milliseconds kCollectStep(5);
// After this time, metrics that other processes have begun to count are read.
constexpr std::int64_t kRefreshMs = 5'000;

std::string table_name(const std::string& data_table, const CounterBucket& bucket) {
  return fmt::format("{}-counters-{}", data_table, bucket.name);
}

Error has_points_error(std::string_view metric) {
  return {Errc::kInvalidArgument,
          fmt::format("the metric \"{}\" has points, so it cannot be a counter; use another name",
                      metric),
          {}};
}

Error is_counter_error(std::string_view metric) {
  return {Errc::kInvalidArgument,
          fmt::format("the metric \"{}\" is a counter: send increments (incr, /api/incr)", metric),
          {}};
}

// Interns the series that are not refused. The answer has the errors of the others.
Task<InternedSeries> intern_others(PointStore& points, std::vector<SeriesName> names,
                                   std::vector<std::optional<Error>> refused, CreateNames create) {
  std::vector<SeriesName> wanted;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!refused[i]) wanted.push_back(std::move(names[i]));
  }
  const bool all = wanted.size() == names.size();
  CO_TRY(InternedSeries known, co_await points.intern(std::move(wanted), create));
  if (all) co_return known;
  std::vector<Result<SeriesId>> answers;
  auto next = known.begin();
  for (std::optional<Error>& error : refused) {
    answers.push_back(error ? Result<SeriesId>(std::unexpected(*std::move(error))) : *next++);
  }
  co_return InternedSeries(known.pin(), std::move(answers));
}

}  // namespace

// The point store for senders of points.
class CounterStore::PointsWithoutCounters final : public PointSink {
 public:
  explicit PointsWithoutCounters(CounterStore& counters)
      : counters_(counters), points_(counters.dependencies_.points) {}

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override {
    if (counters_.is_stale()) CO_TRY_VOID(co_await counters_.refresh());
    // Not while an increment takes a new metric: what comes first decides. A metric of points may
    // be one of them, because it gets its UID before it becomes a counter.
    CO_TRY(const Semaphore::Permit turn, co_await counters_.new_metrics_->enter({1, 0}));
    std::vector<std::optional<Error>> refused(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& metric = names[i].metric;
      bool counts = counters_.rule_of(metric) != nullptr;
      if (!counts && counters_.rules().find(metric) != nullptr) {
        CO_TRY(const bool taken, co_await counters_.has_points(metric));
        counts = !taken;
      }
      if (counts) refused[i] = is_counter_error(metric);
    }
    co_return co_await intern_others(points_, std::move(names), std::move(refused), create);
  }
  std::shared_ptr<const SeriesPin> pin_series() override { return points_.pin_series(); }
  [[nodiscard]] const Series& series(SeriesId id) const override { return points_.series(id); }
  Task<Accepted> append(PointBatch batch) override { return points_.append(std::move(batch)); }
  void request_sync() override { points_.request_sync(); }

 private:
  CounterStore& counters_;
  PointStore& points_;
};

CounterStore::CounterStore(Dependencies dependencies, CounterRules rules, CounterLimits limits,
                           std::shared_ptr<Table> settings)
    : dependencies_(std::move(dependencies)),
      rules_(all_rules_.emplace_back(std::make_unique<const CounterRules>(std::move(rules))).get()),
      limits_(limits),
      settings_(std::move(settings)),
      metrics_(settings_, *rules_, dependencies_.points.changes()),
      points_(std::make_unique<PointsWithoutCounters>(*this)),
      increments_(add_counter(dependencies_.registry, "halite_counters_increments_total",
                              "Increments of counters accepted.")),
      cells_(add_counter(dependencies_.registry, "halite_counters_cells_total",
                         "Additions to cells of counters; increments that wait together are "
                         "one.")) {}

CounterStore::~CounterStore() = default;

PointSink& CounterStore::points() { return *points_; }

Task<std::unique_ptr<CounterStore>> CounterStore::open(Dependencies dependencies,
                                                       CounterRules rules, CounterLimits limits) {
  CO_TRY(std::shared_ptr<Table> settings,
         co_await dependencies.store.open_table(settings_table_spec(dependencies.settings_table)));
  std::unique_ptr<CounterStore> opened(
      new CounterStore(std::move(dependencies), std::move(rules), limits, std::move(settings)));
  CO_TRY(const CounterMetrics::Names names, co_await opened->metrics_.stored());
  CO_TRY_VOID(co_await opened->open_tables(opened->rules(), names));
  opened->metrics_.keep(names);
  opened->refreshed_ms_ = opened->dependencies_.clock.now_ms();
  co_return opened;
}

Task<void> CounterStore::set_rules(CounterRules rules) {
  // While this is held, no metric becomes a counter.
  CO_TRY(const Semaphore::Permit turn, co_await new_metrics_->enter(kAlone));
  CO_TRY(const CounterMetrics::Names names, co_await metrics_.stored());
  auto fresh = std::make_unique<const CounterRules>(std::move(rules));
  CO_TRY_VOID(co_await open_tables(*fresh, names));
  metrics_.set_rules(*fresh, names);
  rules_ = all_rules_.emplace_back(std::move(fresh)).get();
  co_return Result<void>();
}

Task<void> CounterStore::refresh() {
  refreshed_ms_ = dependencies_.clock.now_ms();
  CO_TRY(const CounterMetrics::Names names, co_await metrics_.stored());
  const auto has_rule = [this](const auto& name) { return rules().find(name) != nullptr; };
  if (!std::ranges::all_of(names | std::views::values, has_rule)) {
    CO_TRY_VOID(co_await open_table_without_rule());
  }
  metrics_.keep(names);
  co_return Result<void>();
}

bool CounterStore::is_stale() const {
  return is_shared() && dependencies_.clock.now_ms() >= refreshed_ms_ + kRefreshMs;
}

Task<void> CounterStore::open_tables(const CounterRules& rules,
                                     const CounterMetrics::Names& names) {
  for (const CounterRule& rule : rules.rules()) {
    for (const CounterBucket& bucket : rule.buckets)
      CO_TRY_VOID(co_await open_table(rules, bucket));
  }
  const auto has_rule = [&rules](const auto& name) { return rules.find(name) != nullptr; };
  if (!std::ranges::all_of(names | std::views::values, has_rule)) {
    CO_TRY_VOID(co_await open_table(rules, rules.without_rule().buckets.front()));
  }
  co_return Result<void>();
}

Task<void> CounterStore::open_table_without_rule() {
  const CounterBucket& bucket = rules().without_rule().buckets.front();
  if (table_of(bucket.name) != nullptr) co_return Result<void>();
  co_return co_await open_table(rules(), bucket);
}

std::shared_ptr<Table> CounterStore::table_of(std::string_view bucket) const {
  const std::shared_lock lock(mutex_);
  const auto found = tables_.find(bucket);
  return found == tables_.end() ? nullptr : found->second;
}

// The table keeps cells as long as the rule that keeps them longest; reads hide what is older.
Task<void> CounterStore::open_table(const CounterRules& rules, const CounterBucket& bucket) {
  std::int64_t ttl_ms = 0;
  bool forever = false;
  const auto take = [&](const CounterRule& rule) {
    for (const CounterBucket& one : rule.buckets) {
      if (one.name != bucket.name) continue;
      forever = forever || one.keep_ms == 0;
      ttl_ms = std::max(ttl_ms, one.keep_ms + one.length_ms);
    }
  };
  for (const CounterRule& rule : rules.rules()) take(rule);
  take(rules.without_rule());
  const std::string name = table_name(dependencies_.data_table, bucket);
  CO_TRY_VOID(
      co_await write_or_compare_parameters(settings_, name, dependencies_.rows->parameters()));
  TableSpec spec{.name = name,
                 .families = {FamilySpec{"t", forever ? 0 : ttl_ms}, FamilySpec{"k", kKeyTtlMs}},
                 .split_keys = {}};
  CO_TRY(std::shared_ptr<Table> table, co_await dependencies_.store.open_table(std::move(spec)));
  const std::unique_lock lock(mutex_);
  tables_.insert_or_assign(bucket.name, std::move(table));
  co_return Result<void>();
}

Task<bool> CounterStore::has_points(std::string metric) {
  SeriesQuery query;
  query.metric = std::move(metric);
  const auto selection = co_await dependencies_.points.select(std::move(query), {});
  if (!selection && selection.error().code == Errc::kNotFound) co_return false;
  if (!selection) co_return std::unexpected(selection.error());
  CO_TRY(const PinnedSeries series, co_await dependencies_.points.lookup(*selection, 1));
  co_return !series.empty();
}

Task<InternedSeries> CounterStore::intern(std::vector<SeriesName> names, CreateNames create) {
  // One at a time, so that two first increments of a metric do not see each other's series.
  Semaphore::Permit turn;
  std::vector<std::string> fresh;
  std::map<std::string, bool> with_points;
  std::vector<std::optional<Error>> refused(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string& metric = names[i].metric;
    if (rule_of(metric) != nullptr) continue;
    if (with_points.empty()) {
      CO_TRY(turn, co_await new_metrics_->enter(kAlone));
      if (is_shared()) CO_TRY_VOID(co_await refresh());
    }
    const auto [known, is_new] = with_points.try_emplace(metric, false);
    if (is_new && rule_of(metric) == nullptr) {  // it may have got one meanwhile
      CO_TRY(known->second, co_await has_points(metric));
    }
    if (known->second) refused[i] = has_points_error(metric);
    if (is_new && !known->second) fresh.push_back(metric);
  }
  // Before they have series: after a crash, a series without this note would be one of points.
  const bool may_create = create.metrics && dependencies_.series.check_room();
  CO_TRY_VOID(co_await note_metrics(fresh, may_create));
  CO_TRY(InternedSeries ids,
         co_await intern_others(dependencies_.points, names, std::move(refused), create));
  // There may be room now.
  std::vector<std::string> late;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (ids[i] && rule_of(names[i].metric) == nullptr) late.push_back(names[i].metric);
  }
  CO_TRY_VOID(co_await note_metrics(std::move(late), false));
  co_return ids;
}

// Stores which metrics have counters. Leaves out those without a name, unless they may be created.
Task<void> CounterStore::note_metrics(std::vector<std::string> metrics, bool create) {
  const auto has_rule = [this](const auto& metric) { return rules().find(metric) != nullptr; };
  if (!std::ranges::all_of(metrics, has_rule)) CO_TRY_VOID(co_await open_table_without_rule());
  co_return co_await metrics_.add(dependencies_.series.uids(), std::move(metrics), create);
}

std::vector<Refusal> CounterStore::collect(const PointBatch& batch, IncrementGroup& group,
                                           std::vector<TouchedCell>& touched) const {
  const TimestampMs now = dependencies_.clock.now_ms();
  std::vector<Refusal> refused;
  BytesView last_uid;
  const CounterRule* rule = nullptr;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Series& one = series(batch.series[i]);
    if (rule == nullptr || one.tsuid.metric() != last_uid) {
      last_uid = one.tsuid.metric();
      rule = metrics_.rule_of(one);
    }
    Result<void> added = std::unexpected(has_points_error(one.metric));
    if (rule != nullptr && batch.times[i] - now > limits_.ahead_max_ms) {
      added = fail(Errc::kInvalidArgument,
                   fmt::format("timestamp {} is more than {} ahead of the server's clock "
                               "(storage.forecast_max_ms)",
                               batch.times[i], duration_text(limits_.ahead_max_ms)));
    } else if (rule != nullptr) {
      added = group.add(*dependencies_.rows, *rule, one, batch, i, now, touched);
    }
    if (!added) refused.push_back({.index = i, .error = std::move(added).error()});
  }
  return refused;
}

Task<Accepted> CounterStore::append(PointBatch batch) {
  Accepted accepted{.durable = Completion::done(), .refused = {}};
  std::vector<TouchedCell> touched;
  std::shared_ptr<IncrementGroup> group;
  if (!batch.once.empty()) {
    group = std::make_shared<IncrementGroup>();
    group->once = batch.once;
    accepted.refused = collect(batch, *group, touched);
    CO_TRY_VOID(co_await write(*group));
  } else {
    const Completion done;
    {
      const std::lock_guard lock(group_mutex_);
      if (group_ == nullptr) group_ = std::make_shared<IncrementGroup>();
      group = group_;
      accepted.refused = collect(batch, *group, touched);
      group->waiters.push_back({.done = done, .touched = touched});
      if (batch.settle || group->cells.size() >= limits_.cells_max) urgent_.store(true);
      begin_writing();
    }
    if (!batch.settle) {
      increments_.Increment(static_cast<double>(batch.size() - accepted.refused.size()));
      accepted.durable = done;
      co_return accepted;
    }
    const Result<void> settled = co_await done.wait();
    if (!settled && settled.error().code != Errc::kInvalidArgument) {
      co_return std::unexpected(settled.error());
    }
  }
  std::ranges::move(group->refusals(touched), std::back_inserter(accepted.refused));
  std::ranges::sort(accepted.refused, {}, &Refusal::index);
  increments_.Increment(static_cast<double>(batch.size() - accepted.refused.size()));
  co_return accepted;
}

// Call it with group_mutex_. Posted, because co_spawn() may begin the task at once on this thread,
// and the task takes the mutex.
void CounterStore::begin_writing() {
  if (std::exchange(writing_, true)) return;
  boost::asio::post(dependencies_.executor, [this] {
    boost::asio::co_spawn(dependencies_.executor, write_groups(),
                          [](const std::exception_ptr& thrown, const Result<void>&) {
                            HALITE_CHECK(!thrown, "a task threw");
                          });
  });
}

Task<void> CounterStore::write_groups() {
  boost::asio::steady_timer timer(dependencies_.executor);
  while (true) {
    for (std::chrono::milliseconds waited(0);
         !urgent_.load() && waited < std::chrono::milliseconds(limits_.collect_ms);
         waited += kCollectStep) {
      timer.expires_after(kCollectStep);
      co_await timer.async_wait(boost::asio::use_awaitable);
    }
    std::shared_ptr<IncrementGroup> group;
    std::vector<Completion> idle;
    {
      const std::lock_guard lock(group_mutex_);
      urgent_.store(false);
      group = std::exchange(group_, nullptr);
      if (group == nullptr) {
        writing_ = false;
        idle.swap(idle_);
      }
    }
    if (group == nullptr) {
      // Whoever waits may destroy this object.
      for (const Completion& one : idle) one.finish({});
      co_return Result<void>();
    }
    auto writing = write(*group);
    const Result<void> written = co_await std::move(writing);
    for (const IncrementGroup::Waiter& waiter : group->waiters) {
      Result<void> outcome = written;
      if (outcome) {
        const std::vector<Refusal> refused = group->refusals(waiter.touched);
        if (!refused.empty()) {
          const std::string count = refused.size() == 1
                                        ? "1 increment was"
                                        : fmt::format("{} increments were", refused.size());
          outcome = fail(Errc::kInvalidArgument,
                         fmt::format("{} not added: {}", count, refused.front().error.message));
        }
      }
      waiter.done.finish(std::move(outcome));
    }
  }
}

Task<void> CounterStore::close() {
  const Completion idle;
  {
    const std::lock_guard lock(group_mutex_);
    if (!writing_) co_return Result<void>();
    urgent_.store(true);
    idle_.push_back(idle);
  }
  co_return co_await idle.wait();
}

std::unique_ptr<BlockSource> CounterStore::source(const CounterBucket& bucket,
                                                  TimestampMs all_at) const {
  std::shared_ptr<Table> table = table_of(bucket.name);
  if (table == nullptr) return no_sums(dependencies_.points);
  return stored_sums(bucket, dependencies_.rows, std::move(table), dependencies_.series,
                     dependencies_.scan, {.now = dependencies_.clock.now_ms(), .all_at = all_at});
}

// Writes the cells of a group, and sets their outcomes. An error: unknown for some.
Task<void> CounterStore::write(IncrementGroup& group) {
  CO_TRY_VOID(co_await dependencies_.series.flush_rows());
  // With a key, one addition for each row: the key guards it as a whole.
  struct Adds {
    std::vector<CounterAdd> adds;
    std::vector<std::vector<std::uint32_t>> cells;  // of each
    boost::unordered_flat_map<Bytes, std::size_t> by_row;
  };
  std::map<std::string_view, Adds> tables;
  for (std::uint32_t i = 0; i < group.cells.size(); ++i) {
    IncrementGroup::Cell& cell = group.cells[i];
    Adds& adds = tables[cell.bucket->name];
    std::size_t at = adds.adds.size();
    if (!group.once.empty()) at = adds.by_row.try_emplace(cell.row, at).first->second;
    if (at == adds.adds.size()) {
      CounterAdd& add = adds.adds.emplace_back();
      add.row = cell.row;
      if (!group.once.empty()) add.once = Column{kKeys, group.once};
      adds.cells.emplace_back();
    }
    adds.adds[at].deltas.push_back({{kCounterFamily, cell.qualifier}, group.deltas[i]});
    adds.cells[at].push_back(i);
  }
  cells_.Increment(static_cast<double>(group.cells.size()));
  for (auto& [name, adds] : tables) {
    const std::shared_ptr<Table> table = table_of(name);
    if (table == nullptr) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("the sums by {} are not open yet; try again", name));
    }
    CO_TRY(const std::vector<AddOutcome> outcomes, co_await table->add(std::move(adds.adds)));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      for (const std::uint32_t cell : adds.cells[i]) group.cells[cell].outcome = outcomes[i];
    }
  }
  co_return Result<void>();
}

}  // namespace halite::storage
