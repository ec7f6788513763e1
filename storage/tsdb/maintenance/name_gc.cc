#include "storage/tsdb/maintenance/name_gc.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/metrics.h"
#include "common/threads/run_here.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"
#include "storage/tsdb/maintenance/for_each_series.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kForgotten = "names forgotten";  // the time of the first removal of a name

constexpr std::uint32_t kRowsPerStep = 4 * 1024;
constexpr std::size_t kNamesRemovedAtOnce = 1024;  // creating one of these names waits meanwhile
constexpr std::size_t kReleasedAtOnce = 1024;
constexpr std::size_t kReusedMax = 1024 * 1024;  // limit of each kind; a later scan finds the rest
std::size_t index(NameKind kind) { return static_cast<std::size_t>(kind); }

// The number of UIDs of a kind that should be ready for new names.
std::uint64_t least_ready(const UidAssigner& ids, NameKind kind) {
  return std::min<std::uint64_t>(ids.largest(kind) / kReadyIdsPart, kReusedMax / 2);
}

std::vector<std::uint64_t> take_last(std::vector<std::uint64_t>& from, std::size_t max) {
  const auto begin = from.end() - static_cast<std::ptrdiff_t>(std::min(max, from.size()));
  std::vector<std::uint64_t> some(begin, from.end());
  from.erase(begin, from.end());
  return some;
}

std::vector<std::uint64_t> list(const IdSet& ids, std::size_t max) {
  std::vector<std::uint64_t> uids;
  for (auto id = ids.begin(); id != ids.end() && uids.size() < max; ++id) uids.push_back(*id);
  return uids;
}

}  // namespace

NameGc::NameGc(std::shared_ptr<EngineContext> context, prometheus::Registry& registry)
    : context_(std::move(context)),
      names_(*context_->registry.uids().name_remover()),
      forgotten_(add_counter(registry, "halite_engine_forgotten_names_total",
                             "Names removed because no series used them.")),
      known_(add_gauge(registry, "halite_engine_known_names", "Names in memory.")),
      quarantined_(add_gauge(registry, "halite_engine_quarantined_ids",
                             "Ids of removed names that cannot be reused yet.")) {}

void NameGc::allow(GcRules rules) {
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
  allowed_ = rules_.names;
}

Result<bool> NameGc::due() const {
  if (is_short_of_ids()) return true;
  const TimestampMs now = context_->clock.now_ms();
  const std::int64_t since = now - begun_at_ms_;
  if (!run_soon_ && since >= 0 && since < context_->options.expiry_interval_ms) return false;
  if (wanted_) return true;
  const std::optional<std::int64_t> stay_ms = longest_ttl_ms(*context_->retention);
  if (!stay_ms) return false;
  const auto over = [&](TimestampMs time) {
    return std::ranges::any_of(quarantine_, [&](const UidQuarantine& of_kind) {
      return of_kind.oldest_ms() && *of_kind.oldest_ms() <= time - *stay_ms;
    });
  };
  if (!over(now)) return false;
  TRY(const TimestampMs sure, quarantine_time());
  return over(sure);
}

// Whether new names use up the ready UIDs while the quarantine has some to release.
bool NameGc::is_short_of_ids() const {
  return std::ranges::any_of(kNameKinds, [this](NameKind kind) {
    const DeferredNames& ids = names_.ids();
    const std::uint64_t given = ids.given(kind) - given_[index(kind)];
    return quarantine_[index(kind)].oldest_ms() &&
           ready_[index(kind)] < least_ready(ids.ids(), kind) + given;
  });
}

// Expiry stops if the clock is doubtful; so does the end of quarantines.
Result<TimestampMs> NameGc::quarantine_time() const {
  TRY(const auto last_expiry, context_->chunks->states.read_number(kLastExpiryKey));
  return std::min<TimestampMs>(context_->clock.now_ms(), last_expiry.value_or(0));
}

