#include "storage/catalog/series_loader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
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

// The names of some series. A name is looked up once, as most series share theirs.
class SeriesLoader::Names {
 public:
  explicit Names(UidTable& uids) : uids_(uids) {}

  // `owner`: an index of the caller that needs these names.
  void want(const SeriesUids& uids, std::size_t owner) {
    want(NameKind::kMetric, uids.metric, owner);
    for (const UidPair& pair : uids.pairs) {
      want(NameKind::kTagKey, pair.key, owner);
      want(NameKind::kTagValue, pair.value, owner);
    }
  }

  // Reads the names that are not cached; passes errors to `failed` with their owners.
  Task<void> read(std::function<void(std::size_t owner, const Error&)> failed) {
    if (unknown_.empty()) co_return Result<void>();
    CO_TRY(const auto names, co_await uids_.names_of(unknown_));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& [kind, uid] = unknown_[i];
      if (!names[i]) failed(owners_[i], names[i].error());
      found_[static_cast<std::size_t>(kind)][uid] = uids_.cached(kind, uid);
    }
    co_return Result<void>();
  }

  // nullptr: it was removed meanwhile.
  [[nodiscard]] const UidTable::NameMapping* find(NameKind kind, std::uint64_t uid) const {
    const auto& of_kind = found_[static_cast<std::size_t>(kind)];
    const auto found = of_kind.find(uid);
    return found == of_kind.end() ? nullptr : found->second;
  }

 private:
  void want(NameKind kind, std::uint64_t uid, std::size_t owner) {
    const auto [at, is_new] = found_[static_cast<std::size_t>(kind)].try_emplace(uid);
    if (is_new) at->second = uids_.cached(kind, uid);
    if (at->second != nullptr) return;
    unknown_.push_back({kind, uid});
    owners_.push_back(owner);
  }

  UidTable& uids_;
  std::array<boost::unordered_flat_map<std::uint64_t, const UidTable::NameMapping*>, 3> found_;
  std::vector<UidTable::UidRequest> unknown_;
  std::vector<std::size_t> owners_;  // of unknown_
};

// Without pairs, a series whose tags the table has. The views refer to names in the name table.
Result<NewSeries> SeriesLoader::make_series(const SeriesUids& uids, Bytes tsuid,
                                            const Names& names) const {
  NewSeries series;
  const UidTable::NameMapping* metric = names.find(NameKind::kMetric, uids.metric);
  if (metric == nullptr) return std::unexpected(renamed_meanwhile());
  series.metric_uid = uids.metric;
  series.metric = metric->name;
  series.shard = sharding_.shard_of(uids.metric, series.metric, tsuid);
  series.tsuid = std::move(tsuid);
  series.tags.reserve(uids.pairs.size());
  for (const UidPair& pair : uids.pairs) {
    const UidTable::NameMapping* key = names.find(NameKind::kTagKey, pair.key);
    const UidTable::NameMapping* value = names.find(NameKind::kTagValue, pair.value);
    if (key == nullptr || value == nullptr) return std::unexpected(renamed_meanwhile());
    series.tags.push_back(SeriesTag{key->name, value->name, pair.key, pair.value});
  }
  return series;
}

Task<std::vector<Result<SeriesId>>> SeriesLoader::register_stored(std::vector<Bytes> tsuids) {
  return add_all(std::move(tsuids), [this](const NewSeries& series) { return table_.add(series); });
}

Task<std::vector<Result<SeriesId>>> SeriesLoader::add_all(std::vector<Bytes> tsuids, Add add) {
  std::vector<Result<SeriesUids>> parsed;
  parsed.reserve(tsuids.size());
  Names names(uids_);
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    parsed.push_back(parse_tsuid(widths_, tsuids[i]));
    if (!parsed.back()) continue;
    if (table_.knows_tags(tsuids[i])) parsed.back()->pairs.clear();
    names.want(*parsed.back(), i);
  }
  CO_TRY_VOID(co_await names.read([&parsed](std::size_t owner, const Error& error) {
    if (parsed[owner]) parsed[owner] = std::unexpected(error);
  }));
  std::vector<Result<SeriesId>> ids;
  ids.reserve(tsuids.size());
  for (std::size_t i = 0; i < tsuids.size(); ++i) {
    if (!parsed[i]) {
      ids.emplace_back(std::unexpected(parsed[i].error()));
      continue;
    }
    const Result<NewSeries> series = make_series(*parsed[i], std::move(tsuids[i]), names);
    ids.push_back(series ? add(*series) : std::unexpected(series.error()));
  }
  co_return ids;
}

// The load of a metric by the caller that leads it. Wakes the waiting callers, also if it is
// destroyed unfinished.
class SeriesLoader::Load {
 public:
  struct Begin {
    std::uint64_t metric_uid = 0;
    std::uint64_t number = 0;   // of the load
    std::uint64_t unloads = 0;  // of the metric
  };
  Load(SeriesLoader& loader, Begin begin) : loader_(loader), begin_(begin) {}
  Load(const Load&) = delete;
  ~Load() {
    Completion batch;
    {
      const std::lock_guard lock(loader_.mutex_);
      batch = loader_.loading_.at(begin_.metric_uid);
      loader_.loading_.erase(begin_.metric_uid);
    }
    batch.finish({});
  }

