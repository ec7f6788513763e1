// How the embedded engine uses disk, memory and threads.
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

// Metrics whose names begin with the prefix are kept for so long; the longest prefix counts.
struct RetentionRule {
  std::string prefix;
  std::int64_t ttl_ms = 0;  // 0 = for ever
};

// What besides points keeps series and names from being forgotten. All may be empty.
struct GcRules {
  // Those of these series that must not go though they have no points; and perhaps others.
  std::function<std::unique_ptr<SeriesIterator>(std::vector<Bytes> tsuids)> keeps;
  // All series, known ones and others, whose names must not go.
  std::function<std::unique_ptr<SeriesIterator>()> others;
  bool names = true;  // names without series go, and their ids are used again
};

struct EngineOptions {
  std::string dir;  // made if it is not there; one process at a time

  LogOptions log;                 // its dir is made from `dir`
  engine::ChunkDbOptions chunks;  // its dir and files too

  // Recent points in memory, about: of the generation that takes points, after which it is frozen
  // and flushed; and of all generations, after which writers wait for a flush.
  std::size_t head_freeze_bytes = 128 << 20;
  std::size_t head_bytes_max = 512 << 20;
  // It is frozen as well when it has so many points, long runs of each series: a flush of more
  // would make chunks no better, but a start after a crash longer.
  std::uint64_t head_freeze_points = 48'000'000;
  std::uint64_t head_run_points = 512;                // such a run, on average
  std::int64_t head_age_max_ms = 2 * 60 * 60 * 1000;  // then it is frozen, too

  // A slot is sealed when it has been over for so long and nothing was flushed into it meanwhile.
  std::int64_t seal_quiet_ms = 10 * 60 * 1000;
  // Sealed chunks of so many points stay when their series is sealed again, where nothing came in
  // front of their ends.
  std::uint32_t seal_long_points = 1 << 13;
  // What comes for a slot after it was sealed stays apart from its chunks, as it was flushed, until
  // a series has so much of it there: then that series' chunk is written anew.
  std::int64_t seal_late_interval_ms = 60 * 60 * 1000;  // a slot is looked through so often at most
  std::uint32_t seal_late_percent = 400;     // bytes of late chunks, of those of the sealed one
  std::uint32_t seal_late_chunks_max = 256;  // or so many late chunks
  std::uint32_t seal_cpu_percent = 50;       // of one core that sealing takes by itself, 1 to 100
  std::int64_t expiry_interval_ms = 60 * 60 * 1000;  // how often expired slots are looked for
  bool expire_after_clock_jump = false;              // see expiry.h
  std::int64_t maintenance_ms = 1000;                // how often it looks for work
  // Expiry and forgetting let a flush through after so long; 0 = after every piece of work.
  std::int64_t maintenance_yield_ms = 20;
  bool auto_maintenance = true;  // false: it flushes, seals and expires only when it is asked to

  std::vector<RetentionRule> retention;  // storage.retention; a prefix once

  unsigned read_threads = 4;  // for newest points and estimates, which block
  // A question that wants so many series of a metric in a shard, and not far fewer than it has,
  // first looks which of them have points in the slots; fewer are looked for one by one.
  std::size_t list_active_min = 32;
  SeriesId series_max = 100'000'000;
  std::size_t series_bytes_max = 8ULL << 30;  // memory of known series
  NewSeriesLimits new_series;
  bool accept_lost_names = false;  // lost_names_check.h
  std::string settings_table = "halite-settings";
  std::string uid_table = "tsdb-uid";
  std::string series_table = "halite-series";
};

}  // namespace halite::storage
