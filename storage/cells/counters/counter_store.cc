// Over 400 lines because interning, collecting and writing increments share the state of the store.
#include "storage/cells/counters/counter_store.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/check.h"
#include "common/metrics.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/counters/counter_source.h"

namespace halite::storage {
namespace {

constexpr Family kKeys = 1;
constexpr std::int64_t kKeyTtlMs = 600'000;  // so long a key is remembered
constexpr std::uint8_t kEightBytes = 7;      // the form of a value in a qualifier
constexpr std::string_view kMetricsRow = "counters";
constexpr std::chrono::milliseconds kCollectStep(5);

std::string table_name(const std::string& data_table, const CounterBucket& bucket) {
  return fmt::format("{}-counters-{}", data_table, bucket.name);
}

Error has_points_error(std::string_view metric) {
  return {Errc::kInvalidArgument,
          fmt::format("the metric \"{}\" has points, so it cannot be a counter; use another name",
                      metric),
          {}};
}

// Series that are known at once.
class OnePart final : public SeriesIterator {
 public:
  explicit OnePart(std::vector<Bytes> series) : series_(std::move(series)) {}
  Task<std::optional<std::vector<Bytes>>> next() override {
    co_return std::exchange(series_, std::nullopt);
  }

 private:
  std::optional<std::vector<Bytes>> series_;
};

}  // namespace

// Increments that are written together.
struct CounterStore::Group {
  struct Key {
    SeriesId series = 0;
    TimestampMs begin = 0;
    const CounterBucket* bucket = nullptr;
    bool operator==(const Key&) const = default;
    friend std::size_t hash_value(const Key& key) {
      std::size_t seed = 0;
      boost::hash_combine(seed, key.series);
      boost::hash_combine(seed, key.begin);
      boost::hash_combine(seed, key.bucket);
      return seed;
    }
  };
  struct Cell {
    const CounterBucket* bucket = nullptr;
    Bytes row;
    Bytes qualifier;
    std::int64_t delta = 0;
    AddOutcome outcome = AddOutcome::kAdded;
  };
  // A batch that waits for the outcome.
  struct Waiter {
    Completion done;
    std::vector<Touched> touched;
  };

  // The refusals of a batch, once the cells have outcomes.
  [[nodiscard]] std::vector<Refusal> refusals(const std::vector<Touched>& touched) const {
    std::vector<Refusal> refused;
    for (const Touched& one : touched) {
      const AddOutcome outcome = cells[one.cell].outcome;
      if (outcome != AddOutcome::kOverflow && outcome != AddOutcome::kNoCounter) continue;
      if (!refused.empty() && refused.back().index == one.increment) continue;
      refused.push_back(
          {.index = one.increment,
           .error = {Errc::kInvalidArgument,
                     outcome == AddOutcome::kOverflow ? "the sum would not fit in 64 bits"
                                                      : "the stored cell is not a counter",
                     {}}});
    }
    return refused;
  }

  // Whether an increment would not fit in the sum of those before it.
  [[nodiscard]] bool overflows(const CounterRule& rule, SeriesId series, TimestampMs time,
                               std::int64_t delta) const {
    return std::ranges::any_of(rule.buckets, [&](const CounterBucket& bucket) {
      const auto found = index.find(Key{series, bucket.begin_of(time), &bucket});
      std::int64_t sum = 0;
      return found != index.end() &&
             __builtin_add_overflow(cells[found->second].delta, delta, &sum);
    });
  }

