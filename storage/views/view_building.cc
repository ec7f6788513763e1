// How a ViewStore computes totals: what to compute next, and the steps of one day.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <prometheus/counter.h>

#include "common/units.h"
#include "storage/catalog/select_series.h"
#include "storage/views/view_store.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kFindMetricsMs = 10'000;
constexpr std::int64_t kDropOldMs = kHourMs;

bool is_too_large(const Result<void>& built) {
  return !built && built.error().code == Errc::kTooLarge;
}

}  // namespace

// Deletes what removed views left, unless queries still read it.
Task<void> ViewStore::clear_removed() {
  auto listing = table_.removed();
  CO_TRY(const std::vector<ViewId> removed, co_await std::move(listing));
  for (const ViewId view : removed) {
    const auto known = removed_.find(view);
    if (known != removed_.end() && !known->second.expired()) continue;
    removed_.erase(view);
    auto clearing = table_.clear_removed(view);
    CO_TRY_VOID(co_await std::move(clearing));
  }
  co_return Result<void>{};
}

// The metrics that exist and that views cover.
Task<void> ViewStore::find_metrics() {
  std::map<std::string, MetricWork> found;
  for (const auto& view : views()) {
    const std::string& pattern = view->rule.metrics;
    const bool prefix = pattern.ends_with('*');
    std::vector<std::string> names = {pattern};
    if (prefix) {
      auto suggesting = dependencies_.points.suggest(
          NameKind::kMetric, pattern.substr(0, pattern.size() - 1), limits_.metrics_max);
      CO_TRY(names, co_await std::move(suggesting));
    }
    for (const std::string& name : names) {
      auto finding = dependencies_.uids.find(NameKind::kMetric, name);
      const Result<UidTable::NameMapping> known = co_await std::move(finding);
      if (!known && known.error().code == Errc::kNotFound) continue;
      if (!known) co_return std::unexpected(known.error());
      if (found.size() == limits_.metrics_max && !found.contains(name)) {
        note({view}, "", "storage.views_metrics_max is reached: other metrics are not computed");
        break;
      }
      MetricWork& work = found[name];
      work.uid = dependencies_.uids.uid_bytes(NameKind::kMetric, known->uid);
      work.views.push_back(view);
      if (const auto before = metrics_.find(name); before != metrics_.end()) {
        work.units_max = before->second.units_max;
      }
    }
  }
  metrics_ = std::move(found);
  {
    const std::lock_guard lock(mutex_);
    for (auto& [name, progress] : progress_) {
      std::erase_if(progress.metrics, [this, &name, &progress](const auto& entry) {
        const auto work = metrics_.find(entry.first);
        const auto covers = [&name](const auto& view) { return view->rule.name == name; };
        const bool gone =
            work == metrics_.end() || std::ranges::none_of(work->second.views, covers);
        if (gone) progress.waiting -= entry.second.waiting;
        return gone;
      });
    }
  }
  found_ms_ = dependencies_.clock.now_ms();
  co_return Result<void>{};
}

// The series of a metric. kConflict: another metric has the name by now.
Task<std::shared_ptr<const Selection>> ViewStore::select(std::string metric, Bytes uid,
                                                         TimestampMs since) {
  SeriesQuery query;
  query.metric = std::move(metric);
  query.since = since;
  auto selecting = dependencies_.points.select(std::move(query), {});
  Result<std::shared_ptr<const Selection>> selection = co_await std::move(selecting);
  const bool renamed = selection ? as_rows(*selection)->metric_uid() != load_be_width(uid)
                                 : selection.error().code == Errc::kNotFound;
  if (renamed) co_return fail(Errc::kConflict, "the metric was renamed");
  co_return selection;
}

