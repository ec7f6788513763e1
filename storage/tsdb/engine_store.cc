#include "storage/tsdb/engine_store.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/offload.h"
#include "storage/catalog/select_series.h"
#include "storage/catalog/table_settings.h"
#include "storage/tsdb/intake.h"
#include "storage/tsdb/maintenance/deletes.h"
#include "storage/tsdb/maintenance/maintenance.h"
#include "storage/tsdb/read/engine_scan.h"
#include "storage/tsdb/read/estimate.h"
#include "storage/tsdb/read/last_points.h"
#include "storage/tsdb/read/slot_cycles.h"
#include "storage/tsdb/recovery/lost_ids.h"
#include "storage/tsdb/recovery/open_chunks.h"
#include "storage/tsdb/recovery/parts.h"
#include "storage/tsdb/recovery/recovery.h"
#include "storage/tsdb/recovery/settle_retention.h"
#include "storage/tsdb/wal/log_begin.h"

namespace halite::storage {
namespace {

EngineOptions complete(EngineOptions options, const std::shared_ptr<FileSystem>& files) {
  options.log.dir = options.dir + "/log";
  options.chunks.files = files;
  options.chunks.dir = options.dir + "/chunks";
  return options;
}

Task<void> keep_metric_class(std::shared_ptr<engine::PinWriter> pins, NameKind kind,
                             UidTable::Entry entry, std::string new_name) {
  if (kind != NameKind::kMetric) co_return Result<void>();
  co_return co_await pins->keep_class(entry.uid, std::string(entry.name), std::move(new_name));
}

}  // namespace

Task<std::unique_ptr<EngineStore>> EngineStore::open(Parts parts, EngineOptions options) {
  options = complete(std::move(options), parts.files);
  options.chunks.damage = std::make_shared<engine::Damage>(parts.registry);
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await parts.store.open_table(settings_table_spec(options.settings_table)));
  const engine::EngineDirs dirs{.files = parts.files,
                                .engine = options.dir,
                                .chunks = options.chunks.dir,
                                .log = options.log.dir};
  CO_TRY_VOID(co_await engine::check_parts(settings, dirs));
  CO_TRY_VOID(
      co_await settle_parameters(settings, Bytes(kEngineParameters), parts.layout->parameters()));
  CO_TRY(std::shared_ptr<Table> names,
         co_await parts.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(std::shared_ptr<Table> series,
         co_await parts.store.open_table(series_table_spec(options.series_table)));
  CO_TRY_VOID(make_dirs(*parts.files, options.chunks.dir));
  CO_TRY(auto chunks, engine::open_chunks(dirs, options.chunks));
  CO_TRY(const bool all_names,
         co_await engine::SettledNames::check(
             settings, chunks->states, {.dir = options.dir, .accept = options.accept_lost_names}));
  // The log is of the classes that there were; then come those that are wanted.
  CO_TRY(engine::RetentionState stored, co_await engine::read_retention(settings));
  CO_TRY(const auto before, engine::Retention::make(parts.layout, stored));
  engine::RecoveryParts recovery{.retention = *before,
                                 .chunks = *chunks,
                                 .names = names,
                                 .series = *series,
                                 .files = parts.files,
                                 .registry = parts.registry,
                                 .progress = parts.replayed};
  CO_TRY(auto log, engine::recover(options, std::move(recovery)));
  if (!all_names) {
    const engine::KeptIds kept(settings);
    auto keeping = engine::keep_lost_ids(kept, {.chunks = chunks->views,
                                                .names = names,
                                                .widths = parts.layout->widths(),
                                                .shard_count = before->shard_count()});
    CO_TRY_VOID(co_await std::move(keeping));
  }
  CO_TRY_VOID(engine::SettledNames(settings).note(chunks->states));
  CO_TRY_VOID(co_await engine::note_parts(settings));
  UidTable uids(names, parts.layout->widths());
  CO_TRY(engine::RetentionState wanted,
         co_await engine::apply_rules(stored, options.retention, *parts.layout, uids));
  CO_TRY(auto retention, engine::Retention::make(parts.layout, wanted));
  if (wanted != stored) CO_TRY_VOID(co_await engine::write_retention(settings, wanted));
  auto core = std::make_shared<engine::Core>(std::move(options), std::move(retention), parts.clock,
                                             std::move(chunks), std::move(log), settings,
                                             std::move(names), std::move(series), parts.registry);
  std::unique_ptr<EngineStore> store(new EngineStore(std::move(core), parts.registry));
  store->core_->registry.uids().watch(
      {.assigned = {},
       .renamed = {},
       .renaming = [pins = std::make_shared<engine::PinWriter>(settings, store->core_->retention)](
                       NameKind kind, const UidTable::Entry& entry, std::string new_name) {
         return keep_metric_class(pins, kind, entry, std::move(new_name));
       }});
  store->maintenance_->start();
  co_return store;
}

EngineStore::EngineStore(std::shared_ptr<engine::Core> core, prometheus::Registry& registry)
    : core_(std::move(core)),
      intake_(std::make_unique<engine::Intake>(core_, registry)),
      maintenance_(std::make_unique<engine::Maintenance>(core_, registry)) {}

EngineStore::~EngineStore() = default;

Task<void> EngineStore::close() {
  // So that the next start has nothing to replay. What is not flushed is in the log.
  Task<void> last_flush = flush();
  const Result<void> flushed = co_await std::move(last_flush);
  if (!flushed) log::warn("the flush at shutdown failed: {}", flushed.error().message);
  const Result<void> given_back = co_await core_->registry.uids().give_back();
  if (!given_back) log::warn("ids will be skipped: {}", given_back.error().message);
  if (flushed) {
    const Result<void> shrunk = core_->log->shrink();
    if (!shrunk) log::warn("cannot remove the spare files of the log: {}", shrunk.error().message);
  }
  core_->closing = true;
  core_->chunks->files.stop_merging();
  maintenance_->stop();
  core_->pool.join();
  Result<void> log_closed = core_->log->close();
  Result<void> chunks_closed = core_->chunks->close();
  co_return log_closed ? chunks_closed : log_closed;
}

Result<void> EngineStore::health() const {
  TRY_VOID(core_->log->health());
  return maintenance_->health();
}

Task<std::vector<Result<SeriesId>>> EngineStore::intern(std::vector<SeriesName> names,
                                                        CreateNames create) {
  return core_->registry.intern(std::move(names), create);
}

std::vector<CrowdedMetric> EngineStore::crowded(std::size_t max) const {
  return core_->registry.quota().crowded(max);
}

const Series& EngineStore::series(SeriesId id) const { return core_->registry.table().at(id); }

Task<void> EngineStore::wait_for_room() {
  CO_TRY_VOID(co_await core_->log->room());
  while (core_->generations.bytes() >= core_->options.head_bytes_max) {
    const Completion flushed = maintenance_->next_flush();
    if (core_->generations.bytes() < core_->options.head_bytes_max) break;
    maintenance_->wake();
    // When the flush fails there is no room, and the reason is the answer.
    CO_TRY_VOID(co_await flushed.wait());
  }
  co_return Result<void>();
}

Task<Accepted> EngineStore::append(PointBatch batch) {
  CO_TRY_VOID(core_->check_open());
  CO_TRY_VOID(co_await wait_for_room());
  auto accepted = intake_->take(batch);
  if (core_->generations.active_is_full(core_->options)) maintenance_->wake();
  co_return accepted;
}

void EngineStore::hurry() { core_->log->hurry(); }

std::shared_ptr<const SeriesHold> EngineStore::hold_series() {
  return core_->registry.table().hold();
}

void EngineStore::forget_series(ForgetRules rules) {
  maintenance_->forgetting().allow(std::move(rules));
}

Task<std::shared_ptr<const Selection>> EngineStore::select(SeriesQuery query, ReadContext context) {
  return select_series(core_->registry, core_->retention->base(), std::move(query),
                       std::move(context), core_->clock.now_ms(), false);
}

std::uint32_t EngineStore::shard_count() const { return core_->retention->shard_count(); }

std::unique_ptr<BlockScan> EngineStore::scan(std::shared_ptr<const Selection> selection,
                                             TimeRange range, std::uint32_t shard) {
  return std::make_unique<engine::EngineScan>(core_, as_rows(selection), range, shard,
                                              TotalsWish{});
}

std::unique_ptr<BlockScan> EngineStore::scan_totals(std::shared_ptr<const Selection> selection,
                                                    TimeRange range, std::uint32_t shard,
                                                    TotalsWish wish) {
  return std::make_unique<engine::EngineScan>(core_, as_rows(selection), range, shard, wish);
}

std::vector<ShardShare> EngineStore::shares(const Selection& selection) const {
  const RowSelection::Known known = dynamic_cast<const RowSelection&>(selection).known();
  std::vector<ShardShare> shares;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    const std::size_t series = known->of_shard(shard).size();
    if (series > 0) shares.push_back({.shard = shard, .series = series});
  }
  return shares;
}

