#include "storage/engine/name_sweep.h"

#include <algorithm>
#include <utility>

#include "common/metrics.h"
#include "common/run_here.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kForgotten = "names forgotten";  // when names went first

constexpr std::uint32_t kRowsPerStep = 16 * 1024;
constexpr std::size_t kRemovedAtOnce = 4096;     // who creates one of these waits meanwhile
constexpr std::size_t kReusedMax = 1024 * 1024;  // ids of a kind kept for reuse; more are found
                                                 // by a later look
constexpr std::array kKinds = {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue};

std::size_t index(NameKind kind) { return static_cast<std::size_t>(kind); }

std::vector<std::uint64_t> list(const IdSet& ids, std::size_t max) {
  std::vector<std::uint64_t> uids;
  for (auto id = ids.begin(); id != ids.end() && uids.size() < max; ++id) uids.push_back(*id);
  return uids;
}

}  // namespace

NameSweep::NameSweep(std::shared_ptr<Core> core, prometheus::Registry& registry)
    : core_(std::move(core)),
      names_(*core_->registry.uids().forgotten()),
      forgotten_(add_counter(registry, "halite_engine_forgotten_names_total",
                             "Names that went because no series had them any more.")),
      known_(add_gauge(registry, "halite_engine_known_names", "Names in memory.")) {}

void NameSweep::allow(ForgetRules rules) {
  const std::lock_guard lock(mutex_);
  rules_ = std::move(rules);
  allowed_ = rules_.names;
}

bool NameSweep::due() const {
  const std::int64_t since = core_->clock.now_ms() - begun_at_ms_;
  return wanted_ && (hurried_ || since < 0 || since >= core_->options.expiry_interval_ms);
}

// What went wrong is begun anew, later. What was removed until then is reclaimed as ever.
Result<bool> NameSweep::step() {
  known_.Set(static_cast<double>(names_.known()));
  if (!allowed_) return false;
  if (!begun_) TRY_VOID(begin_process());
  Result<bool> more = run();
  if (more) return more;
  names_.spare_all();
  wanted_ = true;
  phase_ = Phase::kIdle;
  const bool any_removed = std::ranges::any_of(
      removed_.uids, [](const std::vector<std::uint64_t>& uids) { return !uids.empty(); });
  if (any_removed || !removed_.entries.empty()) {
    epoch_ = core_->registry.holds().advance(false);
    phase_ = Phase::kRemoved;
  }
  return more;
}

// Which ids are nobody's is known to nobody any more; where none ever went there are few.
Result<void> NameSweep::begin_process() {
  TRY(const auto since, core_->chunks->read_number(kForgotten));
  TRY(never_again_, run_here(core_->kept_ids.read()));
  noted_ = since.has_value();
  if (noted_) wanted_ = true;
  begun_ = true;
  return {};
}

Result<bool> NameSweep::run() {
  Holds& holds = core_->registry.holds();
  switch (phase_) {
    case Phase::kIdle:
      if (!due()) return false;
      TRY_VOID(begin());
      return true;
    case Phase::kNames:
      TRY_VOID(read_names());
      return true;
    case Phase::kSeries:
      TRY_VOID(read_series());
      return true;
    case Phase::kUnused:
      // No replay of the log brings their names back.
      if (core_->chunks->mark().log_position < log_position_) return false;
      doom();
      return true;
    case Phase::kDoomed:
      if (!holds.gone_before(epoch_)) return false;
      TRY_VOID(look_again());
      return true;
    case Phase::kRemoving: {
      TRY(const bool more, remove_some());
      if (more) return true;
      names_.spare_all();
      phase_ = Phase::kRemoved;
      epoch_ = holds.advance(false);
      return true;
    }
    case Phase::kRemoved:
      if (!holds.gone_before(epoch_)) return false;
      TRY_VOID(reclaim());
      phase_ = Phase::kIdle;
      return true;
  }
  std::unreachable();
}

// Ids for reuse are found anew, so that none that is given meanwhile is taken for one.
Result<void> NameSweep::begin() {
  wanted_ = false;
  hurried_ = false;
  begun_at_ms_ = core_->clock.now_ms();
  named_ = kept_ = used_ = {};
  TRY(ends_, run_here(names_.ids().stop_reuse()));
  TRY_VOID(run_here(core_->registry.settle()));
  scanner_ = names_.scan();
  phase_ = Phase::kNames;
  return {};
}

