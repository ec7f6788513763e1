// Tables in an embedded RocksDB: one column family for each family of each table.
//
// Formats: docs/formats/rocks-cells.md. Reasons: docs/decisions/0001-cells-in-rocksdb.md.
//
//   Threads   Call from any thread. The store has a pool for reads, one thread for writes, and
//             RocksDB's background threads.
//   Lifetime  One process at a time for a directory. Call close() before you release the last
//             reference. Tables and scanners may outlive the store; their calls are kUnavailable.
//   Errors    kUnavailable with RocksDB's message: a write failed (disk full, I/O). Later writes
//             fail until RocksDB recovers or the store is opened again.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/memory_budget.h"
#include "common/threads/completion.h"
#include "storage/api/wide_column.h"
#include "storage/backends/rocks/files/live_files.h"
#include "storage/backends/rocks/options.h"

namespace halite::storage {

namespace rocks {
struct RocksContext;
}

class RocksStore final : public WideColumnStore {
 public:
  // Blocks while RocksDB replays its log. kConflict: "data directory X is in use by another
  // process". kCorruption: names the damaged file. Clock and registry outlive the store.
  static Result<std::unique_ptr<RocksStore>> open(const RocksOptions& options, const Clock& clock,
                                                  prometheus::Registry& registry);
  ~RocksStore() override;

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  Task<void> set_format(StoreFormat format) override;
  [[nodiscard]] Result<void> health() const override;
  void drop_caches() override;                   // blocks of files that no read uses now
  [[nodiscard]] MemoryUser memory_user() const;  // blocks of files
  Task<void> close() override;

  // The files of all tables.
  [[nodiscard]] std::vector<rocks::LiveFile> live_files() const;

  // Writes a copy of all tables to a new directory, which is a data directory of its own. Blocks.
  Result<void> checkpoint(const std::string& dir);

  // Rewrites every file, without expired cells: for tools and tests. May take hours.
  Task<void> compact();

 private:
  explicit RocksStore(std::shared_ptr<rocks::RocksContext> context);

  const std::shared_ptr<rocks::RocksContext> context_;
  Completion closed_;
  std::thread closer_;  // closes the store: the pool cannot wait for itself
};

}  // namespace halite::storage