  boost::unordered_flat_map<Key, std::uint32_t> index;  // of the newest cell with the key
  std::vector<Cell> cells;
  std::vector<Waiter> waiters;
  Bytes once;
};

// The point store for senders of points.
class CounterStore::PointsWithoutCounters final : public PointSink {
 public:
  explicit PointsWithoutCounters(CounterStore& counters)
      : counters_(counters), points_(counters.dependencies_.points) {}

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override {
    std::vector<bool> refused(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      refused[i] = counters_.rule_of(names[i].metric) != nullptr;
      if (refused[i] || counters_.rules_.find(names[i].metric) == nullptr) continue;
      CO_TRY(const bool taken, co_await counters_.has_points(names[i].metric));
      refused[i] = !taken;
    }
    if (std::ranges::find(refused, true) == refused.end()) {
      co_return co_await points_.intern(std::move(names), create);
    }
    std::vector<SeriesName> wanted;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!refused[i]) wanted.push_back(names[i]);
    }
    CO_TRY(const InternedSeries known, co_await points_.intern(std::move(wanted), create));
    std::vector<Result<SeriesId>> all;
    auto next = known.begin();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (refused[i]) {
        all.push_back(fail(Errc::kInvalidArgument,
                           fmt::format("the metric \"{}\" is a counter: send increments (incr, "
                                       "/api/incr)",
                                       names[i].metric)));
      } else {
        all.push_back(*next++);
      }
    }
    co_return InternedSeries(known.pin(), std::move(all));
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
      rules_(std::move(rules)),
      limits_(limits),
      settings_(std::move(settings)),
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
  for (const CounterRule& rule : opened->rules_.rules()) {
    for (const CounterBucket& bucket : rule.buckets)
      CO_TRY_VOID(co_await opened->open_table(bucket));
  }
  CO_TRY_VOID(co_await opened->load_metrics());
  co_return opened;
}

// The table keeps cells as long as the rule that keeps them longest; reads hide what is older.
Task<void> CounterStore::open_table(const CounterBucket& bucket) {
  {
    const std::shared_lock lock(mutex_);
    if (tables_.contains(bucket.name)) co_return Result<void>();
  }
  std::int64_t ttl_ms = 0;
  bool forever = false;
  const auto take = [&](const CounterRule& rule) {
    for (const CounterBucket& one : rule.buckets) {
      if (one.name != bucket.name) continue;
      forever = forever || one.keep_ms == 0;
      ttl_ms = std::max(ttl_ms, one.keep_ms + one.length_ms);
    }
  };
  for (const CounterRule& rule : rules_.rules()) take(rule);
  take(rules_.without_rule());
  const std::string name = table_name(dependencies_.data_table, bucket);
  CO_TRY_VOID(
      co_await write_or_compare_parameters(settings_, name, dependencies_.rows->parameters()));
  TableSpec spec{.name = name,
                 .families = {FamilySpec{"t", forever ? 0 : ttl_ms}, FamilySpec{"k", kKeyTtlMs}},
                 .split_keys = {}};
  CO_TRY(std::shared_ptr<Table> table, co_await dependencies_.store.open_table(std::move(spec)));
  const std::unique_lock lock(mutex_);
  tables_.try_emplace(bucket.name, std::move(table));
  co_return Result<void>();
}

Task<void> CounterStore::load_metrics() {
  std::vector<RowRead> reads;
  reads.push_back({Bytes(kMetricsRow), 0, {}});
  CO_TRY(const std::vector<Row> rows, co_await settings_->read(std::move(reads)));
  std::map<Bytes, std::string> stored;
  for (const Cell& cell : rows.front().cells) stored[cell.qualifier] = cell.value;
  co_return co_await take_metrics(std::move(stored));
}

// From now on these metrics, by uid, have counters.
Task<void> CounterStore::take_metrics(std::map<Bytes, std::string> metrics) {
  const auto buckets_of = [this](const std::string& name) {
    const CounterRule* const rule = rules_.find(name);
    return rule == nullptr ? &rules_.without_rule() : rule;
  };
  for (const auto& [uid, name] : metrics) {
    if (buckets_of(name) != &rules_.without_rule()) continue;
    CO_TRY_VOID(co_await open_table(rules_.without_rule().buckets.front()));
    break;
  }
  const std::unique_lock lock(mutex_);
  for (const auto& [uid, name] : metrics) {
    names_[name] = buckets_of(name);
    metrics_[uid] = buckets_of(name);
  }
  co_return Result<void>();
}

const CounterRule* CounterStore::rule_of(std::string_view metric) const {
  const std::shared_lock lock(mutex_);
  const auto found = names_.find(metric);
  return found == names_.end() ? nullptr : found->second;
}

const CounterRule* CounterStore::rule_of_series(const Series& series) const {
  const std::shared_lock lock(mutex_);
  const auto found = metrics_.find(Bytes(series.tsuid.metric()));
  return found == metrics_.end() ? nullptr : found->second;
}

