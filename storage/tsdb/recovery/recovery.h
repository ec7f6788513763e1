// Reads the records that only the write-ahead log has, once, before the engine accepts points.
//
// The points go into a head. Usually the engine continues with that head, and the log keeps its
// records: a start writes almost nothing. The head is flushed into chunks instead if the log is
// damaged, or if the caller needs the points in chunks.
//
//   Recovery recovery(options, dependencies);
//   TRY(std::unique_ptr<Log> log, recovery.read_log());
//   ...                                                    flush(), if chunks are needed
//   if (recovery.has_points()) head = recovery.restore_head(registry, pool);
//
//   Threads  one at a time; all calls block.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <prometheus/registry.h>

#include "storage/api/wide_column.h"
#include "storage/catalog/names/deferred_names.h"
#include "storage/catalog/series_registry.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/core/options.h"
#include "storage/tsdb/core/retention.h"
#include "storage/tsdb/recovery/log_replay.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

// All must outlive the Recovery.
struct RecoveryDependencies {
  const Retention& retention;  // with which the log was written
  ChunkDb& chunks;
  std::shared_ptr<Table> names;
  Table& series;
  std::shared_ptr<FileSystem> files;
  prometheus::Registry& registry;
  std::function<Result<void>(const ReplayProgress&)> progress = {};  // as Dependencies::replayed
};

class Recovery {
 public:
  Recovery(const EngineOptions& options, RecoveryDependencies dependencies);

  // Opens the log of options.log and reads its records. Flushes whenever the head exceeds three
  // quarters of options.head_bytes_max, and at the end if the engine cannot continue with the head.
  // Logs its progress.
  [[nodiscard]] Result<std::unique_ptr<Log>> read_log();

  // Whether there are points that are not in chunks.
  [[nodiscard]] bool has_points() const { return replay_ != nullptr; }

  // Flushes the points into chunks. Afterwards no record of the log is needed.
  [[nodiscard]] Result<void> flush(Log& log);

  // Registers the series of the points. Returns their head, for HeadList::continue_with(). Uses all
  // threads of the pool. kNotFound: a name is missing; then flush().
  [[nodiscard]] Result<std::shared_ptr<Head>> restore_head(SeriesRegistry& registry,
                                                           boost::asio::thread_pool& pool);

 private:
  [[nodiscard]] Result<void> record(BytesView payload);
  [[nodiscard]] Result<void> check_names(const ReplayReport& report) const;
  [[nodiscard]] bool may_restore(const ReplayReport& report) const;
  [[nodiscard]] bool series_fit() const;
  [[nodiscard]] Result<void> take_names();
  [[nodiscard]] Result<void> write_series();
  [[nodiscard]] Result<void> flush_upto(Sequence position);

  const SeriesLimits series_limits_;
  const std::size_t flush_bytes_;  // of a head; above, senders would soon wait
  const LogOptions log_options_;
  const RecoveryDependencies dependencies_;
  const Sequence begin_;  // before the first record to read
  std::unique_ptr<LogReplay>
      replay_;                     // null: the points are in chunks, or the engine has their head
  std::vector<LoggedName> names_;  // without rows
  std::vector<std::uint32_t> stored_;  // by shard: series of the head whose rows were written
};

}  // namespace halite::storage::engine
