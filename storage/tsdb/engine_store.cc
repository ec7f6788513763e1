#include "storage/tsdb/engine_store.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/threads/offload.h"
#include "storage/catalog/select_series.h"
#include "storage/catalog/series_names.h"
#include "storage/catalog/table_settings.h"
#include "storage/tsdb/core/all_times.h"
#include "storage/tsdb/engine_appender.h"
#include "storage/tsdb/maintenance/deletes.h"
#include "storage/tsdb/maintenance/maintenance.h"
#include "storage/tsdb/read/engine_scan.h"
#include "storage/tsdb/read/estimate.h"
#include "storage/tsdb/read/last_points.h"
#include "storage/tsdb/read/slot_cycles.h"
#include "storage/tsdb/read/stored_series.h"
#include "storage/tsdb/recovery/data_dir_check.h"
#include "storage/tsdb/recovery/lost_ids.h"
#include "storage/tsdb/recovery/open_chunks.h"
#include "storage/tsdb/recovery/recovery.h"
#include "storage/tsdb/recovery/retention_store.h"
#include "storage/tsdb/wal/log_start.h"

namespace halite::storage {
namespace {

EngineOptions complete(EngineOptions options, const std::shared_ptr<FileSystem>& files) {
  options.log.dir = options.dir + "/log";
  options.chunks.files = files;
  options.chunks.dir = options.dir + "/chunks";
  return options;
}

Task<void> keep_metric_class(std::shared_ptr<engine::RetentionClassWriter> pins, NameKind kind,
                             UidTable::NameMapping entry, std::string new_name) {
  if (kind != NameKind::kMetric) co_return Result<void>();
  co_return co_await pins->keep_class(entry.uid, std::string(entry.name), std::move(new_name));
}

// Continues with the head that was read from the log.
Result<void> take_over(engine::Recovery& recovery, engine::EngineContext& context) {
  if (!recovery.has_points()) return {};
  Result<std::shared_ptr<Head>> head = recovery.restore_head(context.registry, context.pool);
  if (!head) {
    if (head.error().code != Errc::kNotFound) return std::unexpected(head.error());
    log::warn("the points of the log go into chunks now: {}", head.error().message);
    TRY_VOID(recovery.flush(*context.log));
    head = std::make_shared<Head>(context.chunks->states.mark().flush_number + 2,
                                  context.retention->shard_count(), context.options.series_max);
  }
  context.head_list.continue_with(*std::move(head), context.chunks->states.mark().log_position);
  return {};
}

// Lets queries load only the series of their time.
void load_only_needed(const std::shared_ptr<engine::EngineContext>& context) {
  auto find = [shared = std::weak_ptr(context)](std::uint64_t metric_uid, TimestampMs since,
                                                ReadContext read) -> Task<std::vector<Bytes>> {
    const std::shared_ptr<engine::EngineContext> here = shared.lock();
    if (here == nullptr) co_return fail(Errc::kUnavailable, "the store is closed");
    CO_TRY_VOID(here->check_open());
    auto job = [here, metric_uid, since, read] {
      return engine::find_unloaded_series(*here, metric_uid, since, read);
    };
    co_return co_await offload(here->pool, std::move(job));
  };
  context->registry.loader().find_since(std::move(find), context->options.load_all_max);
}

}  // namespace

Task<std::unique_ptr<EngineStore>> EngineStore::open(Dependencies dependencies,
                                                     EngineOptions options) {
  options = complete(std::move(options), dependencies.files);
  options.chunks.damage = std::make_shared<engine::Damage>(dependencies.registry);
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await dependencies.store.open_table(settings_table_spec(options.settings_table)));
  const engine::EngineDirs dirs{.files = dependencies.files,
                                .engine = options.dir,
                                .chunks = options.chunks.dir,
                                .log = options.log.dir};
  CO_TRY_VOID(co_await engine::check_data_dir_complete(settings, dirs));
  CO_TRY_VOID(co_await write_or_compare_parameters(settings, Bytes(kEngineParameters),
                                                   dependencies.layout->parameters()));
  CO_TRY(std::shared_ptr<Table> names,
         co_await dependencies.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(std::shared_ptr<Table> series,
         co_await dependencies.store.open_table(series_table_spec(options.series_table)));
  CO_TRY_VOID(make_dirs(*dependencies.files, options.chunks.dir));
  CO_TRY(auto chunks, engine::open_chunks(dirs, options.chunks));
  CO_TRY(const bool all_names,
         co_await engine::LostNamesCheck::check(
             settings, chunks->states, {.dir = options.dir, .accept = options.accept_lost_names}));
  // Recovery needs the classes under which the log was written; the configured ones are applied
  // afterwards.
  CO_TRY(engine::RetentionState stored, co_await engine::read_retention(settings));
  CO_TRY(const auto before, engine::Retention::make(dependencies.layout, stored));
  engine::Recovery recovery(options, {.retention = *before,
                                      .chunks = *chunks,
                                      .names = names,
                                      .series = *series,
                                      .files = dependencies.files,
                                      .registry = dependencies.registry,
                                      .progress = dependencies.replayed});
  CO_TRY(auto log, recovery.read_log());
  if (!all_names) {
    CO_TRY_VOID(recovery.flush(*log));
    const engine::ReservedIds kept(settings);
    auto keeping = engine::keep_lost_ids(kept, {.chunks = chunks->views,
                                                .names = names,
                                                .widths = dependencies.layout->widths(),
                                                .shard_count = before->shard_count()});
    CO_TRY_VOID(co_await std::move(keeping));
  }
  CO_TRY_VOID(engine::LostNamesCheck(settings).note(chunks->states));
  CO_TRY_VOID(co_await engine::note_data_dir_complete(settings));
  CO_TRY(engine::RetentionState wanted,
         engine::with_rules(stored, options.retention, *dependencies.layout));
  if (wanted != stored) {
    CO_TRY_VOID(recovery.flush(*log));  // new rules may move series to other shards
    UidTable uids(names, dependencies.layout->widths());
    CO_TRY(wanted, co_await engine::keep_classes(stored, std::move(wanted), uids));
    CO_TRY_VOID(co_await engine::write_retention(settings, wanted));
  }
  CO_TRY(auto retention, engine::Retention::make(dependencies.layout, wanted));
  auto context = std::make_shared<engine::EngineContext>(
      std::move(options), std::move(retention), dependencies.clock, std::move(chunks),
      std::move(log), settings, std::move(names), std::move(series), dependencies.registry);
  CO_TRY_VOID(take_over(recovery, *context));
  load_only_needed(context);
  std::unique_ptr<EngineStore> store(new EngineStore(std::move(context), dependencies.registry));
  store->context_->registry.uids().watch(
      {.assigned = {},
       .renamed = [changes = &store->context_->changes](
                      NameKind,
                      const UidTable::NameMapping&) { changes->changed_from(kAllTimes.begin); },
       .renaming =
           [pins = std::make_shared<engine::RetentionClassWriter>(settings,
                                                                  store->context_->retention)](
               NameKind kind, const UidTable::NameMapping& entry, std::string new_name) {
             return keep_metric_class(pins, kind, entry, std::move(new_name));
           }});
  store->maintenance_->start();
  co_return store;
}

EngineStore::EngineStore(std::shared_ptr<engine::EngineContext> context,
                         prometheus::Registry& registry)
    : context_(std::move(context)),
      appender_(std::make_unique<engine::EngineAppender>(context_, registry)),
      maintenance_(std::make_unique<engine::Maintenance>(context_, registry)) {}

EngineStore::~EngineStore() = default;

Task<void> EngineStore::close() {
  // Leaves the next start nothing to replay. Points that fail to flush are in the log.
  Task<void> last_flush = flush();
  const Result<void> flushed = co_await std::move(last_flush);
  if (!flushed && context_->options.log_points) {
    log::warn("the flush at shutdown failed: {}", flushed.error().message);
  }
  const Result<void> given_back = co_await context_->registry.uids().give_back();
  if (!given_back) log::warn("ids will be skipped: {}", given_back.error().message);
  if (flushed) {
    const Result<void> shrunk = context_->log->shrink();
    if (!shrunk) log::warn("cannot remove the spare files of the log: {}", shrunk.error().message);
  }
  context_->closing = true;
  context_->chunks->files.stop_compactions();
  maintenance_->stop();
  context_->pool.join();
  Result<void> log_closed = context_->log->close();
  Result<void> chunks_closed = context_->chunks->close();
  if (!flushed && !context_->options.log_points) co_return flushed;
  co_return log_closed ? chunks_closed : log_closed;
}

Result<void> EngineStore::health() const {
  TRY_VOID(context_->log->health());
  return maintenance_->health();
}

Task<InternedSeries> EngineStore::intern(std::vector<SeriesName> names, CreateNames create) {
  return context_->registry.intern(std::move(names), create);
}

std::vector<OverQuotaMetric> EngineStore::over_quota(std::size_t max) const {
  return context_->registry.quota().over_quota(max);
}

const Series& EngineStore::series(SeriesId id) const { return context_->registry.table().at(id); }

Task<void> EngineStore::wait_for_head_space() {
  CO_TRY_VOID(co_await context_->log->wait_for_space());
  while (context_->head_list.bytes() >= context_->head_limits.bytes_max()) {
    const Completion flushed = maintenance_->next_flush();
    if (context_->head_list.bytes() < context_->head_limits.bytes_max()) break;
    maintenance_->wake();
    // A failed flush frees no space: return its reason.
    CO_TRY_VOID(co_await flushed.wait());
  }
  co_return Result<void>();
}

Task<Accepted> EngineStore::append(PointBatch batch) {
  CO_TRY_VOID(context_->check_open());
  CO_TRY_VOID(co_await wait_for_head_space());
  auto accepted = appender_->take(batch);
  if (context_->head_list.active_is_full(context_->head_limits.freeze_bytes(), context_->options)) {
    maintenance_->wake();
  }
  co_return accepted;
}

void EngineStore::request_sync() { context_->log->request_sync(); }

std::shared_ptr<const SeriesPin> EngineStore::pin_series() {
  return context_->registry.table().pin();
}

void EngineStore::enable_series_gc(GcRules rules) {
  maintenance_->series_gc().allow(std::move(rules));
}

Task<std::shared_ptr<const Selection>> EngineStore::select(SeriesQuery query, ReadContext context) {
  return select_series(context_->registry, context_->retention->base(), std::move(query),
                       std::move(context), context_->clock.now_ms(), false);
}

std::uint32_t EngineStore::shard_count() const { return context_->retention->shard_count(); }

std::unique_ptr<BlockScan> EngineStore::scan(std::shared_ptr<const Selection> selection,
                                             TimeRange range, std::uint32_t shard) {
  return std::make_unique<engine::EngineScan>(context_, as_rows(selection), range, shard,
                                              TotalsRequest{});
}

std::unique_ptr<BlockScan> EngineStore::scan_totals(std::shared_ptr<const Selection> selection,
                                                    TimeRange range, std::uint32_t shard,
                                                    TotalsRequest totals_request) {
  return std::make_unique<engine::EngineScan>(context_, as_rows(selection), range, shard,
                                              totals_request);
}

std::vector<ShardSeriesCount> EngineStore::series_by_shard(const Selection& selection) const {
  const RowSelection::Known known = dynamic_cast<const RowSelection&>(selection).known();
  std::vector<ShardSeriesCount> series_by_shard;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    const std::size_t series = known->of_shard(shard).size();
    if (series > 0) series_by_shard.push_back({.shard = shard, .series = series});
  }
  return series_by_shard;
}