// After an error the scan is repeated later. Names removed before it are reclaimed as usual.
Result<bool> NameGc::step(const YieldFn& yield) {
  known_.Set(static_cast<double>(names_.known()));
  if (!allowed_) return false;
  if (!begun_) TRY_VOID(begin_process());
  Result<bool> more = run(yield);
  if (more) return more;
  names_.unmark_all();
  wanted_ = true;
  quarantine_ = {};  // otherwise a scan that found little would restart at once
  phase_ = Phase::kIdle;
  const bool any_removed = std::ranges::any_of(
      removed_.uids, [](const std::vector<std::uint64_t>& uids) { return !uids.empty(); });
  if (any_removed || !removed_.entries.empty()) {
    epoch_ = context_->registry.epochs().advance(false);
    phase_ = Phase::kRemoved;
  }
  return more;
}

// After a start it is unknown which UIDs are unused; if no name was ever removed there are few. An
// earlier version did not note when it freed them.
Result<void> NameGc::begin_process() {
  TRY(const auto since, context_->chunks->states.read_number(kForgotten));
  TRY(reserved_upto_, run_here(context_->reserved_ids.read()));
  TRY(auto unmarked_since, run_here(context_->reserved_ids.unmarked_since()));
  if (since && !unmarked_since) {
    unmarked_since = context_->clock.now_ms();
    TRY_VOID(run_here(context_->reserved_ids.set_unmarked_since(*unmarked_since)));
  }
  unmarked_since_ = unmarked_since.value_or(0);
  noted_ = since.has_value();
  if (noted_) wanted_ = true;
  begun_ = true;
  return {};
}

Result<bool> NameGc::run(const YieldFn& yield) {
  Epochs& epochs = context_->registry.epochs();
  switch (phase_) {
    case Phase::kIdle: {
      TRY(const bool due_now, due());
      if (!due_now) return false;
      TRY_VOID(begin());
      return true;
    }
    case Phase::kNames:
      TRY_VOID(read_names());
      return true;
    case Phase::kSeries:
      TRY_VOID(read_series(yield));
      return true;
    case Phase::kReleasing: {
      TRY(const bool more, release_some());
      if (more) return true;
      const bool any = std::ranges::any_of(unused_, [](const auto& uids) { return !uids.empty(); });
      phase_ = any ? Phase::kUnused : Phase::kIdle;
      return true;
    }
    case Phase::kUnused:
      // Wait until a replay of the log can no longer restore the names.
      if (context_->chunks->states.mark().log_position < log_position_) return false;
      mark_candidates();
      return true;
    case Phase::kCandidates:
      if (!epochs.released_before(epoch_)) return false;
      TRY_VOID(recheck(yield));
      return true;
    case Phase::kRemoving: {
      TRY(const bool more, remove_some());
      if (more) return true;
      names_.unmark_all();
      phase_ = Phase::kRemoved;
      epoch_ = epochs.advance(false);
      return true;
    }
    case Phase::kRemoved:
      if (!epochs.released_before(epoch_)) return false;
      TRY_VOID(reclaim());
      phase_ = Phase::kIdle;
      return true;
  }
  std::unreachable();
}

// Collects UIDs for reuse anew, so that none assigned meanwhile is mistaken for a free one.
Result<void> NameGc::begin() {
  wanted_ = false;
  run_soon_ = false;
  begun_at_ms_ = context_->clock.now_ms();
  named_ = kept_ = used_ = {};
  quarantine_ = {};
  released_ = {};
  TRY(ends_, run_here(names_.ids().stop_reuse()));
  for (const NameKind kind : kNameKinds) given_[index(kind)] = names_.ids().given(kind);
  TRY_VOID(run_here(context_->registry.flush_rows()));
  scanner_ = names_.scan();
  phase_ = Phase::kNames;
  return {};
}

Result<void> NameGc::read_names() {
  ScanLimit limit;
  limit.rows_max = kRowsPerStep;
  TRY(const std::vector<Row> rows, run_here(scanner_->next(limit)));
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) TRY_VOID(note_name(row.key, cell));
  }
  if (!rows.empty()) return {};
  log_position_ = context_->log->last();  // the scan may have seen names created meanwhile
  scanner_ = context_->registry.scan_series();
  phase_ = Phase::kSeries;
  return {};
}

