#include "storage/series_registry.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

namespace halite::storage {
namespace {

constexpr Family kSeriesFamily = 0;
constexpr std::uint32_t kLoadRows = 4096;      // series read in one go
constexpr std::size_t kStoreRows = 16 * 1024;  // series written in one go

const Error& renamed_meanwhile() {
  static const Error kError{Errc::kUnavailable, "a name was changed while it was looked up", {}};
  return kError;
}

}  // namespace

TableSpec series_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"s", 0}};
  return spec;
}

Task<void> write_series_rows(Table& table, std::vector<Bytes> tsuids) {
  for (std::size_t begin = 0; begin < tsuids.size(); begin += kStoreRows) {
    std::vector<RowWrite> rows;
    for (std::size_t i = begin; i < std::min(begin + kStoreRows, tsuids.size()); ++i) {
      RowWrite& row = rows.emplace_back();
      row.row = std::move(tsuids[i]);
      row.puts.push_back(CellWrite{Column{kSeriesFamily, {}}, {}, 0});
    }
    CO_TRY_VOID(co_await table.write(std::move(rows)));
  }
  co_return Result<void>();
}

SeriesRegistry::SeriesRegistry(std::shared_ptr<Table> names, std::shared_ptr<Table> series,
                               const RowLayout& layout, SeriesLimits limits,
                               std::shared_ptr<const Sharding> sharding)
    : layout_(layout),
      sharding_(std::move(sharding)),
      uids_(std::move(names), layout.widths()),
      registry_(std::move(series)),
      table_(limits, layout.widths()) {
  uids_.hold_with([this] { return table_.hold(); });
  uids_.watch({.assigned = {}, .renamed = [this](NameKind kind, const UidTable::Entry& entry) {
                 table_.rename({kind, entry.uid, entry.name});
               }});
}

std::uint32_t SeriesRegistry::shard_of(std::uint64_t metric_uid, std::string_view metric,
                                       BytesView tsuid) const {
  return sharding_ ? sharding_->shard_of(metric_uid, metric, tsuid) : layout_.salt_of(tsuid);
}

std::uint32_t SeriesRegistry::shard_count() const {
  return sharding_ ? sharding_->shard_count() : layout_.salt_buckets();
}

// Gives ids to all names of one kind that have none. Where no series has room none is made: each
// would be of a series that is refused.
Task<void> SeriesRegistry::resolve_kind(NameKind kind, bool create, Interning& work) {
  const Result<void> room = table_.check_room(1, 0);
  std::vector<UidTable::NameRequest> unknown = work.unknown(kind, create && room);
  if (unknown.empty()) co_return Result<void>();
  CO_TRY(auto entries, co_await uids_.resolve_logged(std::move(unknown)));
  if (create && !room) {
    for (Result<UidTable::Entry>& entry : entries) {
      if (!entry && entry.error().code == Errc::kNotFound) entry = std::unexpected(room.error());
    }
  }
  work.resolved(entries);
  co_return Result<void>();
}

// The views point into the names table's own names.
Result<NewSeries> SeriesRegistry::make_series(const SeriesUids& uids, Bytes tsuid) {
  NewSeries series;
  const UidTable::Entry* metric = uids_.cached(NameKind::kMetric, uids.metric);
  if (metric == nullptr) return std::unexpected(renamed_meanwhile());
  series.metric_uid = uids.metric;
  series.metric = metric->name;
  series.shard = shard_of(uids.metric, series.metric, tsuid);
  series.tsuid = std::move(tsuid);
  if (table_.knows_tags(series.tsuid)) return series;
  series.tags.reserve(uids.pairs.size());
  for (const UidPair& pair : uids.pairs) {
    const UidTable::Entry* key = uids_.cached(NameKind::kTagKey, pair.key);
    const UidTable::Entry* value = uids_.cached(NameKind::kTagValue, pair.value);
    if (key == nullptr || value == nullptr) return std::unexpected(renamed_meanwhile());
    series.tags.push_back(SeriesTag{key->name, value->name, pair.key, pair.value});
  }
  return series;
}