std::unique_ptr<SeriesIterator> CounterStore::series_among(const std::vector<Bytes>& tsuids) const {
  const std::size_t width = dependencies_.rows->widths().metric;
  std::vector<Bytes> among;
  const std::shared_lock lock(mutex_);
  for (const Bytes& tsuid : tsuids) {
    if (metrics_.contains(tsuid.substr(0, width))) among.push_back(tsuid);
  }
  return std::make_unique<OnePart>(std::move(among));
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
  std::set<std::string> with_points;
  std::set<std::string> asked;
  for (const SeriesName& name : names) {
    if (rule_of(name.metric) != nullptr || !asked.insert(name.metric).second) continue;
    if (asked.size() == 1) {
      CO_TRY(turn, co_await new_metrics_->enter({1, 1}));
    }
    if (rule_of(name.metric) != nullptr) continue;  // meanwhile
    CO_TRY(const bool taken, co_await has_points(name.metric));
    if (taken) with_points.insert(name.metric);
  }
  std::vector<SeriesName> wanted;
  for (const SeriesName& name : names) {
    if (!with_points.contains(name.metric)) wanted.push_back(name);
  }
  CO_TRY(InternedSeries known, co_await dependencies_.points.intern(wanted, create));
  CO_TRY_VOID(co_await note_metrics(std::move(wanted), known));
  if (with_points.empty()) co_return known;
  std::vector<Result<SeriesId>> all;
  auto next = known.begin();
  for (const SeriesName& name : names) {
    if (with_points.contains(name.metric)) {
      all.push_back(std::unexpected(has_points_error(name.metric)));
    } else {
      all.push_back(*next++);
    }
  }
  co_return InternedSeries(known.pin(), std::move(all));
}

// Stores which metrics have counters before the first increment of each.
Task<void> CounterStore::note_metrics(std::vector<SeriesName> names, const InternedSeries& ids) {
  std::map<Bytes, std::string> fresh;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!ids[i]) continue;
    const Series& known = series(*ids[i]);
    if (rule_of_series(known) == nullptr) fresh[Bytes(known.tsuid.metric())] = names[i].metric;
  }
  if (fresh.empty()) co_return Result<void>();
  CO_TRY_VOID(co_await dependencies_.series.flush_rows());
  RowWrite write{.row = Bytes(kMetricsRow), .puts = {}, .deletes = {}};
  for (const auto& [uid, name] : fresh) write.puts.push_back({{0, uid}, name, 0});
  std::vector<RowWrite> writes(1, std::move(write));
  CO_TRY_VOID(co_await settings_->write(std::move(writes)));
  co_return co_await take_metrics(std::move(fresh));
}

// Adds the batch's increments to the group, and their cells to `cells`. Of a refused increment no
// cell is added.
std::vector<Refusal> CounterStore::collect(const PointBatch& batch, Group& group,
                                           std::vector<Touched>& touched) const {
  const TimestampMs now = dependencies_.clock.now_ms();
  std::vector<Refusal> refused;
  BytesView last_uid;
  const CounterRule* rule = nullptr;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto refuse = [&](std::string why) {
      refused.push_back({.index = i, .error = {Errc::kInvalidArgument, std::move(why), {}}});
    };
    const Series& one = series(batch.series[i]);
    if (rule == nullptr || one.tsuid.metric() != last_uid) {
      last_uid = one.tsuid.metric();
      rule = rule_of_series(one);
    }
    if (rule == nullptr) {
      refuse(has_points_error(one.metric).message);
      continue;
    }
    if ((batch.flags[i] & kFloat) != 0) {
      refuse("an increment must be a whole number of at most 64 bits");
      continue;
    }
    const TimestampMs time = batch.times[i];
    if (time < 0 || time >= kRowTimeEndMs) {
      refuse(fmt::format("the time {} ms is outside the range of row keys", time));
      continue;
    }
    const std::int64_t delta = as_integer(batch.values[i]);
    // With a key, a row has one addition with each column once, so that its cells cannot be split.
    if (!group.once.empty() && group.overflows(*rule, batch.series[i], time, delta)) {
      refuse("the sum of the request's increments would not fit in 64 bits");
      continue;
    }
    bool any = false;
    for (const CounterBucket& bucket : rule->buckets) {
      const Group::Key key{batch.series[i], bucket.begin_of(time), &bucket};
      if (bucket.expired(key.begin, now)) continue;
      any = true;
      const auto [at, added] =
          group.index.try_emplace(key, static_cast<std::uint32_t>(group.cells.size()));
      if (!added) {
        std::int64_t& sum = group.cells[at->second].delta;
        std::int64_t both = 0;
        if (!__builtin_add_overflow(sum, delta, &both)) {
          sum = both;
          touched.push_back({at->second, static_cast<std::uint32_t>(i)});
          continue;
        }
        at->second = static_cast<std::uint32_t>(group.cells.size());
      }
      Result<RollupCell> cell =
          rollup_cell(*dependencies_.rows, bucket.rows, kCounterAggregatorId, one.tsuid.bytes(),
                      key.begin / 1000, static_cast<ValueBits>(delta), 0);
      HALITE_CHECK(cell, "a bucket's time fits its row");
      cell->cell.qualifier.back() =
          static_cast<char>((cell->cell.qualifier.back() & 0xF0) | kEightBytes);
      touched.push_back(
          {static_cast<std::uint32_t>(group.cells.size()), static_cast<std::uint32_t>(i)});
      group.cells.push_back({.bucket = &bucket,
                             .row = std::move(cell->row),
                             .qualifier = std::move(cell->cell.qualifier),
                             .delta = delta});
    }
    if (!any) refuse(fmt::format("no bucket of the time {} ms is kept any longer", time));
  }
  return refused;
}