Task<PinnedSeries> EngineStore::lookup(std::shared_ptr<const Selection> selection,
                                       std::size_t limit) {
  return list_series(context_->registry, as_rows(selection), limit, false);
}

Task<PinnedLastPoints> EngineStore::last(std::shared_ptr<const Selection> selection,
                                         TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  CO_TRY_VOID(context_->check_open());
  CO_TRY(std::vector<LastPoint> points, co_await engine::find_last_points(context_, rows, range));
  co_return PinnedLastPoints(rows->pin(), std::move(points));
}

PointChanges* EngineStore::changes() { return &context_->changes; }

TimestampMs EngineStore::kept_from(std::string_view metric) const {
  const auto pin = context_->registry.uids().pin();
  const auto* const known = context_->registry.uids().cached(NameKind::kMetric, metric);
  const TimestampMs now = context_->clock.now_ms();
  return known == nullptr ? context_->retention->all_kept_from(now)
                          : context_->retention->kept_from(known->uid, metric, now);
}

Task<ReadEstimate> EngineStore::estimate(std::shared_ptr<const Selection> selection,
                                         TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_, rows, range] {
    return engine::estimate_reading(*context, *rows, range);
  };
  co_return co_await offload(context_->pool, std::move(job));
}

Task<std::uint64_t> EngineStore::delete_range(std::shared_ptr<const Selection> selection,
                                              TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  const std::shared_ptr<engine::EngineContext> context = context_;  // outlives the files
  auto deletion = std::make_shared<engine::Deletion>();
  const ChangedAtEnd changed(context->changes, range.begin);
  auto begin = [context, deletion]() -> Result<void> {
    engine::begin_delete(*context, *deletion);
    return {};
  };
  const Completion begun = maintenance_->run_flushed(std::move(begin));
  CO_TRY_VOID(co_await begun.wait());
  // One shard at a time, so that other users of the pool can run in between.
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    CO_TRY_VOID(context->check_open());
    auto prepare = [context, rows, range, shard, deletion] {
      return engine::prepare_delete(*context, *rows, range, shard, *deletion);
    };
    CO_TRY_VOID(co_await offload(context->pool, std::move(prepare)));
  }
  if (deletion->points == 0) {
    deletion->pending.reset();
    co_return 0;
  }
  auto finish = [context, rows, &series_gc = maintenance_->series_gc(), deletion] {
    return engine::finish_delete(*context, series_gc, *deletion);
  };
  const Completion done = maintenance_->run(std::move(finish));
  CO_TRY_VOID(co_await done.wait());
  co_return deletion->points;
}