Task<std::vector<Result<SeriesId>>> SeriesRegistry::intern(std::vector<SeriesName> names,
                                                           CreateNames create) {
  const std::shared_ptr<const SeriesHold> hold = table_.hold();
  Interning work(uids_, std::move(names));
  // Kind after kind, so that a series that is refused makes as few names as possible.
  CO_TRY_VOID(co_await resolve_kind(NameKind::kMetric, create.metrics, work));
  CO_TRY_VOID(co_await resolve_kind(NameKind::kTagKey, create.tag_keys, work));
  CO_TRY_VOID(co_await resolve_kind(NameKind::kTagValue, create.tag_values, work));

  std::vector<Bytes> tsuids(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (!work.refused(i)) tsuids[i] = work.tsuid_of(i, layout_.widths());
  }
  const std::vector<SeriesTable::Known> known = table_.use(tsuids);
  std::vector<Interning::Fresh> fresh;
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (work.refused(i)) continue;
    if (known[i].id) {
      work.accept(i, *known[i].id);
      continue;
    }
    fresh.push_back(work.fresh(i, std::move(tsuids[i]), !known[i].tags));
    NewSeries& series = fresh.back().series;
    series.shard = shard_of(series.metric_uid, series.metric, series.tsuid);
  }
  if (!fresh.empty()) CO_TRY_VOID(co_await register_new(work, std::move(fresh)));
  co_return work.take_outcomes();
}

// Refuses those that there is no room for, and returns the others. One that stands among them twice
// needs room once.
std::vector<Interning::Fresh> SeriesRegistry::with_room(Interning& work,
                                                        std::vector<Interning::Fresh> fresh) const {
  const auto bytes_of = [&work](const Interning::Fresh& one) {
    return series_bytes(work.tags_of(one.index), one.series.tsuid.size());
  };
  std::size_t bytes = 0;
  for (const Interning::Fresh& one : fresh) bytes += bytes_of(one);
  if (table_.check_room(fresh.size(), bytes)) return fresh;
  boost::unordered_flat_set<Bytes> taken;
  bytes = 0;
  std::vector<Interning::Fresh> fit;
  for (Interning::Fresh& one : fresh) {
    if (!taken.contains(one.series.tsuid)) {
      const Result<void> room = table_.check_room(taken.size() + 1, bytes + bytes_of(one));
      if (!room) {
        work.refuse(one.index, room.error());
        continue;
      }
      bytes += bytes_of(one);
      taken.insert(one.series.tsuid);
    }
    fit.push_back(std::move(one));
  }
  return fit;
}

Task<void> SeriesRegistry::register_new(Interning& work, std::vector<Interning::Fresh> fresh) {
  fresh = with_room(work, std::move(fresh));
  if (fresh.empty()) co_return Result<void>();
  if (!deferred_) {
    CO_TRY_VOID(co_await store_new(fresh));
    for (const Interning::Fresh& one : fresh) std::ignore = take_in(work, one);
    co_return Result<void>();
  }
  // In one step: once a series has an id its points may be on their way into chunks.
  co_return unstored_.add([this, &work, &fresh](std::vector<SeriesId>& waiting) -> Result<void> {
    for (const Interning::Fresh& one : fresh) {
      const Result<SeriesId> id = take_in(work, one);
      if (id) waiting.push_back(*id);
    }
    return {};
  });
}

// Writes the rows of those that have none.
Task<void> SeriesRegistry::store_new(const std::vector<Interning::Fresh>& fresh) {
  std::vector<Bytes> tsuids;
  for (const Interning::Fresh& one : fresh) tsuids.push_back(one.series.tsuid);
  CO_TRY(const std::vector<bool> known, co_await registered(tsuids));
  std::vector<Bytes> absent;
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    if (!known[i]) absent.push_back(std::move(tsuids[i]));
  }
  if (absent.empty()) co_return Result<void>();
  co_return co_await write_series_rows(*registry_, std::move(absent));
}

