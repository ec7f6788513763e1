// The state that a RocksStore, its tables and their scanners share. Lives as long as the last of
// them.
#pragma once

#include <atomic>
#include <memory>

#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/result.h"
#include "storage/backends/rocks/committer.h"
#include "storage/backends/rocks/database.h"
#include "storage/backends/rocks/inspect/damage.h"
#include "storage/backends/rocks/scan.h"
#include "storage/backends/shared/hybrid_clock.h"

namespace halite::storage::rocks {

struct RocksContext {
  RocksContext(const RocksOptions& options_to_use, const Clock& clock,
               std::unique_ptr<Database> opened_database, prometheus::Registry& registry)
      : options(options_to_use),
        database(std::move(opened_database)),
        times(clock, database->seen_time() + 1),  // above all stored times
        pool(options.read_threads),
        damage(registry,
               {.metrics = "halite_rocksdb",
                .of = "stored names or cells are",
                .then = "Requests that need them fail; other requests are not affected. To recover "
                        "them, stop the server and restore the data directory from a copy"}),
        committer(options, *database, times, registry) {}

  // kUnavailable once the store is closing.
  [[nodiscard]] Result<void> check_open() const {
    if (!closing) return {};
    return fail(Errc::kUnavailable, "the store is closed");
  }

  // Finishes running calls, then releases the directory. Blocks.
  Result<void> close();

  const RocksOptions options;
  const std::unique_ptr<Database> database;
  HybridClock times;
  boost::asio::thread_pool pool;  // for reads, scans and opening tables
  OpenScans scans;
  Damage damage;
  Committer committer;
  std::atomic<bool> closing = false;
};

}  // namespace halite::storage::rocks
