#include "storage/catalog/series_loader.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "storage/catalog/series_rows.h"

namespace halite::storage {
namespace {

constexpr std::uint32_t kLoadRows = 4096;  // series read at a time

const Error& renamed_meanwhile() {
  static const Error kError{Errc::kUnavailable, "a name changed while it was looked up", {}};
  return kError;
}

}  // namespace

SeriesLoader::SeriesLoader(Table& rows, UidTable& uids, SeriesTable& table, UidWidths widths,
                           const Sharding& sharding)
    : rows_(rows), uids_(uids), table_(table), widths_(widths), sharding_(sharding) {}

// The views refer to names in the name table.
Result<NewSeries> SeriesLoader::make_series(const SeriesUids& uids, Bytes tsuid) {
  NewSeries series;
  const UidTable::NameMapping* metric = uids_.cached(NameKind::kMetric, uids.metric);
  if (metric == nullptr) return std::unexpected(renamed_meanwhile());
  series.metric_uid = uids.metric;
  series.metric = metric->name;
  series.shard = sharding_.shard_of(uids.metric, series.metric, tsuid);
  series.tsuid = std::move(tsuid);
  if (table_.knows_tags(series.tsuid)) return series;
  series.tags.reserve(uids.pairs.size());
  for (const UidPair& pair : uids.pairs) {
    const UidTable::NameMapping* key = uids_.cached(NameKind::kTagKey, pair.key);
    const UidTable::NameMapping* value = uids_.cached(NameKind::kTagValue, pair.value);
    if (key == nullptr || value == nullptr) return std::unexpected(renamed_meanwhile());
    series.tags.push_back(SeriesTag{key->name, value->name, pair.key, pair.value});
  }
  return series;
}

Task<std::vector<Result<SeriesId>>> SeriesLoader::register_stored(std::vector<Bytes> tsuids) {
  return adopt_read(std::move(tsuids), std::nullopt);
}

Task<std::vector<Result<SeriesId>>> SeriesLoader::adopt_read(
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
    parsed.push_back(parse_tsuid(widths_, tsuids[i]));
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

// The load of a metric by the caller that leads it. Wakes the waiting callers, also if it is
// destroyed unfinished.
class SeriesLoader::Load {
 public:
  Load(SeriesLoader& loader, std::uint64_t metric_uid, std::uint64_t number)
      : loader_(loader), metric_uid_(metric_uid), number_(number) {}
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() {
    Completion batch;
    {
      const std::lock_guard lock(loader_.mutex_);
      batch = loader_.loading_.at(metric_uid_);
      loader_.loading_.erase(metric_uid_);
    }
    batch.finish({});
  }

  void finished_batch() {
    Completion batch;
    {
      const std::lock_guard lock(loader_.mutex_);
      std::swap(batch, loader_.loading_.at(metric_uid_));
    }
    batch.finish({});
  }

  void succeeded() {
    const std::lock_guard lock(loader_.mutex_);
    loader_.loaded_[metric_uid_] = number_;
  }

 private:
  SeriesLoader& loader_;
  const std::uint64_t metric_uid_;
  const std::uint64_t number_;
};

Task<void> SeriesLoader::load_metric(std::uint64_t metric_uid, bool again, LoadLimits bounds) {
  // Any load is good enough. With `again`, only one that begins after this call: a running load may
  // already have passed the new rows.
  std::optional<std::uint64_t> begins_after;
  for (;;) {
    Completion batch;
    std::uint64_t lead = 0;  // the number of this caller's load
    {
      const std::lock_guard lock(mutex_);
      if (!begins_after) begins_after = again ? loads_begun_ : 0;
      const auto loaded = loaded_.find(metric_uid);
      if (loaded != loaded_.end() && loaded->second > *begins_after) break;
      const auto [at, is_first] = loading_.try_emplace(metric_uid, batch);
      if (is_first) lead = ++loads_begun_;
      batch = at->second;
    }
    if (lead != 0) {
      Load load(*this, metric_uid, lead);
      CO_TRY_VOID(co_await read_metric(metric_uid, bounds, load));
      load.succeeded();
      break;
    }
    // If the leader stops for a reason of its own, another caller takes over.
    const Result<void> waited = co_await batch.wait();
    static_cast<void>(waited);
    CO_TRY_VOID(bounds.context.check());
    if (bounds.progress) CO_TRY_VOID(bounds.progress());
  }
  co_return Result<void>();
}

Task<void> SeriesLoader::read_metric(std::uint64_t metric_uid, const LoadLimits& bounds,
                                     Load& load) {
  const Bytes prefix = uids_.uid_bytes(NameKind::kMetric, metric_uid);
  const std::uint64_t removals = table_.removals();
  const std::unique_ptr<Scanner> scanner = scan_series_rows(rows_, prefix, bounds.context);
  ScanLimit limit;
  limit.rows_max = kLoadRows;
  for (;;) {
    CO_TRY(std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) co_return Result<void>();
    std::vector<Bytes> tsuids;
    for (Row& row : rows) {
      if (!table_.find(row.key)) tsuids.push_back(std::move(row.key));
    }
    CO_TRY(const bool adopted, co_await adopt_all(tsuids, removals, bounds));
    if (!adopted) CO_TRY_VOID(co_await load_some(std::move(tsuids), bounds));
    load.finished_batch();
  }
}

// False: series were removed since then, perhaps some of these.
Task<bool> SeriesLoader::adopt_all(std::vector<Bytes> tsuids, std::uint64_t removals,
                                   const LoadLimits& bounds) {
  if (table_.removals() != removals) co_return false;
  if (const auto& budget = bounds.context.budget) {
    CO_TRY_VOID(budget->check());
    std::size_t bytes = 0;
    const UidWidths& widths = widths_;
    const std::size_t pair_bytes = widths.tag_key + widths.tag_value;
    for (const Bytes& tsuid : tsuids) {
      bytes += series_bytes(tsuid.size() / pair_bytes, tsuid.size());
    }
    CO_TRY_VOID(budget->add_bytes(static_cast<std::int64_t>(bytes)));
  }
  if (!tsuids.empty()) {
    CO_TRY(const auto ids, co_await adopt_read(std::move(tsuids), removals));
    for (const Result<SeriesId>& id : ids) {
      if (!id && id.error().code == Errc::kConflict) co_return false;
      if (!id) co_return std::unexpected(id.error());
    }
  }
  if (bounds.progress) CO_TRY_VOID(bounds.progress());
  co_return true;
}

// Repeats until no removal happened during the read.
Task<void> SeriesLoader::load_some(std::vector<Bytes> tsuids, const LoadLimits& bounds) {
  for (;;) {
    const std::uint64_t removals = table_.removals();
    CO_TRY(const std::vector<bool> known, co_await have_series_rows(rows_, tsuids));
    std::vector<Bytes> there;
    for (std::size_t i = 0; i < tsuids.size(); ++i) {
      if (known[i]) there.push_back(tsuids[i]);
    }
    CO_TRY(const bool adopted, co_await adopt_all(std::move(there), removals, bounds));
    if (adopted) co_return Result<void>();
  }
}

Task<void> SeriesLoader::load_series(std::vector<Bytes> tsuids, LoadLimits bounds) {
  std::erase_if(tsuids, [this](const Bytes& tsuid) { return table_.find(tsuid).has_value(); });
  for (std::size_t begin = 0; begin < tsuids.size(); begin += kLoadRows) {
    const std::size_t end = std::min<std::size_t>(begin + kLoadRows, tsuids.size());
    std::vector<Bytes> some(std::make_move_iterator(tsuids.begin() + std::ptrdiff_t(begin)),
                            std::make_move_iterator(tsuids.begin() + std::ptrdiff_t(end)));
    CO_TRY_VOID(co_await load_some(std::move(some), bounds));
  }
  co_return Result<void>();
}

}  // namespace halite::storage