// Into memory; what becomes of it is told to `work`, too.
Result<SeriesId> SeriesRegistry::take_in(Interning& work, const Interning::Fresh& fresh) {
  Result<SeriesId> id = table_.add(fresh.series);
  if (!id && id.error().code == Errc::kConflict) {
    Interning::Fresh complete = work.fresh(fresh.index, fresh.series.tsuid, true);
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

Task<void> SeriesRegistry::store_series(const std::vector<SeriesId>& ids) {
  // A row must not lead to a name that a power cut takes away. Of these series all names are there
  // to be settled; of those that come meanwhile they may not be.
  CO_TRY_VOID(co_await uids_.settle());
  std::vector<Bytes> tsuids;
  tsuids.reserve(ids.size());
  for (const SeriesId id : ids) tsuids.push_back(table_.at(id).tsuid);
  co_return co_await write_series_rows(*registry_, std::move(tsuids));
}

Task<void> SeriesRegistry::settle() {
  auto store = [this](const std::vector<SeriesId>& ids) { return store_series(ids); };
  CO_TRY_VOID(co_await unstored_.settle(std::move(store)));
  co_return co_await uids_.settle();  // names without series
}

// Rows first: a load that reads them later does not bring a series back; one that read them before
// sees that there was a removal.
Task<void> SeriesRegistry::forget(std::vector<SeriesId> series, SeriesTable::Removed& removed) {
  std::vector<RowWrite> rows;
  rows.reserve(series.size());
  for (const SeriesId id : series) {
    RowWrite& row = rows.emplace_back();
    row.row = table_.at(id).tsuid;
    row.deletes.push_back(Column{kSeriesFamily, {}});
  }
  Task<void> writing = registry_->write(std::move(rows));
  const Result<void> written = co_await std::move(writing);
  if (!written) {
    for (const SeriesId id : series) table_.spare(id);
  }
  CO_TRY_VOID(unstored_.add([this, &series, &removed](std::vector<SeriesId>& waiting) {
    const std::vector<SeriesId> spared = table_.remove(series, removed);
    waiting.insert(waiting.end(), spared.begin(), spared.end());
    return Result<void>();
  }));
  co_return written;
}

std::unique_ptr<Scanner> SeriesRegistry::scan_series() const {
  ScanSpec spec;
  spec.family = kSeriesFamily;
  spec.keys_only = true;
  return registry_->scan(std::move(spec));
}

Task<std::optional<std::uint32_t>> SeriesRegistry::shard_of_stored(Bytes tsuid) {
  const Result<SeriesUids> uids = parse_tsuid(layout_.widths(), tsuid);
  if (!uids) co_return std::nullopt;
  const Result<UidTable::Entry> metric = co_await uids_.name_of(NameKind::kMetric, uids->metric);
  if (!metric && metric.error().code != Errc::kNotFound) co_return std::unexpected(metric.error());
  if (!metric) co_return std::nullopt;
  co_return shard_of(uids->metric, metric->name, tsuid);
}

Task<std::vector<bool>> SeriesRegistry::registered(std::vector<Bytes> tsuids) {
  std::vector<RowRead> reads;
  reads.reserve(tsuids.size());
  for (Bytes& tsuid : tsuids) reads.push_back(RowRead{std::move(tsuid), kSeriesFamily, {}});
  CO_TRY(const std::vector<Row> rows, co_await registry_->read(std::move(reads)));
  std::vector<bool> known;
  known.reserve(rows.size());
  for (const Row& row : rows) known.push_back(!row.cells.empty());
  co_return known;
}

Task<std::vector<Result<SeriesId>>> SeriesRegistry::adopt(std::vector<Bytes> tsuids) {
  return adopt_read(std::move(tsuids), std::nullopt);
}

Task<std::vector<Result<SeriesId>>> SeriesRegistry::adopt_read(
    std::vector<Bytes> tsuids, std::optional<std::uint64_t> removals) {
  std::vector<Result<SeriesUids>> parsed;
  std::vector<UidTable::UidRequest> unknown;
  std::vector<std::size_t> owners;
  const auto want = [this, &unknown, &owners](NameKind kind, std::uint64_t uid, std::size_t owner) {
    if (uids_.cached(kind, uid) != nullptr) return;
    unknown.push_back({kind, uid});
    owners.push_back(owner);
  };
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    parsed.push_back(parse_tsuid(layout_.widths(), tsuids[i]));
    if (!parsed.back()) continue;
    want(NameKind::kMetric, parsed.back()->metric, i);
    for (const UidPair& pair : parsed.back()->pairs) {
      want(NameKind::kTagKey, pair.key, i);
      want(NameKind::kTagValue, pair.value, i);
    }
  }
  if (!unknown.empty()) {
    CO_TRY(const auto names, co_await uids_.names_of(std::move(unknown)));
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!names[i] && parsed[owners[i]]) parsed[owners[i]] = std::unexpected(names[i].error());
    }
  }
  std::vector<Result<SeriesId>> ids;
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    if (!parsed[i]) {
      ids.emplace_back(std::unexpected(parsed[i].error()));
      continue;
    }
    Result<NewSeries> series = make_series(*parsed[i], std::move(tsuids[i]));
    if (series) {
      ids.push_back(removals ? table_.add_read(*series, *removals) : table_.add(*series));
    } else {
      ids.emplace_back(std::unexpected(series.error()));
    }
  }
  co_return ids;
}

