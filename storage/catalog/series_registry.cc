#include "storage/catalog/series_registry.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

constexpr std::size_t kStoreSeries = 64 * 1024;  // series whose rows are built at a time

}  // namespace

SeriesRegistry::SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series,
                               UidWidths widths, SeriesLimits limits,
                               std::unique_ptr<NewSeriesQuota> quota,
                               std::shared_ptr<const Sharding> sharding, NameForm form)
    : widths_(widths),
      quota_(std::move(quota)),
      sharding_(std::move(sharding)),
      uids_(std::move(names), widths, form),
      rows_(std::move(series)),
      table_(limits, widths),
      loader_(*rows_, uids_, table_, widths, *sharding_) {
  uids_.pin_with([this] { return table_.pin(); });
  uids_.watch(
      {.assigned = {}, .renamed = [this](NameKind kind, const UidTable::NameMapping& entry) {
         table_.rename({kind, entry.uid, entry.name});
       }});
}

// If no series can be added, creates no names: each would belong to a refused series.
Result<void> SeriesRegistry::check_room() const {
  TRY_VOID(table_.check_room(1, 0));
  if (!quota_->limited()) return {};
  return quota_->check(0);
}

void SeriesRegistry::close_names(InternBatch& work) const {
  const Result<void> room = check_room();
  if (room) return;
  for (const std::size_t index : work.incomplete()) work.close(index, room.error());
}

// Creates no names for a metric at its limit either. Counting its series requires that all stored
// ones are loaded. If they cannot be loaded, no series of the metric is new.
Task<void> SeriesRegistry::close_names_by_metric(InternBatch& work) {
  if (!quota_->limits_metrics()) co_return Result<void>();
  for (const std::size_t index : work.incomplete()) {
    const std::uint64_t metric = work.metric_uid_of(index);
    Task<void> loading = loader_.load_metric({.metric_uid = metric}, {});
    Result<void> room = co_await std::move(loading);
    if (room) room = quota_->check(table_.count_of_metric(metric));
    if (!room) work.close(index, room.error());
  }
  co_return Result<void>();
}

// Assigns ids to the names of one kind that have none and may be created.
Task<void> SeriesRegistry::resolve_kind(NameKind kind, bool create, InternBatch& work) {
  std::vector<UidTable::NameRequest> unknown = work.unknown(kind, create);
  if (unknown.empty()) co_return Result<void>();
  CO_TRY(const auto entries, co_await uids_.resolve_logged(std::move(unknown)));
  work.resolved(entries);
  co_return Result<void>();
}

Task<void> SeriesRegistry::restore(std::vector<LoggedSeries> series) {
  std::vector<SeriesId> ids;
  ids.reserve(series.size());
  for (const LoggedSeries& one : series) ids.push_back(one.id);
  CO_TRY_VOID(co_await restore_series(table_, uids_, widths_, series));
  co_return unstored_.add([&ids](std::vector<SeriesId>& waiting) -> Result<void> {
    waiting.insert(waiting.end(), ids.begin(), ids.end());
    return {};
  });
}

Task<InternedSeries> SeriesRegistry::intern(std::vector<SeriesName> names, CreateNames create) {
  std::shared_ptr<const SeriesPin> pin = table_.pin();
  InternBatch work(uids_, std::move(names));
  // One kind after the other, so that a refused series creates as few names as possible.
  close_names(work);
  CO_TRY_VOID(co_await resolve_kind(NameKind::kMetric, create.metrics, work));
  CO_TRY_VOID(co_await close_names_by_metric(work));
  CO_TRY_VOID(co_await resolve_kind(NameKind::kTagKey, create.tag_keys, work));
  CO_TRY_VOID(co_await resolve_kind(NameKind::kTagValue, create.tag_values, work));

  std::vector<Bytes> tsuids(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!work.refused(i)) tsuids[i] = work.tsuid_of(i, widths_);
  }
  const std::vector<SeriesTable::Known> known = table_.use(tsuids);
  std::vector<InternBatch::NewEntry> fresh;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.refused(i)) continue;
    if (known[i].id) {
      work.accept(i, *known[i].id);
      continue;
    }
    fresh.push_back(work.fresh(i, std::move(tsuids[i]), !known[i].tags));
    NewSeries& series = fresh.back().series;
    series.shard = sharding_->shard_of(series.metric_uid, series.metric, series.tsuid);
  }
  if (!fresh.empty()) CO_TRY_VOID(co_await register_new(work, std::move(fresh)));
  for (const std::size_t index : work.over_quota()) quota_->count_refused(work.metric_of(index));
  co_return InternedSeries(std::move(pin), work.take_outcomes());
}