// The first day with points that have not expired, by an estimate; today if there are none.
Task<Day> ViewStore::first_day(std::string metric, Bytes uid) {
  const Day today = day_of(dependencies_.clock.now_ms());
  if (dependencies_.sink != nullptr) {
    auto looking = dependencies_.sink->first_time(uid, kept_from(metric));
    CO_TRY(const std::optional<TimestampMs> first, co_await std::move(looking));
    co_return first ? std::min(day_of(*first), today) : today;
  }
  auto selecting = select(metric, uid, 0);
  const auto selection = co_await std::move(selecting);
  if (!selection) co_return std::unexpected(selection.error());
  const Day oldest = day_of(kept_from(metric));
  const auto has_points = [&](Day end) -> Task<bool> {
    auto estimating = dependencies_.points.estimate(
        *selection, {.begin = begin_of(oldest), .end = begin_of(end)});
    CO_TRY(const ReadEstimate estimate, co_await std::move(estimating));
    co_return estimate.rows > 0;
  };
  // Points before `low` do not exist, points before `high` do, or it is today.
  Day low = oldest;
  Day high = today;
  while (low < high) {
    const Day middle = low + (high - low) / 2;
    auto asking = has_points(middle + 1);
    const Result<bool> any = co_await std::move(asking);
    if (!any && any.error().code == Errc::kUnsupported) co_return oldest;
    if (!any) co_return std::unexpected(any.error());
    if (*any) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  co_return low;
}

Task<void> ViewStore::find_oldest(const View& view, const std::string& metric, const Bytes& uid) {
  if (changes_.oldest(view.id, uid)) co_return Result<void>{};
  auto estimating = first_day(metric, uid);
  CO_TRY(const Day estimated, co_await std::move(estimating));
  changes_.guess_oldest(view.id, uid, estimated);
  auto waiting = changes_.wait_for_writers();
  CO_TRY_VOID(co_await std::move(waiting));
  auto settling = dependencies_.points.settle();
  CO_TRY_VOID(co_await std::move(settling));
  auto looking = first_time(metric, uid, begin_of(estimated));
  CO_TRY(const TimestampMs first, co_await std::move(looking));
  auto confirming = changes_.confirm_oldest(view.id, uid, day_of(first));
  co_return co_await std::move(confirming);
}

// The time of the first point before `end`; `end` if there is none.
Task<TimestampMs> ViewStore::first_time(std::string metric, Bytes uid, TimestampMs end) {
  auto selecting = select(metric, uid, 0);
  const auto selection = co_await std::move(selecting);
  if (!selection) co_return std::unexpected(selection.error());
  TimestampMs first = end;
  for (const ShardSeriesCount& share : dependencies_.points.series_by_shard(**selection)) {
    const std::unique_ptr<BlockScan> scan = dependencies_.points.scan(
        *selection, {.begin = kept_from(metric), .end = first}, share.shard);
    while (true) {
      auto next = scan->next();
      CO_TRY(const std::vector<Block> blocks, co_await std::move(next));
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        if (!block.times.empty()) first = std::min(first, block.times.front());
      }
    }
  }
  co_return first;
}

// Removes what the view no longer keeps.
Task<void> ViewStore::drop_old(const View& view, const Bytes& uid) {
  const TimestampMs now = dependencies_.clock.now_ms();
  const Day first = day_of(ago(view.rule.keep_ms));
  if (first == 0) co_return Result<void>{};
  TimestampMs& dropped = dropped_ms_[{view.id, uid}];
  if (now - dropped < kDropOldMs) co_return Result<void>{};
  dropped = now;
  auto forgetting = changes_.forget_days_before(view.id, uid, first);
  CO_TRY_VOID(co_await std::move(forgetting));
  auto removing = table_.remove_days_before(view.id, uid, first);
  co_return co_await std::move(removing);
}

// The newest day with units to compute. Units whose points have begun to expire stay as they are.
std::optional<ViewStore::DayWork> ViewStore::find_work(const std::string& metric,
                                                       const MetricWork& work) {
  const TimestampMs until = dependencies_.clock.now_ms() - limits_.settle_ms;
  std::optional<DayWork> found;
  for (const auto& view : work.views) {
    const std::optional<Day> oldest = changes_.oldest(view->id, work.uid);
    if (!oldest) continue;
    const std::int64_t unit_ms = view->rule.unit_ms();
    const TimestampMs begin =
        std::max({begin_of(*oldest), kept_from(metric), ago(view->rule.keep_ms)});
    const UnitRange units = {.begin = (begin + unit_ms - 1) / unit_ms, .end = until / unit_ms};
    if (units.begin >= units.end) continue;
    const std::vector<bool> built = changes_.built(view->id, work.uid, units);
    note_units(*view, metric, built, units);
    const std::int64_t of_day = kDayMs / unit_ms;
    const auto last = std::find(built.rbegin(), built.rend(), false);
    if (last == built.rend()) continue;
    const std::int64_t last_unit = units.begin + static_cast<std::int64_t>(built.rend() - last) - 1;
    const auto day = static_cast<Day>(last_unit / of_day);
    if (found && day < found->day) continue;
    if (!found || day > found->day) {
      found = DayWork{.metric = metric, .uid = work.uid, .day = day, .parts = {}};
    }
    std::int64_t first_unit = last_unit;
    for (std::int64_t unit = std::max(units.begin, day * of_day); unit < last_unit; ++unit) {
      if (built[static_cast<std::size_t>(unit - units.begin)]) continue;
      first_unit = unit;
      break;
    }
    found->parts.emplace_back(view, UnitRange{.begin = first_unit, .end = last_unit + 1});
  }
  return found;
}

