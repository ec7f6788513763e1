#include "storage/views/watched_points.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "common/units.h"
#include "storage/catalog/select_series.h"

namespace halite::storage {

Task<Accepted> WatchedPoints::append(PointBatch batch) {
  const ViewChanges::Entered entered = changes_.enter();
  const TimestampMs watched = changes_.watched_until();
  if (std::ranges::none_of(batch.times, [watched](TimestampMs time) { return time < watched; })) {
    auto appending = inner().append(std::move(batch));
    co_return co_await std::move(appending);
  }
  Late late = late_points(batch, watched);
  auto spoiling = changes_.spoil(late.changes);
  CO_TRY_VOID(co_await std::move(spoiling));
  std::vector<std::size_t> taken;
  std::vector<Refusal> refused = refuse(batch, late, taken);
  auto appending = inner().append(std::move(batch));
  CO_TRY(Accepted accepted, co_await std::move(appending));
  if (refused.empty()) co_return accepted;
  for (Refusal& refusal : accepted.refused) {
    refused.push_back({.index = taken[refusal.index], .error = std::move(refusal.error)});
  }
  std::ranges::sort(refused, {}, &Refusal::index);
  accepted.refused = std::move(refused);
  co_return accepted;
}

WatchedPoints::Late WatchedPoints::late_points(const PointBatch& batch, TimestampMs watched) const {
  Late late;
  std::map<std::pair<BytesView, TimestampMs>, std::size_t> known;
  auto place = known.end();  // consecutive points mostly have one metric and hour
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const TimestampMs time = batch.times[i];
    if (time >= watched || time < 0) continue;
    const Series& one = series(batch.series[i]);
    const std::pair key(one.tsuid.metric(), time - time % kHourMs);
    if (place == known.end() || place->first != key) {
      place = known.try_emplace(key, late.changes.size()).first;
    }
    if (place->second == late.changes.size()) {
      late.changes.push_back({.metric = Bytes(key.first),
                              .times = {.begin = key.second, .end = key.second + kHourMs},
                              .kept_from = kept_from_(one.metric)});
    }
    late.change_of.emplace_back(i, place->second);
  }
  return late;
}

std::vector<Refusal> WatchedPoints::refuse(PointBatch& batch, const Late& late,
                                           std::vector<std::size_t>& taken) {
  std::vector<Refusal> refused;
  std::set<std::size_t> out;
  for (const auto& [point, change] : late.change_of) {
    if (!late.changes[change].in_kept) continue;
    out.insert(point);
    refused.push_back(
        {.index = point,
         .error = {Errc::kInvalidArgument,
                   fmt::format("the time {} ms is too old: a view keeps the totals of its hour, "
                               "and other points of it have expired",
                               batch.times[point]),
                   {}}});
  }
  if (refused.empty()) return refused;
  PointBatch rest;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (out.contains(i)) continue;
    rest.add(batch.series[i], batch.times[i], batch.values[i], batch.flags[i]);
    taken.push_back(i);
  }
  batch = std::move(rest);
  return refused;
}

Task<std::uint64_t> WatchedPoints::delete_range(std::shared_ptr<const Selection> selection,
                                                TimeRange range) {
  const ViewChanges::Entered entered = changes_.enter();
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  std::set<std::uint64_t> metrics;
  if (!rows->by_tsuid()) metrics.insert(rows->metric_uid());
  for (const Bytes& tsuid : rows->tsuids()) {
    metrics.insert(load_be_width(BytesView(tsuid).substr(0, widths_.metric)));
  }
  std::vector<ViewChanges::Change> changes;
  for (const std::uint64_t uid : metrics) {
    auto naming = uids_.name_of(NameKind::kMetric, uid);
    CO_TRY(const UidTable::NameMapping metric, co_await std::move(naming));
    changes.push_back({.metric = uids_.uid_bytes(NameKind::kMetric, uid),
                       .times = {.begin = std::max<TimestampMs>(0, range.begin), .end = range.end},
                       .kept_from = kept_from_(metric.name),
                       .deletes = true});
  }
  auto spoiling = changes_.spoil(changes);
  CO_TRY_VOID(co_await std::move(spoiling));
  auto deleting = inner().delete_range(std::move(selection), range);
  co_return co_await std::move(deleting);
}

}  // namespace halite::storage