// Refuses new series over quota and returns the others. A series with a row is not new, only not
// loaded since the start.
Task<std::vector<InternBatch::NewEntry>> SeriesRegistry::within_quota(
    InternBatch& work, std::vector<InternBatch::NewEntry> fresh, NewSeriesQuota::Share& share) {
  if (!quota_->limited()) co_return fresh;
  std::vector<Bytes> tsuids;
  boost::unordered_flat_map<std::uint64_t, Result<void>> counted;  // by metric
  for (const InternBatch::NewEntry& one : fresh) {
    tsuids.push_back(one.series.tsuid);
    const std::uint64_t metric = one.series.metric_uid;
    if (!quota_->limits_metrics() || counted.contains(metric)) continue;
    Task<void> loading = loader_.load_metric({.metric_uid = metric}, {});
    counted.emplace(metric, co_await std::move(loading));
  }
  Task<std::vector<bool>> looking = have_series_rows(*rows_, std::move(tsuids));
  CO_TRY(const std::vector<bool> known, co_await std::move(looking));
  boost::unordered_flat_set<Bytes> taken;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> of_metric;  // taken so far, by metric
  std::vector<InternBatch::NewEntry> fit;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    InternBatch::NewEntry& one = fresh[i];
    const bool there =
        known[i] || table_.find(one.series.tsuid) || taken.contains(one.series.tsuid);
    if (!there) {
      std::uint64_t& more = of_metric[one.series.metric_uid];
      const auto told = counted.find(one.series.metric_uid);
      Result<void> room = told == counted.end() ? Result<void>() : told->second;
      if (room) room = share.take(table_.count_of_metric(one.series.metric_uid) + more);
      if (!room) {
        work.refuse_over_quota(one.index, room.error());
        continue;
      }
      ++more;
      taken.insert(one.series.tsuid);
    }
    fit.push_back(std::move(one));
  }
  co_return fit;
}

// Refuses series that do not fit the table's limits and returns the others. Counts a repeated
// series once.
std::vector<InternBatch::NewEntry> SeriesRegistry::with_room(
    InternBatch& work, std::vector<InternBatch::NewEntry> fresh) const {
  const auto bytes_of = [&work](const InternBatch::NewEntry& one) {
    return series_bytes(work.tags_of(one.index), one.series.tsuid.size());
  };
  std::size_t bytes = 0;
  for (const InternBatch::NewEntry& one : fresh) bytes += bytes_of(one);
  if (table_.check_room(fresh.size(), bytes)) return fresh;
  boost::unordered_flat_set<Bytes> taken;
  bytes = 0;
  std::vector<InternBatch::NewEntry> fit;
  for (InternBatch::NewEntry& one : fresh) {
    if (!taken.contains(one.series.tsuid)) {
      const Result<void> room = table_.check_room(taken.size() + 1, bytes + bytes_of(one));
      if (!room) {
        work.refuse_over_quota(one.index, room.error());
        continue;
      }
      bytes += bytes_of(one);
      taken.insert(one.series.tsuid);
    }
    fit.push_back(std::move(one));
  }
  return fit;
}

Task<void> SeriesRegistry::register_new(InternBatch& work,
                                        std::vector<InternBatch::NewEntry> fresh) {
  fresh = with_room(work, std::move(fresh));
  NewSeriesQuota::Share share(*quota_);
  CO_TRY(fresh, co_await within_quota(work, std::move(fresh), share));
  if (fresh.empty()) co_return Result<void>();
  if (!deferred_) {
    CO_TRY_VOID(co_await store_new(fresh));
    share.keep();
    for (const InternBatch::NewEntry& one : fresh) std::ignore = add_series(work, one);
    co_return Result<void>();
  }
  // Atomic, because points of a series with an id may already be on their way into chunks.
  share.keep();
  co_return unstored_.add([this, &work, &fresh](std::vector<SeriesId>& waiting) -> Result<void> {
    for (const InternBatch::NewEntry& one : fresh) {
      const Result<SeriesId> id = add_series(work, one);
      if (id) waiting.push_back(*id);
    }
    return {};
  });
}