Task<bool> ViewStore::build_some() {
  if (read_only_) co_return false;
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  auto building = build_next();
  co_return co_await std::move(building);
}

Task<bool> ViewStore::build_next() {
  if (dependencies_.clock.now_ms() - found_ms_ >= kFindMetricsMs) {
    auto clearing = clear_removed();
    CO_TRY_VOID(co_await std::move(clearing));
    auto finding = find_metrics();
    CO_TRY_VOID(co_await std::move(finding));
  }
  // One metric after the other, so that none waits for all days of another.
  for (std::size_t looked = 0; looked < metrics_.size(); ++looked) {
    auto next = metrics_.upper_bound(last_metric_);
    if (next == metrics_.end()) next = metrics_.begin();
    last_metric_ = next->first;
    auto building = build_metric(next->first, next->second);
    const Result<bool> built = co_await std::move(building);
    if (!built && built.error().code == Errc::kConflict) {  // renamed: look again
      found_ms_ = 0;
      continue;
    }
    if (!built) co_return std::unexpected(built.error());
    if (*built) co_return true;
  }
  co_return false;
}

Task<bool> ViewStore::build_metric(const std::string& metric, MetricWork& work) {
  for (const auto& view : work.views) {
    auto finding = find_oldest(*view, metric, work.uid);
    CO_TRY_VOID(co_await std::move(finding));
    auto dropping = drop_old(*view, work.uid);
    CO_TRY_VOID(co_await std::move(dropping));
  }
  std::optional<DayWork> found = find_work(metric, work);
  if (!found) co_return false;
  while (true) {
    if (work.units_max != 0) found->keep(work.units_max);
    auto building = build(*found);
    const Result<void> built = co_await std::move(building);
    if (built) co_return true;
    if (!is_too_large(built) || found->units() <= 1) co_return std::unexpected(built.error());
    work.units_max = found->units() / 2;
  }
}

std::int64_t ViewStore::DayWork::units() const {
  std::int64_t count = 0;
  for (const auto& [view, range] : parts) count += range.end - range.begin;
  return count;
}

void ViewStore::DayWork::keep(std::int64_t units_max) {
  for (auto& [view, range] : parts) {
    range.begin = std::max(range.begin, range.end - units_max);
    units_max -= range.end - range.begin;
  }
  std::erase_if(parts, [](const auto& part) { return part.second.begin == part.second.end; });
}

