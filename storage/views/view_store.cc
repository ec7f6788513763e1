#include "storage/views/view_store.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/metrics.h"

namespace halite::storage {
namespace {

constexpr std::chrono::seconds kTurnWaitMax(10);  // a server that stops waits for it

}  // namespace

ViewStore::ViewStore(Dependencies dependencies, std::shared_ptr<Table> table, ViewLimits limits,
                     bool read_only)
    : dependencies_(std::move(dependencies)),
      limits_(limits),
      read_only_(read_only),
      table_(std::move(table), dependencies_.widths),
      changes_(table_),
      points_(dependencies_.points, dependencies_.uids, dependencies_.widths, changes_,
              [this](std::string_view metric) { return kept_from(metric); }),
      units_computed_(add_counter(dependencies_.registry, "halite_views_units_total",
                                  "Hours, or longer buckets, of a metric computed for views.")),
      points_read_(add_counter(dependencies_.registry, "halite_views_points_total",
                               "Points, or totals in their place, read to compute views.")) {}

ViewStore::~ViewStore() = default;

Task<std::unique_ptr<ViewStore>> ViewStore::open(Dependencies dependencies,
                                                 std::vector<ViewRule> rules, ViewLimits limits,
                                                 bool read_only) {
  auto opening = dependencies.store.open_table(ViewTable::spec(dependencies.table));
  CO_TRY(std::shared_ptr<Table> table, co_await std::move(opening));
  std::unique_ptr<ViewStore> opened(
      new ViewStore(std::move(dependencies), std::move(table), limits, read_only));
  auto setting = opened->set_rules(std::move(rules));
  CO_TRY_VOID(co_await std::move(setting));
  auto loading = opened->table_.units();
  CO_TRY(const std::vector<StoredUnits> units, co_await std::move(loading));
  std::set<ViewId> known;
  for (const auto& view : opened->views()) known.insert(view->id);
  for (const StoredUnits& one : units) {
    if (known.contains(one.view)) opened->changes_.add_units(one);
  }
  co_return opened;
}

// The points of a view that does not exist are not watched, so its totals are removed. Until that
// is stored they are watched; afterwards its id is never used again. An error changes no view in
// memory.
Task<void> ViewStore::set_rules(std::vector<ViewRule> rules) {
  auto entering = turn_->enter({1, 1}, kTurnWaitMax);
  const Result<Semaphore::Permit> turn = co_await std::move(entering);
  if (!turn && turn.error().code == Errc::kOverloaded) {
    co_return fail(Errc::kOverloaded, "a day of a view is being computed, which takes long");
  }
  if (!turn) co_return std::unexpected(turn.error());
  auto listing = table_.views();
  CO_TRY(std::vector<StoredView> gone, co_await std::move(listing));
  auto listing_removed = table_.removed();
  CO_TRY(const std::vector<ViewId> removed, co_await std::move(listing_removed));
  ViewId next_id = 1;
  for (const StoredView& view : gone) next_id = std::max(next_id, view.id + 1);
  for (const ViewId view : removed) next_id = std::max(next_id, view + 1);
  Views views;
  std::erase_if(gone, [&](const StoredView& view) {
    const auto rule = std::ranges::find_if(rules, [&view](const ViewRule& one) {
      return one.name == view.name && one.definition() == view.definition;
    });
    if (rule == rules.end() || std::ranges::find(removed, view.id) != removed.end()) return false;
    views.push_back(std::make_shared<const View>(view.id, std::move(*rule)));
    rules.erase(rule);
    return true;
  });
  if (read_only_) rules.clear();
  if (!read_only_) {
    const bool any = !views.empty() || !rules.empty();
    auto writing = write_rules(gone, rules, next_id, any);
    CO_TRY_VOID(co_await std::move(writing));
  }
  for (ViewRule& rule : rules) {
    views.push_back(std::make_shared<const View>(next_id++, std::move(rule)));
  }
  for (const auto& view : views) changes_.add_view(view->id, view->rule.unit_ms());
  std::ranges::sort(views, {}, [](const auto& view) { return view->rule.name; });
  const Views before = this->views();
  publish(views);
  for (const auto& view : before) {
    if (std::ranges::find(views, view->id, &View::id) != views.end()) continue;
    auto removing = changes_.remove_view(view->id);
    CO_TRY_VOID(co_await std::move(removing));
  }
  co_return Result<void>{};
}

// Removes definitions and writes those of new rules, whose ids count from `next_id`. While there is
// `any` view, versions that would change points beside it are kept out.
Task<void> ViewStore::write_rules(std::span<const StoredView> gone, std::span<const ViewRule> fresh,
                                  ViewId next_id, bool any) {
  if (any) {
    auto shutting = dependencies_.store.set_format(StoreFormat::kViews);
    CO_TRY_VOID(co_await std::move(shutting));
  }
  const Views used = views();
  for (const StoredView& view : gone) {
    const auto known = std::ranges::find(used, view.id, &View::id);
    if (known != used.end()) removed_[view.id] = *known;
    auto marking = table_.mark_removed(view.id);
    CO_TRY_VOID(co_await std::move(marking));
    auto removing = table_.remove_definition(view.name);
    CO_TRY_VOID(co_await std::move(removing));
  }
  for (const ViewRule& rule : fresh) {
    auto writing =
        table_.write_view({.id = next_id++, .name = rule.name, .definition = rule.definition()});
    CO_TRY_VOID(co_await std::move(writing));
  }
  if (!any) {
    auto opening = dependencies_.store.set_format(StoreFormat::kFirst);
    CO_TRY_VOID(co_await std::move(opening));
  }
  co_return Result<void>{};
}

// The views that queries and the builder use from now on.
void ViewStore::publish(Views views) {
  for (auto& [name, work] : metrics_) work.views.clear();
  found_ms_ = 0;
  const std::lock_guard lock(mutex_);
  views_ = std::move(views);
  std::erase_if(progress_, [this](const auto& entry) {
    return std::ranges::none_of(
        views_, [&entry](const auto& view) { return view->rule.name == entry.first; });
  });
}

ViewStore::Views ViewStore::views() const {
  const std::lock_guard lock(mutex_);
  return views_;
}

std::vector<std::shared_ptr<const View>> ViewStore::views_of(std::string_view metric) const {
  Views found;
  for (auto& view : views()) {
    if (view->rule.covers(metric)) found.push_back(view);
  }
  return found;
}

TimestampMs ViewStore::ago(std::int64_t time_ms) const {
  return time_ms == 0 ? 0 : std::max<TimestampMs>(0, dependencies_.clock.now_ms() - time_ms);
}

TimestampMs ViewStore::kept_from(std::string_view metric) const {
  return ago(dependencies_.ttl_ms(metric));
}

Task<double> ViewStore::stored_part(const View& view, std::string metric, TimeRange range) {
  auto finding = dependencies_.uids.find(NameKind::kMetric, metric);
  CO_TRY(const UidTable::NameMapping name, co_await std::move(finding));
  const std::int64_t unit_ms = view.rule.unit_ms();
  const UnitRange units = {.begin = range.begin / unit_ms,
                           .end = (range.end + unit_ms - 1) / unit_ms};
  if (units.begin >= units.end) co_return 0.0;
  const std::vector<bool> built =
      changes_.built(view.id, dependencies_.uids.uid_bytes(NameKind::kMetric, name.uid), units);
  const TimestampMs kept = kept_from(metric);
  const TimestampMs view_kept = ago(view.rule.keep_ms);
  std::size_t stored = 0;
  for (std::size_t i = 0; i < built.size(); ++i) {
    const TimestampMs begin = (units.begin + static_cast<std::int64_t>(i)) * unit_ms;
    if (begin >= view_kept && (built[i] || begin + unit_ms <= kept)) ++stored;
  }
  co_return static_cast<double>(stored) / static_cast<double>(built.size());
}

std::unique_ptr<BlockSource> ViewStore::source(std::shared_ptr<const View> view,
                                               std::string_view metric) {
  const TimestampMs view_kept_from = ago(view->rule.keep_ms);
  return view_source({.points = dependencies_.points,
                      .uids = dependencies_.uids,
                      .table = table_,
                      .changes = changes_,
                      .widths = dependencies_.widths,
                      .view = std::move(view),
                      .kept_from = kept_from(metric),
                      .view_kept_from = view_kept_from,
                      .bytes_max = limits_.bytes_max});
}

Task<void> ViewStore::note_changes(std::vector<ViewChanges::Change> changes) {
  auto spoiling = changes_.spoil(changes);
  co_return co_await std::move(spoiling);
}

Task<void> ViewStore::rebuild(std::string name) {
  std::shared_ptr<const View> view;
  for (auto& one : views()) {
    if (one->rule.name == name) view = one;
  }
  if (view == nullptr) {
    co_return fail(Errc::kNotFound, fmt::format("there is no view \"{}\"", name));
  }
  auto forgetting = changes_.clear_view(view->id);
  co_return co_await std::move(forgetting);
}

void ViewStore::note_units(const View& view, const std::string& metric,
                           const std::vector<bool>& built, UnitRange units) {
  const auto newest = std::find(built.rbegin(), built.rend(), true);
  const std::int64_t end = units.begin + (built.rend() - newest);
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[view.rule.name];
  MetricProgress& of_metric = progress.metrics[metric];
  progress.waiting -= of_metric.waiting;
  of_metric.waiting = static_cast<std::uint64_t>(std::ranges::count(built, false));
  progress.waiting += of_metric.waiting;
  of_metric.computed_until = newest == built.rend() ? 0 : end * view.rule.unit_ms();
  if (progress.waiting == 0) progress.computed = 0;
  if (progress.computed == 0) progress.began_ms = dependencies_.clock.now_ms();
}

void ViewStore::note(const Views& views, std::string_view building, std::string_view error) {
  const std::lock_guard lock(mutex_);
  for (const auto& view : views) {
    Progress& progress = progress_[view->rule.name];
    progress.building = building;
    progress.error = error;
  }
}

Task<std::vector<ViewStatus>> ViewStore::status() {
  std::vector<ViewStatus> all;
  for (const auto& view : views()) {
    ViewStatus& one = all.emplace_back(status_of(*view));
    auto estimating = table_.estimate(view->id);
    const Result<RangeEstimate> stored = co_await std::move(estimating);
    if (!stored && stored.error().code != Errc::kUnsupported) {
      co_return std::unexpected(stored.error());
    }
    if (stored) one.stored = *stored;
  }
  co_return all;
}

ViewStatus ViewStore::status_of(const View& view) const {
  ViewStatus status{.rule = view.rule, .units_built = changes_.built_count(view.id)};
  const TimestampMs now = dependencies_.clock.now_ms();
  const std::lock_guard lock(mutex_);
  const auto found = progress_.find(view.rule.name);
  if (found == progress_.end()) return status;
  const Progress& progress = found->second;
  status.metrics = progress.metrics.size();
  status.units_waiting = progress.waiting;
  for (const auto& [name, metric] : progress.metrics) {
    if (metric.computed_until == 0) continue;
    status.lag_ms = std::max(status.lag_ms.value_or(0), now - metric.computed_until);
  }
  if (status.units_waiting > 0 && progress.computed > 0) {
    const double units =
        static_cast<double>(status.units_waiting) / static_cast<double>(progress.computed);
    status.time_left_ms =
        static_cast<std::int64_t>(units * static_cast<double>(now - progress.began_ms));
  }
  status.building = progress.building;
  status.error = progress.error;
  return status;
}

}  // namespace halite::storage
