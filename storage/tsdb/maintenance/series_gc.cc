#include "storage/tsdb/maintenance/series_gc.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/run_here.h"
#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/maintenance/for_each_series.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kForgettingSince = "forgetting";  // its begin; 0 = none is running

constexpr std::size_t kLooksPerStep = 1024;         // series
constexpr std::size_t kSeriesRemovedAtOnce = 1024;  // new series wait meanwhile
constexpr std::size_t kSlotsLookedAtFirst = 2;      // most active series have cells there

}  // namespace

SeriesGc::SeriesGc(std::shared_ptr<EngineContext> context, prometheus::Registry& registry)
    : context_(std::move(context)),
      names_(context_, registry),
      forgotten_(add_counter(registry, "halite_engine_forgotten_series_total",
                             "Series removed because they had no points.")),
      known_(add_gauge(registry, "halite_engine_known_series", "Series in memory.")),
      known_bytes_(add_gauge(registry, "halite_engine_known_series_bytes",
                             "Approximate memory used by series, without names.")) {}

void SeriesGc::allow(GcRules rules) {
  names_.allow(rules);
  {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  allowed_ = true;
}

Result<void> SeriesGc::note_unfinished() {
  if (unfinished_) return {};
  TRY_VOID(context_->chunks->states.note_number(
      kForgettingSince, std::max<TimestampMs>(1, context_->clock.now_ms())));
  unfinished_ = true;
  return {};
}

Result<void> SeriesGc::note_slot(std::uint32_t shard, std::uint32_t slot, const YieldFn& yield) {
  TRY_VOID(note_unfinished());
  if (!allowed()) return {};
  const UidWidths& widths = context_->retention->base().widths();
  TRY(StoredCells slot_cells,
      StoredCells::open(context_->chunks->views, widths, shard, std::nullopt, yield));
  TRY(StoredCells others, StoredCells::open(context_->chunks->views, widths, shard, slot, yield));
  TRY(const bool all, slot_cells.each_series(slot, [&](BytesView series) -> Result<void> {
    TRY(const bool lives, others.any(series, kSlotsLookedAtFirst));
    if (!lives) to_check_.push_back({.tsuid = tsuid_of(widths, series), .shard = shard});
    return {};
  }));
  if (!all) begun_ = false;  // it is unknown which series they were: check all
  return {};
}

Result<void> SeriesGc::note_deleted(std::span<const SeriesId> series) {
  TRY_VOID(note_unfinished());
  const SeriesTable& table = context_->registry.table();
  for (const SeriesId id : series) {
    deleted_.try_emplace(table.at(id).tsuid.bytes(), table.at(id).shard);
  }
  return {};
}

void SeriesGc::note_sealed() {
  for (const auto& [tsuid, shard] : deleted_) {
    to_check_.push_back({.tsuid = tsuid, .shard = shard, .deleted = true});
  }
  deleted_.clear();
  deleted_checked_ms_ = context_->clock.now_ms();
  names_.run_soon();
}

Result<bool> SeriesGc::step(const YieldFn& yield) {
  known_.Set(static_cast<double>(context_->registry.table().size()));
  known_bytes_.Set(static_cast<double>(context_->registry.table().bytes()));
  if (!allowed()) return false;
  if (!begun_) TRY_VOID(begin());
  Epochs& epochs = context_->registry.epochs();
  switch (phase_) {
    case Phase::kChecking: {
      TRY(const bool more, check_some(yield));
      if (more) return true;
      return names_.step(yield);
    }
    case Phase::kCandidates:
      if (!epochs.released_before(epoch_)) return false;
      if (const Result<void> removed = remove(yield); !removed) {
        begun_ = false;  // candidates that were kept are checked again, with all others
        return std::unexpected(removed.error());
      }
      phase_ = Phase::kRemoved;
      epoch_ = epochs.advance();
      return true;
    case Phase::kRemoved:
      if (!epochs.released_before(epoch_)) return false;
      reclaim_series(*context_, removed_);
      removed_ = {};
      phase_ = Phase::kChecking;
      return true;
  }
  std::unreachable();
}

// The work of an earlier process is unknown: check all series.
Result<void> SeriesGc::begin() {
  TRY(const auto since, context_->chunks->states.read_number(kForgettingSince));
  if (since.value_or(0) != 0) {
    unfinished_ = true;
    all_ = context_->registry.scan_series();
    names_.ask();
  }
  begun_ = true;
  return {};
}

Result<bool> SeriesGc::check_some(const YieldFn& yield) {
  check_deleted();
  if (to_check_.empty() && all_ != nullptr) TRY_VOID(read_some());
  if (to_check_.empty() && all_ == nullptr) return finish();
  const std::size_t count = std::min(kLooksPerStep, to_check_.size());
  std::map<std::uint32_t, std::vector<SeriesToCheck>> by_shard;
  for (std::size_t i = to_check_.size() - count; i < to_check_.size(); ++i) {
    by_shard[to_check_[i].shard].push_back(to_check_[i]);
  }
  for (auto& [shard, to_check] : by_shard) {
    std::ranges::sort(to_check, {}, &SeriesToCheck::tsuid);
    TRY(std::vector<Bytes> dead, find_without_cells(shard, to_check, yield));
    TRY_VOID(mark_candidates(shard, std::move(dead), yield));
  }
  to_check_.resize(to_check_.size() - count);
  return true;
}

// Tombstones disappear when their slot is sealed.
void SeriesGc::check_deleted() {
  if (deleted_.empty() || !to_check_.empty()) return;
  const TimestampMs since = context_->clock.now_ms() - deleted_checked_ms_;
  if (since >= context_->options.expiry_interval_ms) note_sealed();
}

Result<void> SeriesGc::read_some() {
  ScanLimit limit;
  limit.rows_max = kLooksPerStep;
  TRY(const std::vector<Row> rows, run_here(all_->next(limit)));
  if (rows.empty()) {
    all_.reset();
    return {};
  }
  for (const Row& row : rows) {
    TRY(const auto shard, run_here(context_->registry.shard_of_stored(row.key)));
    if (shard) to_check_.push_back({.tsuid = row.key, .shard = *shard});
  }
  return {};
}

Result<std::vector<Bytes>> SeriesGc::find_without_cells(std::uint32_t shard,
                                                        std::span<const SeriesToCheck> to_check,
                                                        const YieldFn& yield) {
  const UidWidths& widths = context_->retention->base().widths();
  TRY(StoredCells cells,
      StoredCells::open(context_->chunks->views, widths, shard, std::nullopt, yield));
  std::vector<Bytes> without;
  for (const SeriesToCheck& suspect : to_check) {
    const Bytes series = series_key(widths, suspect.tsuid);
    TRY(const bool lives, cells.any(series));
    if (!lives) {
      without.push_back(suspect.tsuid);
    } else if (suspect.deleted) {
      TRY(const bool hidden, cells.any_tombstone(series));
      if (hidden) deleted_.try_emplace(suspect.tsuid, shard);
    }
  }
  return without;
}

// Marks candidates before the search. A point that is not yet in a head or chunk at that time then
// ends the candidacy of its series.
Result<void> SeriesGc::mark_candidates(std::uint32_t shard, std::vector<Bytes> tsuids,
                                       const YieldFn& yield) {
  if (tsuids.empty()) return {};
  TRY_VOID(load(tsuids));
  const SeriesTable& table = context_->registry.table();
  std::vector<SeriesId> series;
  for (const Bytes& tsuid : tsuids) {
    if (const auto id = table.find(tsuid)) series.push_back(*id);
  }
  context_->registry.mark_candidates(series);
  // Search heads before chunks. Release the heads, so that flushes can free them during the search.
  series = find_without_head(shard, series);
  const UidWidths& widths = context_->retention->base().widths();
  TRY(StoredCells cells,
      StoredCells::open(context_->chunks->views, widths, shard, std::nullopt, yield));
  for (const SeriesId id : series) {
    TRY(const bool lives, cells.any(series_key(widths, table.at(id).tsuid.bytes())));
    if (lives) context_->registry.unmark_candidate(id);
  }
  return {};
}

// Ends the candidacy of series that a head contains.
std::vector<SeriesId> SeriesGc::find_without_head(std::uint32_t shard,
                                                  const std::vector<SeriesId>& series) {
  const auto heads = context_->head_list.view();
  std::vector<SeriesId> without;
  for (const SeriesId id : series) {
    const bool in_head = std::ranges::any_of(heads, [id, shard](const auto& head) {
      const std::lock_guard lock(head->shard(shard).mutex());
      return head->position_of(id).has_value();
    });
    if (in_head) {
      context_->registry.unmark_candidate(id);
    } else {
      without.push_back(id);
    }
  }
  return without;
}

// Loads the series into memory as far as possible. A series whose names are lost stays in its
// table.
Result<void> SeriesGc::load(std::vector<Bytes> tsuids) {
  const Result<void> loaded = run_here(context_->registry.loader().load_series(tsuids, {}));
  if (loaded) return {};
  for (Bytes& tsuid : tsuids) {
    std::vector<Bytes> one;
    one.push_back(std::move(tsuid));
    const Result<void> alone =
        run_here(context_->registry.loader().load_series(std::move(one), {}));
    if (!alone && alone.error().code != Errc::kNotFound) return alone;
  }
  return {};
}

// All series were checked.
Result<bool> SeriesGc::finish() {
  if (!context_->registry.table().candidates().empty()) {
    epoch_ = context_->registry.epochs().advance();
    phase_ = Phase::kCandidates;
    return true;
  }
  if (unfinished_ && deleted_.empty() && !names_.pending()) {
    TRY_VOID(context_->chunks->states.note_number(kForgettingSince, 0));
    unfinished_ = false;
  }
  return false;
}

Result<void> SeriesGc::remove(const YieldFn& yield) {
  TRY_VOID(run_here(context_->registry.flush_rows()));  // no row is deferred any more
  TRY(const std::vector<SeriesId> series,
      find_removable(context_->registry.table().candidates(), yield));
  for (std::size_t begin = 0; begin < series.size(); begin += kSeriesRemovedAtOnce) {
    const auto some =
        std::span(series).subspan(begin, std::min(kSeriesRemovedAtOnce, series.size() - begin));
    TRY_VOID(run_here(context_->registry.remove_candidates({some.begin(), some.end()}, removed_)));
    TRY_VOID(yield_or_stop(yield));
  }
  forgotten_.Increment(static_cast<double>(removed_.series.size()));
  if (!removed_.series.empty()) names_.ask();
  return {};
}

Result<std::vector<SeriesId>> SeriesGc::find_removable(std::vector<SeriesId> series,
                                                       const YieldFn& yield) {
  decltype(GcRules::keeps) keeps;
  {
    const std::lock_guard lock(mutex_);
    keeps = rules_.keeps;
  }
  if (!keeps || series.empty()) return series;
  std::vector<Bytes> tsuids;
  tsuids.reserve(series.size());
  for (const SeriesId id : series) tsuids.push_back(context_->registry.table().at(id).tsuid);
  std::set<Bytes> kept;
  const std::unique_ptr<SeriesIterator> walk = keeps(std::move(tsuids));
  TRY_VOID(for_each_series(*walk, yield, [&kept](BytesView tsuid) { kept.emplace(tsuid); }));
  std::vector<SeriesId> others;
  for (const SeriesId id : series) {
    if (kept.contains(context_->registry.table().at(id).tsuid.bytes())) {
      context_->registry.unmark_candidate(id);
    } else {
      others.push_back(id);
    }
  }
  return others;
}

void reclaim_series(EngineContext& context, const SeriesTable::Removed& removed) {
  const SeriesTable& table = context.registry.table();
  std::map<std::uint32_t, std::vector<SeriesId>> by_shard;
  for (const SeriesId id : removed.series) by_shard[table.at(id).shard].push_back(id);
  for (const auto& [shard, series] : by_shard) context.newest.invalidate(shard, series);
  context.registry.reclaim(removed);
}

}  // namespace halite::storage::engine