  void finished_batch() {
    Completion batch;
    {
      const std::lock_guard lock(loader_.mutex_);
      std::swap(batch, loader_.loading_.at(begin_.metric_uid));
    }
    batch.finish({});
  }

  // All series with a point at `since` or later were loaded.
  void succeeded(TimestampMs since) {
    const std::lock_guard lock(loader_.mutex_);
    Loaded& loaded = loader_.of_metric(begin_.metric_uid);
    if (loaded.unloads != begin_.unloads) return;  // perhaps some of them are gone again
    loaded.load = begin_.number;
    loaded.since = std::min(loaded.since, since);
  }

 private:
  SeriesLoader& loader_;
  const Begin begin_;
};

void SeriesLoader::find_since(FindSince find, std::size_t all_max) {
  find_since_ = std::move(find);
  load_all_max_ = all_max;
}

void SeriesLoader::unloaded_before(TimestampMs time) {
  const std::lock_guard lock(mutex_);
  known_since_ = time;
  for (auto& [uid, loaded] : loaded_) loaded.since = std::min(loaded.since, time);
}

SeriesLoader::Loaded& SeriesLoader::of_metric(std::uint64_t metric_uid) {
  return loaded_.try_emplace(metric_uid, Loaded{.since = known_since_}).first->second;
}

std::uint64_t SeriesLoader::unloads(std::uint64_t metric_uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(metric_uid);
  return found == loaded_.end() ? 0 : found->second.unloads;
}

TimestampMs SeriesLoader::all_since() const {
  const std::lock_guard lock(mutex_);
  TimestampMs since = known_since_;
  for (const auto& [uid, loaded] : loaded_) since = std::max(since, loaded.since);
  return since;
}

// No load can begin or succeed between the note that series are gone and their removal.
void SeriesLoader::unload(std::span<const SeriesId> series, TimestampMs until,
                          SeriesTable::Removed& removed) {
  const std::lock_guard lock(mutex_);
  std::uint64_t last = 0;
  for (const SeriesId id : series) {
    const std::uint64_t metric_uid = load_be_width(table_.at(id).tsuid.metric());
    if (metric_uid == last) continue;
    last = metric_uid;
    Loaded& loaded = of_metric(metric_uid);
    ++loaded.unloads;
    loaded.since = std::max(loaded.since, until);
  }
  const std::vector<SeriesId> spared = table_.remove(series, SeriesTable::Rows::kStay, removed);
  static_cast<void>(spared);  // they are in use, and stay
}

Task<void> SeriesLoader::load_metric(Wanted wanted, LoadLimits bounds) {
  // Any load is good enough. With `again`, only one that begins after this call: a running load may
  // already have passed the new rows.
  std::optional<std::uint64_t> begins_after;
  for (;;) {
    Completion batch;
    std::optional<Load> lead;
    {
      const std::lock_guard lock(mutex_);
      if (!begins_after) begins_after = loads_begun_;
      const Loaded& loaded = of_metric(wanted.metric_uid);
      const bool current = !wanted.again || loaded.load > *begins_after;
      if (current && loaded.since <= wanted.since) break;
      const auto [at, is_first] = loading_.try_emplace(wanted.metric_uid, batch);
      if (is_first) {
        lead.emplace(*this, Load::Begin{.metric_uid = wanted.metric_uid,
                                        .number = ++loads_begun_,
                                        .unloads = loaded.unloads});
      }
      batch = at->second;
    }
    if (lead) {
      Task<TimestampMs> reading = read_metric(wanted, bounds, *lead);
      CO_TRY(const TimestampMs since, co_await std::move(reading));
      lead->succeeded(since);
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

// Returns the time since which all series are loaded.
Task<TimestampMs> SeriesLoader::read_metric(Wanted wanted, const LoadLimits& bounds, Load& load) {
  const Bytes prefix = uids_.uid_bytes(NameKind::kMetric, wanted.metric_uid);
  const std::uint64_t removals = table_.removals();
  const std::unique_ptr<Scanner> scanner = scan_series_rows(rows_, prefix, bounds.context);
  ScanLimit limit;
  limit.rows_max = kLoadRows;
  std::size_t unknown = 0;
  bool all = !find_since_ || wanted.since == kAllTimes;
  for (;;) {
    if (!all && unknown > load_all_max_) {
      Task<std::vector<Bytes>> finding =
          find_since_(wanted.metric_uid, wanted.since, bounds.context);
      Result<std::vector<Bytes>> tsuids = co_await std::move(finding);
      if (tsuids) {
        Task<void> loading = load_series(*std::move(tsuids), bounds);
        CO_TRY_VOID(co_await std::move(loading));
        co_return wanted.since;
      }
      if (tsuids.error().code != Errc::kCorruption) co_return std::unexpected(tsuids.error());
      all = true;  // the rows know the series of damaged chunks, too
    }
    CO_TRY(std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) co_return kAllTimes;
    std::vector<Bytes> tsuids;
    for (Row& row : rows) {
      if (!table_.find(row.key)) tsuids.push_back(std::move(row.key));
    }
    unknown += tsuids.size();
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
    // kConflict for a series that may have been removed since `removals`.
    auto add = [this, removals](const NewSeries& series) {
      return table_.add_read(series, removals);
    };
    CO_TRY(const auto ids, co_await add_all(std::move(tsuids), std::move(add)));
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
