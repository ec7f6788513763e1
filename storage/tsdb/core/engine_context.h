// The state that the classes of one engine share. It lives as long as the last of them.
#pragma once

#include <atomic>
#include <memory>

#include <boost/asio/thread_pool.hpp>

#include "common/clock.h"
#include "storage/api/point_changes.h"
#include "storage/catalog/index/active_series.h"
#include "storage/catalog/series_registry.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/core/head_limits.h"
#include "storage/tsdb/core/head_list.h"
#include "storage/tsdb/core/lost_names_check.h"
#include "storage/tsdb/core/name_log.h"
#include "storage/tsdb/core/newest_points.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/pending_deletes.h"
#include "storage/tsdb/core/reserved_ids.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct EngineContext {
  EngineContext(EngineOptions options_to_use, std::shared_ptr<Retention> retention_to_use,
                const Clock& clock_to_use, std::unique_ptr<ChunkDb> opened_chunks,
                std::unique_ptr<Log> opened_log, std::shared_ptr<Table> settings,
                std::shared_ptr<Table> names, std::shared_ptr<Table> series,
                prometheus::Registry& metrics)
      : options(std::move(options_to_use)),
        head_limits(options),
        retention(std::move(retention_to_use)),
        clock(clock_to_use),
        chunks(std::move(opened_chunks)),
        log(std::move(opened_log)),
        name_log(*log),
        lost_names_check(settings),
        reserved_ids(std::move(settings)),
        registry(std::move(names), std::move(series), retention->base().widths(),
                 SeriesLimits{options.series_max, options.series_bytes_max},
                 std::make_unique<NewSeriesQuota>(options.new_series, clock, metrics), retention),
        head_list(chunks->states.mark().flush_number, retention->shard_count(), options.series_max,
                  log->last()),
        changes(clock),
        newest(retention->shard_count(), options.series_max),
        pool(options.read_threads) {
    registry.defer(name_log);
  }

  // kUnavailable once the store is closing.
  [[nodiscard]] Result<void> check_open() const {
    if (!closing) return {};
    return fail(Errc::kUnavailable, "the store is closed");
  }

  const EngineOptions options;
  HeadLimits head_limits;
  const std::shared_ptr<Retention> retention;
  const Clock& clock;
  const std::unique_ptr<ChunkDb> chunks;
  const std::unique_ptr<Log> log;
  EngineNameLog name_log;
  LostNamesCheck lost_names_check;
  const ReservedIds reserved_ids;
  SeriesRegistry registry;
  HeadList head_list;
  PendingDeletes deletes;
  PointChanges changes;
  NewestPoints newest;
  ActiveSeries active_series;     // in chunks
  boost::asio::thread_pool pool;  // for newest points and estimates, which block
  std::atomic<bool> closing = false;
};

}  // namespace halite::storage::engine