Task<Accepted> CounterStore::append(PointBatch batch) {
  Accepted accepted{.durable = Completion::done(), .refused = {}};
  std::vector<Touched> touched;
  std::shared_ptr<Group> group;
  if (!batch.once.empty()) {
    group = std::make_shared<Group>();
    group->once = batch.once;
    accepted.refused = collect(batch, *group, touched);
    CO_TRY_VOID(co_await write(*group));
  } else {
    const Completion done;
    {
      const std::lock_guard lock(group_mutex_);
      if (group_ == nullptr) group_ = std::make_shared<Group>();
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
    std::shared_ptr<Group> group;
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
    for (const Group::Waiter& waiter : group->waiters) {
      Result<void> outcome = written;
      if (outcome) {
        const std::vector<Refusal> refused = group->refusals(waiter.touched);
        if (!refused.empty()) {
          outcome = fail(Errc::kInvalidArgument, fmt::format("{} increments: {}", refused.size(),
                                                             refused.front().error.message));
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
  std::shared_ptr<Table> table;
  {
    const std::shared_lock lock(mutex_);
    const auto found = tables_.find(bucket.name);
    if (found == tables_.end()) return no_sums(dependencies_.points);
    table = found->second;
  }
  return stored_sums(bucket, dependencies_.rows, std::move(table), dependencies_.series,
                     dependencies_.scan, {.now = dependencies_.clock.now_ms(), .all_at = all_at});
}

// Writes the cells of a group, and sets their outcomes. An error: unknown for some.
Task<void> CounterStore::write(Group& group) {
  CO_TRY_VOID(co_await dependencies_.series.flush_rows());
  // With a key, one addition for each row: the key guards it as a whole.
  struct Adds {
    std::vector<CounterAdd> adds;
    std::vector<std::vector<std::uint32_t>> cells;  // of each
    boost::unordered_flat_map<Bytes, std::size_t> by_row;
  };
  std::map<std::string_view, Adds> tables;
  for (std::uint32_t i = 0; i < group.cells.size(); ++i) {
    Group::Cell& cell = group.cells[i];
    Adds& adds = tables[cell.bucket->name];
    std::size_t at = adds.adds.size();
    if (!group.once.empty()) at = adds.by_row.try_emplace(cell.row, at).first->second;
    if (at == adds.adds.size()) {
      CounterAdd& add = adds.adds.emplace_back();
      add.row = cell.row;
      if (!group.once.empty()) add.once = Column{kKeys, group.once};
      adds.cells.emplace_back();
    }
    adds.adds[at].deltas.push_back({{kCounterFamily, cell.qualifier}, cell.delta});
    adds.cells[at].push_back(i);
  }
  cells_.Increment(static_cast<double>(group.cells.size()));
  for (auto& [name, adds] : tables) {
    std::shared_ptr<Table> table;
    {
      const std::shared_lock lock(mutex_);
      table = tables_.find(name)->second;
    }
    CO_TRY(const std::vector<AddOutcome> outcomes, co_await table->add(std::move(adds.adds)));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      for (const std::uint32_t cell : adds.cells[i]) group.cells[cell].outcome = outcomes[i];
    }
  }
  co_return Result<void>();
}

}  // namespace halite::storage
