// Tables in an embedded RocksDB: one column family for each family of each table.
//
// Formats: docs/formats/rocks-cells.md. Reasons: docs/decisions/0001-cells-in-rocksdb.md.
//
//   Threads  its own: a pool for reads, one for writes, and RocksDB's in the background.
//   Life     one process at a time on a directory. Call close() before the last reference goes;
//            tables and scanners may outlive it, their calls are kUnavailable then.
//   Errors   a write that fails (disk full, I/O) is kUnavailable with RocksDB's text, and so are
//            later ones until RocksDB has recovered or the store was opened again.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/completion.h"
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
  // process". kCorruption names the damaged file. Clock and registry outlive the store.
  static Result<std::unique_ptr<RocksStore>> open(const RocksOptions& options, const Clock& clock,
                                                  prometheus::Registry& registry);
  ~RocksStore() override;

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  [[nodiscard]] Result<void> health() const override;
  void drop_caches() override;  // blocks of files that nobody reads just now
  Task<void> close() override;

  // Of all tables, as they are now.
  [[nodiscard]] std::vector<rocks::LiveFile> live_files() const;

  // A directory, which is not there, gets all tables as they are now: a data directory of its own.
  // Blocks.
  Result<void> checkpoint(const std::string& dir);

  // Rewrites every file, expired cells left out: for tools and tests. May take hours.
  Task<void> compact();

 private:
  explicit RocksStore(std::shared_ptr<rocks::RocksContext> context);

  const std::shared_ptr<rocks::RocksContext> context_;
  Completion closed_;
  std::thread closer_;  // the pool cannot wait for itself
};

}  // namespace halite::storage