Result<void> NameGc::note_name(BytesView row, const Cell& cell) {
  const std::optional<NameCell> what = name_cell(cell.qualifier);
  if (!what) return {};
  const std::optional<std::uint64_t> uid = names_.uid_of(what->kind, row);
  if (!uid) return {};
  const std::size_t kind = index(what->kind);
  switch (what->says) {
    case NameCell::Says::kName:
      add_uid(*uid, named_[kind]);
      return {};
    case NameCell::Says::kStays:
      add_uid(*uid, kept_[kind]);
      return {};
    case NameCell::Says::kFreed:
      if (cell.value.size() != sizeof(std::uint64_t)) {
        return fail(
            Errc::kCorruption,
            fmt::format("names: the time at which the id {} was freed ({}) has {} bytes, "
                        "expected {}",
                        to_hex(row), cell.qualifier, cell.value.size(), sizeof(std::uint64_t)));
      }
      IdSet one;
      add_uid(*uid, one);
      quarantine_[kind].add(static_cast<TimestampMs>(load_be<std::uint64_t>(cell.value.data())),
                            one);
      return {};
  }
  std::unreachable();
}

void NameGc::note_series(BytesView tsuid) {
  const Result<SeriesUids> uids = parse_tsuid(context_->retention->base().widths(), tsuid);
  if (!uids) return;
  add_uid(uids->metric, used_[index(NameKind::kMetric)]);
  for (const UidPair& pair : uids->pairs) {
    add_uid(pair.key, used_[index(NameKind::kTagKey)]);
    add_uid(pair.value, used_[index(NameKind::kTagValue)]);
  }
}

Result<void> NameGc::read_series(const YieldFn& yield) {
  ScanLimit limit;
  limit.rows_max = kRowsPerStep;
  TRY(const std::vector<Row> rows, run_here(scanner_->next(limit)));
  for (const Row& row : rows) note_series(row.key);
  if (!rows.empty()) return {};
  scanner_.reset();
  return compare(yield);
}

// Adds UIDs that are used in memory or by others.
Result<void> NameGc::note_kept(const YieldFn& yield) {
  context_->registry.table().add_uids(used_);
  decltype(GcRules::others) others;
  {
    const std::lock_guard lock(mutex_);
    others = rules_.others;
  }
  if (!others) return {};
  return for_each_series(*others(), yield, [this](BytesView tsuid) { note_series(tsuid); });
}

Result<void> NameGc::compare(const YieldFn& yield) {
  TRY_VOID(note_kept(yield));
  // The state of retention classes stores metrics by UID.
  for (const auto& [uid, to_class] : context_->retention->state().pinned) {
    add_uid(uid, kept_[index(NameKind::kMetric)]);
  }
  for (const NameKind kind : kNameKinds) {
    const IdSet stays = kept_[index(kind)] | used_[index(kind)];
    unused_[index(kind)] = list(named_[index(kind)] - stays, SIZE_MAX);
    IdSet unused;
    unused.addRange(1 + std::min<std::uint64_t>(reserved_upto_[index(kind)], UINT32_MAX),
                    std::min<std::uint64_t>(ends_[index(kind)], UINT32_MAX));
    unused -= stays;
    unused -= named_[index(kind)];
    TRY_VOID(classify_unused(kind, std::move(unused)));
  }
  phase_ = Phase::kReleasing;
  return {};
}