Task<std::vector<std::string>> EngineStore::suggest(NameKind kind, std::string prefix,
                                                    std::size_t max) {
  return context_->registry.uids().suggest(kind, std::move(prefix), max);
}

Task<void> EngineStore::series_names(SeriesNamesQuery query, ReadContext context, NameUse use) {
  return list_series_names(&context_->registry, context_->retention->base().widths(),
                           std::move(query), std::move(context), std::move(use));
}

Task<void> EngineStore::settle() {
  const Sequence last = context_->log->last();
  if (last == 0) co_return Result<void>{};
  context_->log->request_sync();
  const Completion durable = context_->log->durable(last);
  co_return co_await durable.wait();
}

Task<void> EngineStore::flush() {
  const Completion done = maintenance_->flush();
  co_return co_await done.wait();
}

Task<void> EngineStore::seal() {
  const Completion done = maintenance_->seal();
  co_return co_await done.wait();
}

std::vector<RetentionStatus> EngineStore::retention_status() const {
  return engine::retention_status(*context_);
}

std::vector<rocks::LiveFile> EngineStore::chunk_files() const {
  return context_->chunks->tables->live_files();
}

// Copies chunks first: names newer than the chunks do no harm.
Task<void> EngineStore::checkpoint(std::string dir, std::function<Result<void>()> names) {
  auto job = [context = context_, dir = std::move(dir),
              names = std::move(names)]() -> Result<void> {
    TRY_VOID(context->chunks->tables->copy_to(dir + "/chunks"));
    LogOptions log = context->options.log;
    log.dir = dir + "/log";
    TRY_VOID(log_format::create_empty_log(*context->options.chunks.files, log,
                                          context->chunks->states.mark().log_position));
    return names();
  };
  const Completion done = maintenance_->run_flushed(std::move(job));
  co_return co_await done.wait();
}

// While a head is flushed, the next one fills: so the active one needs room for both.
std::vector<MemoryUser> EngineStore::memory_users() {
  MemoryUser heads{.setting = "engine.head_bytes_max",
                   .used = [context = context_] { return context->head_list.bytes(); }};
  heads.needed = [context = context_] {
    const std::size_t active = context->head_list.active_bytes();
    return std::max(context->head_list.bytes(), context->head_limits.bytes_max_for(active));
  };
  heads.resize = [context = context_](std::uint64_t bytes) {
    context->head_limits.set_bytes_max(bytes);
  };
  return {std::move(heads), context_->chunks->tables->memory_user()};
}

SeriesRegistry& EngineStore::registry() { return context_->registry; }

UidTable& EngineStore::uids() { return context_->registry.uids(); }

}  // namespace halite::storage