Task<void> ViewStore::build(const DayWork& work) {
  Views of_work;
  std::vector<ViewChanges::Building> units;
  for (const auto& [view, range] : work.parts) {
    of_work.push_back(view);
    units.push_back({.view = view->id, .metric = work.uid, .units = range});
  }
  note(of_work, fmt::format("{}, day {}", work.metric, work.day), "");
  changes_.begin(std::move(units));
  const auto compute = [&]() -> Task<void> {
    auto waiting = changes_.wait_for_writers();
    CO_TRY_VOID(co_await std::move(waiting));
    auto settling = dependencies_.points.settle();
    CO_TRY_VOID(co_await std::move(settling));
    auto reading = totals_of(work);
    CO_TRY(const std::vector<GroupTotals> totals, co_await std::move(reading));
    // A crash must not lose points that the totals contain.
    auto syncing = dependencies_.points.settle();
    CO_TRY_VOID(co_await std::move(syncing));
    for (std::size_t i = 0; i < work.parts.size(); ++i) {
      const View& view = *work.parts[i].first;
      if (dependencies_.sink != nullptr) {
        auto replacing =
            dependencies_.sink->replace(view.rule, work.uid, work.parts[i].second, totals[i]);
        CO_TRY_VOID(co_await std::move(replacing));
        continue;
      }
      auto preparing = rows_of(view, work, work.parts[i].second, totals[i]);
      CO_TRY(std::vector<StoredDay> rows, co_await std::move(preparing));
      auto writing = table_.write_days(view.id, std::move(rows));
      CO_TRY_VOID(co_await std::move(writing));
    }
    auto finishing = changes_.finish();
    co_return co_await std::move(finishing);
  };
  auto computing = compute();
  const Result<void> built = co_await std::move(computing);
  if (!built) changes_.give_up();
  const bool in_parts = is_too_large(built) && work.units() > 1;
  note(of_work, "", built || in_parts ? "" : built.error().message);
  if (!built) co_return built;
  units_computed_.Increment(static_cast<double>(work.units()));
  const std::lock_guard lock(mutex_);
  for (const auto& [view, range] : work.parts) {
    progress_[view->rule.name].computed += static_cast<std::uint64_t>(range.end - range.begin);
  }
  co_return built;
}

Task<std::vector<GroupTotals>> ViewStore::totals_of(const DayWork& work) {
  TimeRange hull = {.begin = begin_of(work.day + 1), .end = begin_of(work.day)};
  std::vector<WantedTotals> wanted;
  for (const auto& [view, units] : work.parts) {
    const std::int64_t unit_ms = view->rule.unit_ms();
    const TimeRange range = {.begin = units.begin * unit_ms, .end = units.end * unit_ms};
    hull = {.begin = std::min(hull.begin, range.begin), .end = std::max(hull.end, range.end)};
    wanted.push_back({.rule = &view->rule, .range = range});
  }
  auto selecting = select(work.metric, work.uid, hull.begin);
  const auto selection = co_await std::move(selecting);
  if (!selection) co_return std::unexpected(selection.error());
  TotalsReading reading{.points = dependencies_.points,
                        .selection = *selection,
                        .range = hull,
                        .wanted = std::move(wanted),
                        .widths = dependencies_.widths,
                        .bytes_max = limits_.bytes_max};
  auto computing = read_totals(reading);
  Result<std::vector<GroupTotals>> totals = co_await std::move(computing);
  points_read_.Increment(static_cast<double>(reading.points_read.load()));
  co_return totals;
}

// The cells of the units, with empty ones for groups that have lost all points.
Task<std::vector<StoredDay>> ViewStore::rows_of(const View& view, const DayWork& work,
                                                UnitRange units, const GroupTotals& totals) {
  const std::int64_t unit_ms = view.rule.unit_ms();
  const std::int64_t first_of_day = begin_of(work.day) / unit_ms;
  const auto buckets = static_cast<std::size_t>(unit_ms / view.rule.interval_ms);
  std::map<Bytes, StoredDay> rows;
  const auto row_of = [&](const Bytes& group) -> StoredDay& {
    StoredDay& row = rows[group];
    row.day = work.day;
    row.group = group;
    return row;
  };
  const auto remove_stored = [&](StoredDay day) -> Result<void> {
    for (const auto& [number, cell] : day.units) {
      const std::int64_t unit = first_of_day + number;
      if (unit >= units.begin && unit < units.end) row_of(day.group).units[number] = {};
    }
    return {};
  };
  auto reading = table_.read_days(view.id, work.uid, work.day, work.day + 1, {}, remove_stored);
  CO_TRY_VOID(co_await std::move(reading));
  for (const auto& [group, all] : totals.groups()) {
    for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
      const auto from = static_cast<std::size_t>(unit - units.begin) * buckets;
      Bytes cell = view_cell(view.rule.functions, std::span(all).subspan(from, buckets));
      if (cell.empty()) continue;
      row_of(group).units[static_cast<std::uint8_t>(unit - first_of_day)] = std::move(cell);
    }
  }
  std::vector<StoredDay> all;
  for (auto& [group, row] : rows) all.push_back(std::move(row));
  co_return all;
}

}  // namespace halite::storage