Result<void> NameSweep::read_names() {
  ScanLimit limit;
  limit.rows_max = kRowsPerStep;
  TRY(const std::vector<Row> rows, run_here(scanner_->next(limit)));
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) {
      const std::optional<NameCell> what = name_cell(cell.qualifier);
      if (!what) continue;
      const std::optional<std::uint64_t> uid = names_.uid_of(what->kind, row.key);
      if (!uid) continue;
      add_uid(*uid, (what->is_name ? named_ : kept_)[index(what->kind)]);
    }
  }
  if (!rows.empty()) return {};
  log_position_ = core_->log->last();  // names that came meanwhile may have been seen
  scanner_ = core_->registry.scan_series();
  phase_ = Phase::kSeries;
  return {};
}

void NameSweep::note_series(BytesView tsuid) {
  const Result<SeriesUids> uids = parse_tsuid(core_->retention->base().widths(), tsuid);
  if (!uids) return;
  add_uid(uids->metric, used_[index(NameKind::kMetric)]);
  for (const UidPair& pair : uids->pairs) {
    add_uid(pair.key, used_[index(NameKind::kTagKey)]);
    add_uid(pair.value, used_[index(NameKind::kTagValue)]);
  }
}

Result<void> NameSweep::read_series() {
  ScanLimit limit;
  limit.rows_max = kRowsPerStep;
  TRY(const std::vector<Row> rows, run_here(scanner_->next(limit)));
  for (const Row& row : rows) note_series(row.key);
  if (!rows.empty()) return {};
  scanner_.reset();
  return compare();
}

// Those that are in memory, or known to others.
Result<void> NameSweep::note_others() {
  core_->registry.table().add_uids(used_);
  std::function<Task<void>(ForgetRules::SeenSeries)> others;
  {
    const std::lock_guard lock(mutex_);
    others = rules_.others;
  }
  if (!others) return {};
  return run_here(others([this](BytesView tsuid) { note_series(tsuid); }));
}

Result<void> NameSweep::compare() {
  TRY_VOID(note_others());
  // A metric that was put into a retention class is known by its id.
  for (const auto& [uid, to_class] : core_->retention->state().pinned) {
    add_uid(uid, kept_[index(NameKind::kMetric)]);
  }
  bool any = false;
  for (const NameKind kind : kKinds) {
    const IdSet stays = kept_[index(kind)] | used_[index(kind)];
    unused_[index(kind)] = list(named_[index(kind)] - stays, SIZE_MAX);
    any = any || !unused_[index(kind)].empty();
    IdSet nobodys;
    nobodys.addRange(1 + std::min<std::uint64_t>(never_again_[index(kind)], UINT32_MAX),
                     std::min<std::uint64_t>(ends_[index(kind)], UINT32_MAX));
    nobodys -= stays;
    nobodys -= named_[index(kind)];
    names_.ids().reuse(kind, list(nobodys, kReusedMax));
  }
  phase_ = any ? Phase::kUnused : Phase::kIdle;
  return {};
}

void NameSweep::doom() {
  for (const NameKind kind : kKinds) names_.doom(kind, unused_[index(kind)]);
  epoch_ = core_->registry.holds().advance(false);
  phase_ = Phase::kDoomed;
}

// Series that came since the look at their table are in memory: nothing else takes them out. Who
// makes one from now on spares its names.
Result<void> NameSweep::look_again() {
  TRY_VOID(note_others());
  for (const NameKind kind : kKinds) {
    std::erase_if(unused_[index(kind)], [this, kind](std::uint64_t uid) {
      return used_[index(kind)].contains(static_cast<std::uint32_t>(uid));
    });
  }
  phase_ = Phase::kRemoving;
  return {};
}

Result<bool> NameSweep::remove_some() {
  for (const NameKind kind : kKinds) {
    std::vector<std::uint64_t>& left = unused_[index(kind)];
    if (left.empty()) continue;
    const std::size_t count = std::min(kRemovedAtOnce, left.size());
    std::vector<std::uint64_t> some(left.end() - static_cast<std::ptrdiff_t>(count), left.end());
    left.resize(left.size() - count);
    TRY_VOID(run_here(names_.remove(kind, std::move(some), removed_)));
    return true;
  }
  return false;
}

Result<void> NameSweep::reclaim() {
  if (!noted_) TRY_VOID(core_->chunks->note_number(kForgotten, core_->clock.now_ms()));
  noted_ = true;
  for (const NameKind kind : kKinds) {
    std::vector<std::uint64_t>& uids = removed_.uids[index(kind)];
    for (const std::uint64_t uid : uids) core_->registry.forget_name(kind, uid);
    forgotten_.Increment(static_cast<double>(uids.size()));
    names_.ids().reuse(kind, std::move(uids));
  }
  names_.reclaim(removed_);
  removed_ = {};
  return {};
}

}  // namespace halite::storage::engine