// A load of one metric by whoever found nobody at it. Wakes those who wait for it, also when it is
// thrown away unfinished.
class SeriesRegistry::Load {
 public:
  Load(SeriesRegistry& registry, std::uint64_t metric_uid, std::uint64_t number)
      : registry_(registry), metric_uid_(metric_uid), number_(number) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    Completion batch;
    {
      const std::lock_guard lock(registry_.mutex_);
      batch = registry_.loading_.at(metric_uid_);
      registry_.loading_.erase(metric_uid_);
    }
    batch.finish({});
  }

  void finished_batch() {
    Completion batch;
    {
      const std::lock_guard lock(registry_.mutex_);
      std::swap(batch, registry_.loading_.at(metric_uid_));
    }
    batch.finish({});
  }

  void succeeded() {
    const std::lock_guard lock(registry_.mutex_);
    registry_.loaded_[metric_uid_] = number_;
  }

 private:
  SeriesRegistry& registry_;
  const std::uint64_t metric_uid_;
  const std::uint64_t number_;
};

Task<void> SeriesRegistry::load_metric(std::uint64_t metric_uid, bool again, Loader loader) {
  // Any load will do; for `again` one that begins after this call: a load that is under way may
  // have passed what is wanted.
  std::optional<std::uint64_t> begins_after;
  for (;;) {
    Completion batch;
    std::uint64_t lead = 0;  // the number of our own load
    {
      const std::lock_guard lock(mutex_);
      if (!begins_after) begins_after = again ? loads_begun_ : 0;
      const auto loaded = loaded_.find(metric_uid);
      if (loaded != loaded_.end() && loaded->second > *begins_after) break;
      const auto [at, nobody_at_it] = loading_.try_emplace(metric_uid, batch);
      if (nobody_at_it) lead = ++loads_begun_;
      batch = at->second;
    }
    if (lead != 0) {
      Load load(*this, metric_uid, lead);
      CO_TRY_VOID(co_await read_metric(metric_uid, loader, load));
      load.succeeded();
      break;
    }
    // What stops the one who reads is his own business: then somebody else takes over.
    const Result<void> waited = co_await batch.wait();
    static_cast<void>(waited);
    if (loader.watch != nullptr) CO_TRY_VOID(loader.watch->check());
    if (loader.progress) CO_TRY_VOID(loader.progress());
  }
  co_return Result<void>();
}