// Decides about the UIDs that have neither names nor series. UIDs that were never used, or whose
// quarantine is over, are reused. If UIDs run out, the oldest of the others are reused too: twice
// the number that should be ready, so that the next scan is not soon.
Result<void> NameGc::classify_unused(NameKind kind, IdSet unused) {
  const UidAssigner& ids = names_.ids().ids();
  UidQuarantine& quarantine = quarantine_[index(kind)];
  std::optional<TimestampMs> freed_until;
  if (const auto stay_ms = longest_ttl_ms(*context_->retention)) {
    TRY(const TimestampMs sure, quarantine_time());
    freed_until = sure - *stay_ms;
  }
  quarantine.keep_only(unused);
  IdSet unmarked = unused - quarantine.all();
  if (unmarked_since_ != 0 && (!freed_until || unmarked_since_ > *freed_until)) {
    quarantine.add(unmarked_since_, unmarked);
    unmarked = {};
  }
  const std::uint64_t above =
      ids.largest(kind) - std::min(ids.largest(kind), ends_[index(kind)] - 1);
  const auto on_list = [](const IdSet& set) {
    return std::min<std::uint64_t>(set.cardinality(), kReusedMax);
  };
  std::uint64_t ready = above + on_list(unmarked);
  const std::uint64_t least = least_ready(ids, kind);
  const IdSet released = quarantine.release(freed_until, ready < least ? 2 * least - ready : 0);
  ready += on_list(released);
  ready_[index(kind)] = ready;
  released_[index(kind)] = list(released, kReusedMax);
  names_.ids().reuse(kind, list(unmarked, kReusedMax));
  return {};
}

// Removes the note first: it refers to the removed name, not to the new one.
Result<bool> NameGc::release_some() {
  for (const NameKind kind : kNameKinds) {
    if (released_[index(kind)].empty()) continue;
    std::vector<std::uint64_t> some = take_last(released_[index(kind)], kReleasedAtOnce);
    TRY_VOID(run_here(names_.unmark(kind, some)));
    names_.ids().reuse(kind, std::move(some));
    return true;
  }
  std::uint64_t quarantined = 0;
  for (const UidQuarantine& of_kind : quarantine_) quarantined += of_kind.size();
  quarantined_.Set(static_cast<double>(quarantined));
  return false;
}

void NameGc::mark_candidates() {
  for (const NameKind kind : kNameKinds) names_.mark_candidates(kind, unused_[index(kind)]);
  epoch_ = context_->registry.epochs().advance(false);
  phase_ = Phase::kCandidates;
}

// Series created since the scan of their table are in memory, because only this thread removes
// them. From now on a new series ends the candidacy of its names.
Result<void> NameGc::recheck(const YieldFn& yield) {
  TRY_VOID(note_kept(yield));
  for (const NameKind kind : kNameKinds) {
    std::erase_if(unused_[index(kind)], [this, kind](std::uint64_t uid) {
      return used_[index(kind)].contains(static_cast<std::uint32_t>(uid));
    });
  }
  phase_ = Phase::kRemoving;
  return {};
}

Result<bool> NameGc::remove_some() {
  for (const NameKind kind : kNameKinds) {
    std::vector<std::uint64_t>& left = unused_[index(kind)];
    if (left.empty()) continue;
    std::vector<std::uint64_t> some = take_last(left, kNamesRemovedAtOnce);
    TRY_VOID(run_here(names_.remove(kind, std::move(some), context_->clock.now_ms(), removed_)));
    return true;
  }
  return false;
}

// The notes put the UIDs into quarantine.
Result<void> NameGc::reclaim() {
  if (!noted_) {
    if (unmarked_since_ == 0) TRY_VOID(run_here(context_->reserved_ids.set_unmarked_since(0)));
    TRY_VOID(context_->chunks->states.note_number(kForgotten, context_->clock.now_ms()));
  }
  noted_ = true;
  for (const NameKind kind : kNameKinds) {
    const std::vector<std::uint64_t>& uids = removed_.uids[index(kind)];
    IdSet freed;
    for (const std::uint64_t uid : uids) {
      context_->registry.release_name(kind, uid);
      add_uid(uid, freed);
    }
    quarantine_[index(kind)].add(context_->clock.now_ms(), freed);
    forgotten_.Increment(static_cast<double>(uids.size()));
    quarantined_.Increment(static_cast<double>(uids.size()));
  }
  names_.reclaim(removed_);
  removed_ = {};
  return {};
}

}  // namespace halite::storage::engine
