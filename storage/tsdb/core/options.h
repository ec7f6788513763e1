// The options of the embedded engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/api/series_iterator.h"
#include "storage/catalog/series_quota.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage {

// The TTL of the metrics whose names begin with the prefix. The longest matching prefix applies.
struct RetentionRule {
  std::string prefix;
  std::int64_t ttl_ms = 0;  // 0 = keep forever
};

// What protects series and names from garbage collection, besides points. Any member may be empty.
struct GcRules {
  // Returns those of these series that must stay although they have no points; it may return
  // others.
  std::function<std::unique_ptr<SeriesIterator>(std::vector<Bytes> tsuids)> keeps;
  // Returns all series whose names must stay, whether they are known or not.
  std::function<std::unique_ptr<SeriesIterator>()> others;
  bool names = true;  // remove names without series and reuse their UIDs
};

struct EngineOptions {
  std::string dir;  // created if missing; one process at a time

  LogOptions log;  // its dir is derived from `dir`
  // False for bulk loads: points bypass the log. Those that an append() accepted are durable only
  // after the next flush(); `Accepted::durable` says nothing about them.
  bool log_points = true;
  engine::ChunkDbOptions chunks;  // its dir is derived from `dir`, its files are the engine's

  // Approximate memory for recent points: of the active head, which is frozen above the first
  // limit, and of all heads; writers wait for a flush above the second.
  std::size_t head_freeze_bytes = 128 << 20;
  std::size_t head_bytes_max = 512 << 20;
  // The active head is also frozen when it has this many points and long runs of each series. More
  // points would not improve the chunks, but lengthen a start after a crash.
  std::uint64_t head_freeze_points = 48'000'000;
  std::uint64_t head_run_points = 512;                // the average length of such runs, in points
  std::int64_t head_age_max_ms = 2 * 60 * 60 * 1000;  // maximum age of the active head

  // A slot is sealed this long after its end and after its last flush.
  std::int64_t seal_quiet_ms = 10 * 60 * 1000;
  // When a series is sealed again, sealed chunks of at least this many points stay unless points
  // arrived before their ends.
  std::uint32_t seal_long_points = 1 << 13;
  // A flush writes chunks of ended slots in their sealed form if the series has nothing stored in
  // the slot, and if a shard has at least this many bytes of them.
  std::uint64_t seal_directly_bytes = 64 << 10;
  // Late data stays in separate chunks until a series has too much of it; then its sealed chunk is
  // rewritten.
  std::int64_t seal_late_interval_ms = 60 * 60 * 1000;  // minimum time between looks at a slot
  std::uint32_t seal_late_percent = 400;     // bytes of late chunks, relative to the sealed one
  std::uint32_t seal_late_chunks_max = 256;  // or this number of late chunks
  std::uint32_t seal_cpu_percent = 50;       // of one core, for sealing, 1 to 100
  std::int64_t expiry_interval_ms = 60 * 60 * 1000;  // time between searches for expired slots
  bool expire_after_clock_jump = false;              // see expiry.h
  std::int64_t maintenance_ms = 1000;                // time between maintenance cycles
  // Expiry and garbage collection let a flush run after this time; 0 = after each piece of work.
  std::int64_t maintenance_yield_ms = 20;
  std::int64_t series_idle_ms = 2 * 60 * 60 * 1000;  // see series_unloader.h; 0 = never
  // A query loads all series of a metric up to about so many; beyond that, those of its time.
  std::size_t load_all_max = 128 * 1024;
  bool auto_maintenance = true;  // false: flush, seal and expire only on request

  std::vector<RetentionRule> retention;  // storage.retention; prefixes are unique

  unsigned read_threads = 4;  // for newest points and estimates, which block
  // A query that selects at least this many series of a metric in a shard, and at least an eighth
  // of all, first finds the active ones. Fewer series are looked up one by one.
  std::size_t list_active_min = 32;
  SeriesId series_max = 100'000'000;
  std::size_t series_bytes_max = 8ULL << 30;  // maximum memory of known series
  NewSeriesLimits new_series;
  bool accept_lost_names = false;  // see lost_names_check.h
  std::string settings_table = "halite-settings";
  std::string uid_table = "tsdb-uid";
  std::string series_table = "halite-series";
};

}  // namespace halite::storage