Task<std::vector<SeriesId>> EngineStore::lookup(std::shared_ptr<const Selection> selection,
                                                std::size_t limit) {
  return list_series(core_->registry, as_rows(selection), limit, false);
}

Task<std::vector<LastPoint>> EngineStore::last(std::shared_ptr<const Selection> selection,
                                               TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  CO_TRY_VOID(core_->check_open());
  co_return co_await engine::find_last_points(core_, rows, range);
}

Task<ReadEstimate> EngineStore::estimate(std::shared_ptr<const Selection> selection,
                                         TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  CO_TRY_VOID(core_->check_open());
  auto job = [core = core_, rows, range] { return engine::estimate_reading(*core, *rows, range); };
  co_return co_await offload(core_->pool, std::move(job));
}

Task<std::uint64_t> EngineStore::delete_range(std::shared_ptr<const Selection> selection,
                                              TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  const std::shared_ptr<engine::Core> core = core_;  // outlives the files
  auto deletion = std::make_shared<engine::Deletion>();
  auto begin = [core, deletion]() -> Result<void> {
    engine::begin_delete(*core, *deletion);
    return {};
  };
  const Completion begun = maintenance_->run_flushed(std::move(begin));
  CO_TRY_VOID(co_await begun.wait());
  // A shard at a time: others who want the pool come in between.
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    CO_TRY_VOID(core->check_open());
    auto prepare = [core, rows, range, shard, deletion] {
      return engine::prepare_delete(*core, *rows, range, shard, *deletion);
    };
    CO_TRY_VOID(co_await offload(core->pool, std::move(prepare)));
  }
  if (deletion->points == 0) {
    deletion->pending.reset();
    co_return 0;
  }
  auto finish = [core, rows, &forgetting = maintenance_->forgetting(), deletion] {
    return engine::finish_delete(*core, forgetting, *deletion);
  };
  const Completion done = maintenance_->run(std::move(finish));
  CO_TRY_VOID(co_await done.wait());
  co_return deletion->points;
}