Task<void> SeriesRegistry::read_metric(std::uint64_t metric_uid, const Loader& loader, Load& load) {
  const Bytes prefix = uids_.uid_bytes(NameKind::kMetric, metric_uid);
  ScanSpec spec;
  spec.family = kSeriesFamily;
  spec.ranges.push_back(KeyRange{prefix, prefix_end(prefix)});
  spec.keys_only = true;
  spec.watch = loader.watch;
  const std::uint64_t removals = table_.removals();
  const std::unique_ptr<Scanner> scanner = registry_->scan(std::move(spec));
  ScanLimit limit;
  limit.rows_max = kLoadRows;
  for (;;) {
    CO_TRY(std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) co_return Result<void>();
    std::vector<Bytes> tsuids;
    for (Row& row : rows) {
      if (!table_.find(row.key)) tsuids.push_back(std::move(row.key));
    }
    CO_TRY(const bool adopted, co_await adopt_all(tsuids, removals, loader));
    if (!adopted) CO_TRY_VOID(co_await load_some(std::move(tsuids), loader));
    load.finished_batch();
  }
}

// False: series were removed since, perhaps some of these.
Task<bool> SeriesRegistry::adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals,
                                     const Loader& loader) {
  if (table_.removals() != removals) co_return false;
  if (loader.watch != nullptr) {
    CO_TRY_VOID(loader.watch->check());
    std::size_t bytes = 0;
    const UidWidths& widths = layout_.widths();
    const std::size_t pair_bytes = widths.tag_key + widths.tag_value;
    for (const Bytes& tsuid : tsuids)
      bytes += series_bytes(tsuid.size() / pair_bytes, tsuid.size());
    CO_TRY_VOID(loader.watch->add_bytes(static_cast<std::int64_t>(bytes)));
  }
  if (!tsuids.empty()) {
    CO_TRY(const auto ids, co_await adopt_read(std::move(tsuids), removals));
    for (const Result<SeriesId>& id : ids) {
      if (!id && id.error().code == Errc::kConflict) co_return false;
      if (!id) co_return std::unexpected(id.error());
    }
  }
  if (loader.progress) CO_TRY_VOID(loader.progress());
  co_return true;
}

// Until they were read without a removal meanwhile.
Task<void> SeriesRegistry::load_some(std::vector<Bytes> tsuids, const Loader& loader) {
  for (;;) {
    const std::uint64_t removals = table_.removals();
    CO_TRY(const std::vector<bool> known, co_await registered(tsuids));
    std::vector<Bytes> there;
    for (std::size_t i = 0; i < tsuids.size(); ++i) {
      if (known[i]) there.push_back(tsuids[i]);
    }
    CO_TRY(const bool adopted, co_await adopt_all(std::move(there), removals, loader));
    if (adopted) co_return Result<void>();
  }
}

Task<void> SeriesRegistry::load_series(std::vector<Bytes> tsuids, Loader loader) {
  std::erase_if(tsuids, [this](const Bytes& tsuid) { return table_.find(tsuid).has_value(); });
  for (std::size_t begin = 0; begin < tsuids.size(); begin += kLoadRows) {
    const std::size_t end = std::min<std::size_t>(begin + kLoadRows, tsuids.size());
    std::vector<Bytes> some(std::make_move_iterator(tsuids.begin() + std::ptrdiff_t(begin)),
                            std::make_move_iterator(tsuids.begin() + std::ptrdiff_t(end)));
    CO_TRY_VOID(co_await load_some(std::move(some), loader));
  }
  co_return Result<void>();
}

}  // namespace halite::storage