// Writes the rows of series without one.
Task<void> SeriesRegistry::store_new(const std::vector<InternBatch::NewEntry>& fresh) {
  std::vector<Bytes> tsuids;
  for (const InternBatch::NewEntry& one : fresh) tsuids.push_back(one.series.tsuid);
  CO_TRY(const std::vector<bool> known, co_await have_series_rows(*rows_, tsuids));
  std::vector<Bytes> absent;
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    if (!known[i]) absent.push_back(std::move(tsuids[i]));
  }
  if (absent.empty()) co_return Result<void>();
  co_return co_await write_series_rows(*rows_, std::move(absent));
}

// Adds a series to memory and reports the result to `work`.
Result<SeriesId> SeriesRegistry::add_series(InternBatch& work, const InternBatch::NewEntry& fresh) {
  Result<SeriesId> id = table_.add(fresh.series);
  if (!id && id.error().code == Errc::kConflict) {
    InternBatch::NewEntry complete = work.fresh(fresh.index, fresh.series.tsuid, true);
    complete.series.shard = fresh.series.shard;
    id = table_.add(complete.series);
  }
  if (id) {
    work.accept(fresh.index, *id);
  } else {
    work.refuse(fresh.index, id.error());
  }
  return id;
}

std::vector<Bytes> SeriesRegistry::tsuids_of(std::span<const SeriesId> ids) const {
  std::vector<Bytes> tsuids;
  tsuids.reserve(ids.size());
  for (const SeriesId id : ids) tsuids.push_back(table_.at(id).tsuid);
  return tsuids;
}

Task<void> SeriesRegistry::store_series(const std::vector<SeriesId>& ids) {
  // A durable row must not refer to a name that a power failure removes. The names of these series
  // are flushed here; those of later series may not be.
  CO_TRY_VOID(co_await uids_.flush_rows());
  for (std::size_t begin = 0; begin < ids.size(); begin += kStoreSeries) {
    const std::size_t count = std::min(kStoreSeries, ids.size() - begin);
    Task<void> writing = write_series_rows(*rows_, tsuids_of(std::span(ids).subspan(begin, count)));
    CO_TRY_VOID(co_await std::move(writing));
  }
  co_return Result<void>();
}

Task<void> SeriesRegistry::flush_rows() {
  auto store = [this](const std::vector<SeriesId>& ids) { return store_series(ids); };
  CO_TRY_VOID(co_await unstored_.flush_rows(std::move(store)));
  co_return co_await uids_.flush_rows();  // names without series
}

// Deletes rows first: a later load does not find the series, and an earlier load notices the
// removal.
Task<void> SeriesRegistry::remove_candidates(std::vector<SeriesId> series,
                                             SeriesTable::Removed& removed) {
  Task<void> writing = delete_series_rows(*rows_, tsuids_of(series));
  const Result<void> written = co_await std::move(writing);
  if (!written) {
    for (const SeriesId id : series) table_.unmark_candidate(id);
  }
  CO_TRY_VOID(unstored_.add([this, &series, &removed](std::vector<SeriesId>& waiting) {
    const std::vector<SeriesId> spared =
        table_.remove(series, SeriesTable::Rows::kDeleted, removed);
    waiting.insert(waiting.end(), spared.begin(), spared.end());
    return Result<void>();
  }));
  co_return written;
}

Task<std::optional<std::uint32_t>> SeriesRegistry::shard_of_stored(Bytes tsuid) {
  const Result<SeriesUids> uids = parse_tsuid(widths_, tsuid);
  if (!uids) co_return std::nullopt;
  const Result<UidTable::NameMapping> metric =
      co_await uids_.name_of(NameKind::kMetric, uids->metric);
  if (!metric && metric.error().code != Errc::kNotFound) co_return std::unexpected(metric.error());
  if (!metric) co_return std::nullopt;
  co_return sharding_->shard_of(uids->metric, metric->name, tsuid);
}

}  // namespace halite::storage
