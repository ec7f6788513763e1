// The embedded engine: points go into a log and a columnar head, and from there as chunks into
// RocksDB. Names and series stay in the wide-column store next to it.
//
//   auto points = co_await EngineStore::open(parts, options);
//   ...
//   co_await points->close();
//
// Formats: docs/formats/log.md, engine-chunks.md, chunk.md. Reasons: docs/decisions/.
//
//   Threads   any call from any thread.
//   Lifetime  close() before it is destroyed; scans and selections end before it does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "storage/api/point_store.h"
#include "storage/api/slot_status.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/table_parameters.h"
#include "storage/files/files.h"
#include "storage/tsdb/core/options.h"

namespace halite::storage {

namespace engine {
struct EngineContext;
class EngineAppender;
class Maintenance;
}  // namespace engine

// The entry of the settings table that says with what layout the engine's data was made.
inline constexpr std::string_view kEngineParameters = "engine";

class EngineStore final : public PointStore {
 public:
  // References outlive the store.
  struct Dependencies {
    WideColumnStore& store;  // for names and series; durable
    std::shared_ptr<const CyclicLayout> layout;
    const Clock& clock;
    std::shared_ptr<FileSystem> files;
    prometheus::Registry& registry;
    // Told how much of the log is replayed, before it begins and after each segment. May be empty;
    // an error ends open() with it, and the next one begins where this did.
    std::function<Result<void>(const ReplayProgress&)> replayed = {};
  };

  // Blocks while the log is replayed: to be awaited where that does no harm.
  static Task<std::unique_ptr<EngineStore>> open(Dependencies dependencies, EngineOptions options);
  ~EngineStore() override;

  // Waits for what is under way. No call may follow.
  Task<void> close();

  // kUnavailable with the reason while points cannot be made durable.
  [[nodiscard]] Result<void> health() const;

  Task<std::vector<Result<SeriesId>>> intern(std::vector<SeriesName> names,
                                             CreateNames create) override;
  [[nodiscard]] std::vector<OverQuotaMetric> over_quota(std::size_t max) const override;
  [[nodiscard]] const Series& series(SeriesId id) const override;
  Task<Accepted> append(PointBatch batch) override;
  void request_sync() override;
  std::shared_ptr<const SeriesPin> pin_series() override;
  Task<std::shared_ptr<const Selection>> select(SeriesQuery query, ReadContext context) override;
  [[nodiscard]] std::uint32_t shard_count() const override;
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override;
  [[nodiscard]] std::unique_ptr<BlockScan> scan_totals(std::shared_ptr<const Selection> selection,
                                                       TimeRange range, std::uint32_t shard,
                                                       TotalsRequest totals_request) override;
  [[nodiscard]] std::vector<ShardSeriesCount> series_by_shard(
      const Selection& selection) const override;
  Task<std::vector<SeriesId>> lookup(std::shared_ptr<const Selection> selection,
                                     std::size_t limit) override;
  Task<std::vector<LastPoint>> last(std::shared_ptr<const Selection> selection,
                                    TimeRange range) override;
  Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override;
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                         std::size_t max) override;
  Task<void> flush() override;
  Task<void> seal() override;

  // From now on series without points are forgotten (docs/decisions/0012), and names without
  // series, but for what the rules say. For who writes nothing but points under the store's ids.
  void enable_series_gc(GcRules rules);

  // The names table, for those who manage names.
  [[nodiscard]] UidTable& uids();

  // What there is in files, by retention class: for people who look.
  [[nodiscard]] std::vector<RetentionStatus> retention_status() const;

  // The tables of chunks, as they are now.
  [[nodiscard]] std::vector<rocks::LiveFile> chunk_files() const;

  // A directory, which is not there, gets chunks and a log with all points that were appended
  // before the call; `names` is then called, to keep the names that they have where it wants.
  // Flushes, seals and removes nothing meanwhile.
  Task<void> checkpoint(std::string dir, std::function<Result<void>()> names);

  // Its series, for those who keep other things of them.
  [[nodiscard]] SeriesRegistry& registry();

 private:
  EngineStore(std::shared_ptr<engine::EngineContext> context, prometheus::Registry& registry);
  Task<void> wait_for_head_space();

  const std::shared_ptr<engine::EngineContext> context_;
  const std::unique_ptr<engine::EngineAppender> appender_;
  const std::unique_ptr<engine::Maintenance> maintenance_;
};

}  // namespace halite::storage
