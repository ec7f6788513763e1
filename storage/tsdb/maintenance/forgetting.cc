#include "storage/tsdb/maintenance/forgetting.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "common/log.h"
#include "common/metrics.h"
#include "common/run_here.h"
#include "storage/tsdb/chunk_db/stored_cells.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"
#include "storage/tsdb/maintenance/walk.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kForgettingSince = "forgetting";  // since when; 0 = nothing is

constexpr std::size_t kLooksPerStep = 1024;     // series
constexpr std::size_t kRemovedAtOnce = 1024;    // new series wait meanwhile
constexpr std::size_t kSlotsLookedAtFirst = 2;  // nearly all that live are there

}  // namespace

Forgetting::Forgetting(std::shared_ptr<Core> core, prometheus::Registry& registry)
    : core_(std::move(core)),
      names_(core_, registry),
      forgotten_(add_counter(registry, "halite_engine_forgotten_series_total",
                             "Series removed because they had no points.")),
      known_(add_gauge(registry, "halite_engine_known_series", "Series in memory.")),
      known_bytes_(add_gauge(registry, "halite_engine_known_series_bytes",
                             "Approximate memory used by series, without names.")) {}

void Forgetting::allow(ForgetRules rules) {
  names_.allow(rules);
  {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  allowed_ = true;
}

Result<void> Forgetting::note_unfinished() {
  if (unfinished_) return {};
  TRY_VOID(core_->chunks->states.note_number(kForgettingSince,
                                             std::max<TimestampMs>(1, core_->clock.now_ms())));
  unfinished_ = true;
  return {};
}

Result<void> Forgetting::note_slot(std::uint32_t shard, std::uint32_t slot,
                                   const Breathe& breathe) {
  TRY_VOID(note_unfinished());
  if (!allowed()) return {};
  const UidWidths& widths = core_->retention->base().widths();
  TRY(StoredCells slot_cells,
      StoredCells::open(core_->chunks->views, widths, shard, std::nullopt, breathe));
  TRY(StoredCells others, StoredCells::open(core_->chunks->views, widths, shard, slot, breathe));
  TRY(const bool all, slot_cells.each_series(slot, [&](BytesView series) -> Result<void> {
    TRY(const bool lives, others.any(series, kSlotsLookedAtFirst));
    if (!lives) suspects_.push_back({.tsuid = tsuid_of(widths, series), .shard = shard});
    return {};
  }));
  if (!all) begun_ = false;  // nobody can say which they were: all are looked at
  return {};
}

Result<void> Forgetting::note_deleted(std::span<const SeriesId> series) {
  TRY_VOID(note_unfinished());
  const SeriesTable& table = core_->registry.table();
  for (const SeriesId id : series) {
    deleted_.try_emplace(table.at(id).tsuid.bytes(), table.at(id).shard);
  }
  return {};
}

void Forgetting::note_sealed() {
  for (const auto& [tsuid, shard] : deleted_) {
    suspects_.push_back({.tsuid = tsuid, .shard = shard, .deleted = true});
  }
  deleted_.clear();
  deleted_looked_at_ms_ = core_->clock.now_ms();
  names_.hurry();
}

Result<bool> Forgetting::step(const Breathe& breathe) {
  known_.Set(static_cast<double>(core_->registry.table().size()));
  known_bytes_.Set(static_cast<double>(core_->registry.table().bytes()));
  if (!allowed()) return false;
  if (!begun_) TRY_VOID(begin());
  Holds& holds = core_->registry.holds();
  switch (phase_) {
    case Phase::kLooking: {
      TRY(const bool more, look(breathe));
      if (more) return true;
      return names_.step(breathe);
    }
    case Phase::kDoomed:
      if (!holds.gone_before(epoch_)) return false;
      if (const Result<void> removed = remove(breathe); !removed) {
        begun_ = false;  // those that it spared are looked at again, with all
        return std::unexpected(removed.error());
      }
      phase_ = Phase::kRemoved;
      epoch_ = holds.advance();
      return true;
    case Phase::kRemoved:
      if (!holds.gone_before(epoch_)) return false;
      reclaim();
      phase_ = Phase::kLooking;
      return true;
  }
  std::unreachable();
}

// What was under way when the process ended is known to nobody any more: all are looked at.
Result<void> Forgetting::begin() {
  TRY(const auto since, core_->chunks->states.read_number(kForgettingSince));
  if (since.value_or(0) != 0) {
    unfinished_ = true;
    all_ = core_->registry.scan_series();
    names_.ask();
  }
  begun_ = true;
  return {};
}

Result<bool> Forgetting::look(const Breathe& breathe) {
  look_at_deleted();
  if (suspects_.empty() && all_ != nullptr) TRY_VOID(read_some());
  if (suspects_.empty() && all_ == nullptr) return finish();
  const std::size_t count = std::min(kLooksPerStep, suspects_.size());
  std::map<std::uint32_t, std::vector<Suspect>> by_shard;
  for (std::size_t i = suspects_.size() - count; i < suspects_.size(); ++i) {
    by_shard[suspects_[i].shard].push_back(suspects_[i]);
  }
  for (auto& [shard, suspects] : by_shard) {
    std::ranges::sort(suspects, {}, &Suspect::tsuid);
    TRY(std::vector<Bytes> dead, without_cells(shard, suspects, breathe));
    TRY_VOID(doom(shard, std::move(dead), breathe));
  }
  suspects_.resize(suspects_.size() - count);
  return true;
}

// Tombstones go when their slot is sealed, at some time.
void Forgetting::look_at_deleted() {
  if (deleted_.empty() || !suspects_.empty()) return;
  const TimestampMs since = core_->clock.now_ms() - deleted_looked_at_ms_;
  if (since >= core_->options.expiry_interval_ms) note_sealed();
}

Result<void> Forgetting::read_some() {
  ScanLimit limit;
  limit.rows_max = kLooksPerStep;
  TRY(const std::vector<Row> rows, run_here(all_->next(limit)));
  if (rows.empty()) {
    all_.reset();
    return {};
  }
  for (const Row& row : rows) {
    TRY(const auto shard, run_here(core_->registry.shard_of_stored(row.key)));
    if (shard) suspects_.push_back({.tsuid = row.key, .shard = *shard});
  }
  return {};
}

Result<std::vector<Bytes>> Forgetting::without_cells(std::uint32_t shard,
                                                     std::span<const Suspect> suspects,
                                                     const Breathe& breathe) {
  const UidWidths& widths = core_->retention->base().widths();
  TRY(StoredCells cells,
      StoredCells::open(core_->chunks->views, widths, shard, std::nullopt, breathe));
  std::vector<Bytes> without;
  for (const Suspect& suspect : suspects) {
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

// Doomed first: a point that is in no head and no chunk yet when these are looked at then spares
// its series.
Result<void> Forgetting::doom(std::uint32_t shard, std::vector<Bytes> tsuids,
                              const Breathe& breathe) {
  if (tsuids.empty()) return {};
  TRY_VOID(load(tsuids));
  const SeriesTable& table = core_->registry.table();
  std::vector<SeriesId> series;
  for (const Bytes& tsuid : tsuids) {
    if (const auto id = table.find(tsuid)) series.push_back(*id);
  }
  core_->registry.doom(series);
  // The heads before the chunks, and so that a flush while these are looked at frees the head.
  series = without_head(shard, series);
  const UidWidths& widths = core_->retention->base().widths();
  TRY(StoredCells cells,
      StoredCells::open(core_->chunks->views, widths, shard, std::nullopt, breathe));
  for (const SeriesId id : series) {
    TRY(const bool lives, cells.any(series_key(widths, table.at(id).tsuid.bytes())));
    if (lives) core_->registry.spare(id);
  }
  return {};
}

// Spares those that a head has.
std::vector<SeriesId> Forgetting::without_head(std::uint32_t shard,
                                               const std::vector<SeriesId>& series) {
  const auto heads = core_->generations.view();
  std::vector<SeriesId> without;
  for (const SeriesId id : series) {
    const bool in_head = std::ranges::any_of(heads, [id, shard](const auto& head) {
      const std::lock_guard lock(head->shard(shard).mutex());
      return head->place_of(id).has_value();
    });
    if (in_head) {
      core_->registry.spare(id);
    } else {
      without.push_back(id);
    }
  }
  return without;
}

// Into memory, as far as they can be: one whose names are lost stays where it is.
Result<void> Forgetting::load(std::vector<Bytes> tsuids) {
  const Result<void> loaded = run_here(core_->registry.loader().load_series(tsuids, {}));
  if (loaded) return {};
  for (Bytes& tsuid : tsuids) {
    std::vector<Bytes> one;
    one.push_back(std::move(tsuid));
    const Result<void> alone = run_here(core_->registry.loader().load_series(std::move(one), {}));
    if (!alone && alone.error().code != Errc::kNotFound) return alone;
  }
  return {};
}

// All were looked at.
Result<bool> Forgetting::finish() {
  if (!core_->registry.table().doomed().empty()) {
    epoch_ = core_->registry.holds().advance();
    phase_ = Phase::kDoomed;
    return true;
  }
  if (unfinished_ && deleted_.empty() && !names_.pending()) {
    TRY_VOID(core_->chunks->states.note_number(kForgettingSince, 0));
    unfinished_ = false;
  }
  return false;
}

Result<void> Forgetting::remove(const Breathe& breathe) {
  TRY_VOID(run_here(core_->registry.settle()));  // none waits for its row
  TRY(const std::vector<SeriesId> series, not_kept(core_->registry.table().doomed(), breathe));
  for (std::size_t begin = 0; begin < series.size(); begin += kRemovedAtOnce) {
    const auto some =
        std::span(series).subspan(begin, std::min(kRemovedAtOnce, series.size() - begin));
    TRY_VOID(run_here(core_->registry.forget({some.begin(), some.end()}, removed_)));
    TRY_VOID(go_on(breathe));
  }
  forgotten_.Increment(static_cast<double>(removed_.series.size()));
  if (!removed_.series.empty()) names_.ask();
  return {};
}

Result<std::vector<SeriesId>> Forgetting::not_kept(std::vector<SeriesId> series,
                                                   const Breathe& breathe) {
  decltype(ForgetRules::keeps) keeps;
  {
    const std::lock_guard lock(mutex_);
    keeps = rules_.keeps;
  }
  if (!keeps || series.empty()) return series;
  std::vector<Bytes> tsuids;
  tsuids.reserve(series.size());
  for (const SeriesId id : series) tsuids.push_back(core_->registry.table().at(id).tsuid);
  std::set<Bytes> kept;
  const std::unique_ptr<SeriesWalk> walk = keeps(std::move(tsuids));
  TRY_VOID(each_of(*walk, breathe, [&kept](BytesView tsuid) { kept.emplace(tsuid); }));
  std::vector<SeriesId> others;
  for (const SeriesId id : series) {
    if (kept.contains(core_->registry.table().at(id).tsuid.bytes())) {
      core_->registry.spare(id);
    } else {
      others.push_back(id);
    }
  }
  return others;
}

void Forgetting::reclaim() {
  const SeriesTable& table = core_->registry.table();
  std::map<std::uint32_t, std::vector<SeriesId>> by_shard;
  for (const SeriesId id : removed_.series) by_shard[table.at(id).shard].push_back(id);
  for (const auto& [shard, series] : by_shard) core_->newest.forget(shard, series);
  core_->registry.reclaim(removed_);
  removed_ = {};
}

}  // namespace halite::storage::engine
