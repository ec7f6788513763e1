// The embedded engine. Points go into a write-ahead log and a head in memory, and from there as
// chunks into RocksDB. Names and series are in the wide-column store next to it.
//
//   auto points = co_await EngineStore::open(dependencies, options);
//   ...
//   co_await points->close();
//
// Formats: docs/formats/log.md, engine-chunks.md, chunk.md. Reasons: docs/decisions/.
//
//   Threads   call from any thread.
//   Lifetime  call close() before the destructor; scans and selections must end before it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/memory_budget.h"
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

// The entry of the settings table with the layout of the engine's data.
inline constexpr std::string_view kEngineParameters = "engine";

class EngineStore final : public PointStore {
 public:
  // All references must outlive the store.
  struct Dependencies {
    WideColumnStore& store;  // durable store for names and series
    std::shared_ptr<const CyclicLayout> layout;
    const Clock& clock;
    std::shared_ptr<FileSystem> files;
    prometheus::Registry& registry;
    // Reports replay progress before the first segment and after each; may be empty. An error ends
    // open() with it; the next open() replays the same records.
    std::function<Result<void>(const ReplayProgress&)> replayed = {};
  };

  // Blocks while the log is replayed. Await it where blocking is acceptable.
  static Task<std::unique_ptr<EngineStore>> open(Dependencies dependencies, EngineOptions options);
  ~EngineStore() override;

  // Waits for running work. Do not call anything afterwards.
  Task<void> close();

  // kUnavailable with the reason while points cannot be made durable.
  [[nodiscard]] Result<void> health() const;

  Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) override;
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
  Task<PinnedSeries> lookup(std::shared_ptr<const Selection> selection, std::size_t limit) override;
  Task<PinnedLastPoints> last(std::shared_ptr<const Selection> selection, TimeRange range) override;
  [[nodiscard]] bool has_local_points() const override { return true; }
  [[nodiscard]] PointChanges* changes() override;
  [[nodiscard]] TimestampMs kept_from(std::string_view metric) const override;
  Task<ReadEstimate> estimate(std::shared_ptr<const Selection> selection, TimeRange range) override;
  Task<std::uint64_t> delete_range(std::shared_ptr<const Selection> selection,
                                   TimeRange range) override;
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix,
                                         std::size_t max) override;
  Task<void> series_names(SeriesNamesQuery query, ReadContext context, NameUse use) override;
  Task<void> settle() override;
  Task<void> flush() override;
  Task<void> seal() override;

  // Enables garbage collection of series without points (docs/decisions/0012) and of names without
  // series, except those that the rules protect. Enable it only if nothing but points is stored
  // under the store's ids.
  void enable_series_gc(GcRules rules);

  // The name table, for managing names.
  [[nodiscard]] UidTable& uids();

  // The stored data by retention class, for display.
  [[nodiscard]] std::vector<RetentionStatus> retention_status() const;

  // The current table files of chunks.
  [[nodiscard]] std::vector<rocks::LiveFile> chunk_files() const;

  // Creates the directory `dir`, with chunks and a log that contain all points appended before the
  // call. Then calls `names` to copy the names. Nothing is flushed, sealed or removed meanwhile.
  Task<void> checkpoint(std::string dir, std::function<Result<void>()> names);

  // Heads and blocks of chunk files. They are used until close().
  [[nodiscard]] std::vector<MemoryUser> memory_users();

  // The series, for components that store other data of them.
  [[nodiscard]] SeriesRegistry& registry();

 private:
  EngineStore(std::shared_ptr<engine::EngineContext> context, prometheus::Registry& registry);
  Task<void> wait_for_head_space();

  const std::shared_ptr<engine::EngineContext> context_;
  const std::unique_ptr<engine::EngineAppender> appender_;
  const std::unique_ptr<engine::Maintenance> maintenance_;
};

}  // namespace halite::storage
