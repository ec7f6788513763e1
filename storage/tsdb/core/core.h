// What the parts of one engine share; lives as long as the last of them.
#pragma once

#include <atomic>
#include <memory>

#include <boost/asio/thread_pool.hpp>

#include "common/clock.h"
#include "storage/catalog/index/alive_series.h"
#include "storage/catalog/series_registry.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/core/generations.h"
#include "storage/tsdb/core/kept_ids.h"
#include "storage/tsdb/core/name_log.h"
#include "storage/tsdb/core/newest_points.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/pending_deletes.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/core/settled_names.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

struct Core {
  Core(EngineOptions options_to_use, std::shared_ptr<Retention> retention_to_use,
       const Clock& clock_to_use, std::unique_ptr<ChunkDb> opened_chunks,
       std::unique_ptr<Log> opened_log, std::shared_ptr<Table> settings,
       std::shared_ptr<Table> names, std::shared_ptr<Table> series, prometheus::Registry& metrics)
      : options(std::move(options_to_use)),
        retention(std::move(retention_to_use)),
        clock(clock_to_use),
        chunks(std::move(opened_chunks)),
        log(std::move(opened_log)),
        name_log(*log),
        settled_names(settings),
        kept_ids(std::move(settings)),
        registry(std::move(names), std::move(series), retention->base().widths(),
                 SeriesLimits{options.series_max, options.series_bytes_max},
                 std::make_unique<NewSeriesQuota>(options.new_series, clock, metrics), retention),
        generations(chunks->states.mark().flush_number, retention->shard_count(),
                    options.series_max, log->last()),
        newest(retention->shard_count(), options.series_max),
        pool(options.read_threads) {
    registry.defer(name_log);
  }

  // kUnavailable once the store is being closed.
  [[nodiscard]] Result<void> check_open() const {
    if (!closing) return {};
    return fail(Errc::kUnavailable, "the store is closed");
  }

  const EngineOptions options;
  const std::shared_ptr<Retention> retention;
  const Clock& clock;
  const std::unique_ptr<ChunkDb> chunks;
  const std::unique_ptr<Log> log;
  EngineNameLog name_log;
  SettledNames settled_names;
  const KeptIds kept_ids;
  SeriesRegistry registry;
  Generations generations;
  PendingDeletes deletes;
  NewestPoints newest;
  AliveSeries alive;              // in chunks
  boost::asio::thread_pool pool;  // for newest points and estimates, which block
  std::atomic<bool> closing = false;
};

}  // namespace halite::storage::engine
