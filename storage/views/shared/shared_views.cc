#include "storage/views/shared/shared_views.h"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include "storage/views/shared/leased_store.h"

namespace halite::storage {
namespace {

constexpr Family kFamily = 0;
const Bytes kLookedRow = "looked";

}  // namespace

struct SharedViews::Term {
  Term(const Dependencies& dependencies, const ViewLease& lease, std::uint64_t term,
       UnreadableRows& unreadable)
      : store(dependencies.views.store, lease, term),
        sink({.rollups = dependencies.rollups,
              .uids = dependencies.views.uids,
              .points = dependencies.points,
              .names = dependencies.names,
              .lease = lease,
              .term = term,
              .unreadable = unreadable}) {}

  LeasedStore store;
  RollupViews sink;
  std::unique_ptr<ViewStore> views;
};

Task<std::unique_ptr<SharedViews>> SharedViews::open(Dependencies dependencies,
                                                     std::vector<ViewRule> rules,
                                                     ViewLimits limits) {
  CO_TRY_VOID(check_rollup_views(rules, dependencies.rollups.config(), dependencies.names));
  auto opening = dependencies.views.store.open_table(ViewTable::spec(dependencies.views.table));
  CO_TRY(std::shared_ptr<Table> table, co_await std::move(opening));
  co_return std::unique_ptr<SharedViews>(
      new SharedViews(std::move(dependencies), std::move(rules), limits, std::move(table)));
}

SharedViews::SharedViews(Dependencies dependencies, std::vector<ViewRule> rules, ViewLimits limits,
                         std::shared_ptr<Table> table)
    : dependencies_(std::move(dependencies)),
      rules_(std::move(rules)),
      limits_(limits),
      table_(std::move(table)),
      lease_(table_, dependencies_.lease_id, dependencies_.host, dependencies_.views.clock),
      unreadable_(dependencies_.views.registry) {}

SharedViews::~SharedViews() = default;

std::shared_ptr<ViewStore> SharedViews::views() const {
  const std::lock_guard lock(mutex_);
  return views_;
}

void SharedViews::set_views(std::shared_ptr<ViewStore> views) {
  const std::lock_guard lock(mutex_);
  views_.swap(views);
}

Task<void> SharedViews::write_looked(std::uint64_t term, TimestampMs time) {
  CO_TRY(const WriteEnd end, lease_.may_write(term));
  std::vector<RowWrite> writes(1);
  writes[0].row = kLookedRow;
  Bytes value;
  append_be<std::uint64_t>(value, static_cast<std::uint64_t>(time));
  writes[0].puts.push_back({.column = {kFamily, {}}, .value = std::move(value)});
  auto writing = table_->write_until(std::move(writes), end);
  CO_TRY_VOID(co_await std::move(writing));
  looked_ms_ = time;
  looked_us_ = dependencies_.views.clock.elapsed_us();
  co_return Result<void>{};
}

// What is built, as the last holder of the lease left it.
Task<void> SharedViews::load(std::uint64_t term) {
  std::vector<RowRead> reads(1);
  reads[0] = {.row = kLookedRow, .family = kFamily, .qualifiers = {Bytes()}};
  auto reading = table_->read(std::move(reads));
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  if (rows.front().cells.empty()) {
    // Nothing was built before.
    auto writing = write_looked(term, dependencies_.views.clock.now_ms());
    CO_TRY_VOID(co_await std::move(writing));
  } else {
    const Bytes& value = rows.front().cells.front().value;
    if (value.size() != sizeof(std::uint64_t)) {
      co_return fail(Errc::kCorruption,
                     fmt::format("the time of the last look for changes of views "
                                 "has {} bytes, not 8",
                                 value.size()));
    }
    looked_ms_ = static_cast<TimestampMs>(load_be<std::uint64_t>(value.data()));
    looked_us_ = -1;
  }
  const auto loaded = std::make_shared<Term>(dependencies_, lease_, term, unreadable_);
  const ViewStore::Dependencies& given = dependencies_.views;
  auto opening = ViewStore::open({.store = loaded->store,
                                  .points = given.points,
                                  .uids = given.uids,
                                  .widths = given.widths,
                                  .table = given.table,
                                  .clock = given.clock,
                                  .ttl_ms = given.ttl_ms,
                                  .registry = given.registry,
                                  .sink = &loaded->sink},
                                 rules_, limits_, false);
  CO_TRY(loaded->views, co_await std::move(opening));
  set_views({loaded, loaded->views.get()});
  term_ = term;
  co_return Result<void>{};
}

Task<bool> SharedViews::build_some() {
  const std::uint64_t term = lease_.term();
  if (term == 0 || term != term_) {
    set_views(nullptr);
    term_ = 0;
  }
  if (term == 0) co_return false;
  auto working = work(term);
  Result<bool> worked = co_await std::move(working);
  // An error is expected if another server took the lease meanwhile.
  if (!worked && lease_.term() != term) co_return false;
  co_return worked;
}

Task<bool> SharedViews::work(std::uint64_t term) {
  if (term_ == 0) {
    auto loading = load(term);
    CO_TRY_VOID(co_await std::move(loading));
  }
  const std::int64_t now_us = dependencies_.views.clock.elapsed_us();
  if (looked_us_ < 0 || now_us - looked_us_ >= kLookMs * 1000) {
    auto looking = look();
    CO_TRY_VOID(co_await std::move(looking));
  }
  auto building = views()->build_some();
  co_return co_await std::move(building);
}

// Clears the bits of changed units first, so that a look that fails is repeated.
Task<void> SharedViews::look() {
  const TimestampMs now = dependencies_.views.clock.now_ms();
  const std::shared_ptr<ViewStore> views = this->views();
  const TimestampMs kept_from = views->kept_from({});
  const TimestampMs since = std::min(looked_ms_, now) - kLookOverlapMs;
  auto reading = changed_rows(dependencies_.points, views->known_metrics(),
                              {.begin = kept_from, .end = now - limits_.settle_ms},
                              std::max<TimestampMs>(0, since), unreadable_);
  CO_TRY(std::vector<ViewChanges::Change> changes, co_await std::move(reading));
  for (ViewChanges::Change& change : changes) change.kept_from = kept_from;
  auto noting = views->note_changes(std::move(changes));
  CO_TRY_VOID(co_await std::move(noting));
  auto writing = write_looked(term_, now);
  co_return co_await std::move(writing);
}

Task<void> SharedViews::release() {
  set_views(nullptr);
  term_ = 0;
  return lease_.release();
}

Task<void> SharedViews::rebuild(std::string name) {
  const bool known =
      std::ranges::any_of(rules_, [&name](const ViewRule& rule) { return rule.name == name; });
  if (!known) co_return fail(Errc::kNotFound, fmt::format("there is no view \"{}\"", name));
  const std::shared_ptr<ViewStore> views = this->views();
  if (views == nullptr) {
    const std::string holder = lease_.holder();
    co_return fail(Errc::kConflict,
                   holder.empty()
                       ? std::string("no server computes the views now: try again")
                       : fmt::format("{} computes the views: send this request to it", holder));
  }
  auto rebuilding = views->rebuild(std::move(name));
  co_return co_await std::move(rebuilding);
}

Task<SharedViewStatus> SharedViews::status() {
  SharedViewStatus status{.holder = lease_.holder(), .holds = false, .views = {}};
  if (const std::shared_ptr<ViewStore> views = this->views()) {
    status.holds = true;
    auto asking = views->status();
    CO_TRY(status.views, co_await std::move(asking));
    co_return status;
  }
  const std::int64_t now_us = dependencies_.views.clock.elapsed_us();
  {
    const std::lock_guard lock(mutex_);
    if (status_us_ >= 0 && now_us - status_us_ < kStatusMs * 1000) {
      status.views = status_;
      co_return status;
    }
  }
  auto reading = read_status();
  CO_TRY(status.views, co_await std::move(reading));
  const std::lock_guard lock(mutex_);
  status_ = status.views;
  status_us_ = now_us;
  co_return status;
}

// The rules and the built units.
Task<std::vector<ViewStatus>> SharedViews::read_status() {
  ViewTable table(table_, dependencies_.views.widths);
  auto listing = table.views();
  CO_TRY(const std::vector<StoredView> stored, co_await std::move(listing));
  auto reading = table.units();
  CO_TRY(const std::vector<StoredUnits> units, co_await std::move(reading));
  std::vector<ViewStatus> all;
  for (const ViewRule& rule : rules_) {
    ViewStatus& one = all.emplace_back();
    one.rule = rule;
    const auto view = std::ranges::find(stored, rule.name, &StoredView::name);
    if (view == stored.end()) continue;
    for (const StoredUnits& metric : units) {
      if (metric.view != view->id) continue;
      ++one.metrics;
      for (const auto& [day, bits] : metric.built) {
        one.units_built += static_cast<std::uint64_t>(std::popcount(bits));
      }
    }
  }
  co_return all;
}

}  // namespace halite::storage