Task<std::vector<std::string>> EngineStore::suggest(NameKind kind, std::string prefix,
                                                    std::size_t max) {
  return core_->registry.uids().suggest(kind, std::move(prefix), max);
}

Task<void> EngineStore::flush() {
  const Completion done = maintenance_->flush();
  co_return co_await done.wait();
}

Task<void> EngineStore::seal() {
  const Completion done = maintenance_->seal();
  co_return co_await done.wait();
}

std::vector<SlotCycle> EngineStore::slot_cycles() const { return engine::slot_cycles(*core_); }

std::vector<rocks::LiveFile> EngineStore::chunk_files() const {
  return core_->chunks->tables->live_files();
}

// Chunks first: names that are newer than they are do no harm.
Task<void> EngineStore::snapshot(std::string dir, std::function<Result<void>()> names) {
  auto job = [core = core_, dir = std::move(dir), names = std::move(names)]() -> Result<void> {
    TRY_VOID(core->chunks->tables->copy_to(dir + "/chunks"));
    LogOptions log = core->options.log;
    log.dir = dir + "/log";
    TRY_VOID(log_format::begin_log(*core->options.chunks.files, log,
                                   core->chunks->states.mark().log_position));
    return names();
  };
  const Completion done = maintenance_->run_flushed(std::move(job));
  co_return co_await done.wait();
}

SeriesRegistry& EngineStore::registry() { return core_->registry; }

UidTable& EngineStore::uids() { return core_->registry.uids(); }

}  // namespace halite::storage
