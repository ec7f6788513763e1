#include "storage/cells/cell_point_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "common/gather.h"
#include "storage/api/sharding.h"
#include "storage/catalog/select_series.h"
#include "storage/catalog/series_names.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/cell_block_scan.h"
#include "storage/cells/delete_points.h"
#include "storage/cells/estimate_reading.h"
#include "storage/cells/last_points.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {
namespace {

constexpr Family kDataFamily = 0;
constexpr std::size_t kShardsAtOnce = 16;

// Maps a series to the shard given by its salt.
class SaltSharding final : public Sharding {
 public:
  explicit SaltSharding(std::shared_ptr<const RowLayout> layout) : layout_(std::move(layout)) {}

  [[nodiscard]] std::uint32_t shard_count() const override { return layout_->salt_buckets(); }
  [[nodiscard]] std::uint32_t shard_of(std::uint64_t, std::string_view,
                                       BytesView tsuid) const override {
    return layout_->salt_of(tsuid);
  }

 private:
  const std::shared_ptr<const RowLayout> layout_;
};

// Combines several scans of one shard, each of different series. Requests the next blocks of all
// scans in parallel and returns them together.
class ParallelScan final : public BlockScan {
 public:
  explicit ParallelScan(std::vector<std::unique_ptr<BlockScan>> scans) : scans_(std::move(scans)) {}

  Task<std::vector<Block>> next() override {
    std::vector<Block> blocks;
    while (blocks.empty() && !scans_.empty()) {
      std::vector<Task<std::vector<Block>>> asked;
      for (const auto& scan : scans_) asked.push_back(scan->next());
      auto answers = co_await gather(std::move(asked), scans_.size());
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (!answers[i]) co_return std::unexpected(answers[i].error());
        if (answers[i]->empty()) scans_[i].reset();
        std::ranges::move(*answers[i], std::back_inserter(blocks));
      }
      std::erase(scans_, nullptr);
    }
    co_return blocks;
  }

 private:
  std::vector<std::unique_ptr<BlockScan>> scans_;  // those that are not finished
};

}  // namespace

TableSpec data_table_spec(const CellPointStoreOptions& options) {
  TableSpec spec;
  spec.name = options.data_table;
  spec.families = {FamilySpec{"t", options.cell_ttl_ms}};
  spec.split_keys = options.split_keys;
  spec.fixed_regions = options.fixed_regions;
  return spec;
}

Task<std::unique_ptr<CellPointStore>> CellPointStore::open(Dependencies dependencies,
                                                           CellPointStoreOptions options) {
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await dependencies.store.open_table(settings_table_spec(options.settings_table)));
  Tables tables;
  if (options.scan.shared_tables) {
    // Before the parameters, because their absence shows that no earlier version used the store.
    CO_TRY(tables.form, co_await choose_name_form(settings, options.uid_table));
  }
  CO_TRY_VOID(
      co_await write_or_compare_parameters(settings, options.data_table, dependencies.parameters));
  CO_TRY(tables.data, co_await dependencies.store.open_table(data_table_spec(options)));
  CO_TRY(tables.names, co_await dependencies.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(tables.series,
         co_await dependencies.store.open_table(series_table_spec(options.series_table)));
  co_return std::unique_ptr<CellPointStore>(
      new CellPointStore(std::move(dependencies), std::move(options), std::move(tables)));
}

CellPointStore::CellPointStore(Dependencies dependencies, CellPointStoreOptions options,
                               Tables tables)
    : layout_(dependencies.layout),
      clock_(dependencies.clock),
      options_(std::move(options)),
      notes_among_points_(dependencies.parameters.layout == kOpentsdbLayout),
      registry_(
          tables.names, tables.series, layout_->widths(),
          SeriesLimits{options_.series_max, options_.series_bytes_max},
          std::make_unique<NewSeriesQuota>(options_.new_series, clock_, dependencies.registry),
          std::make_shared<SaltSharding>(layout_), tables.form),
      source_{tables.data, kDataFamily, *layout_, registry_, options_.scan},
      appender_(std::make_shared<CellAppender>(
          CellAppender::Dependencies{tables.data, kDataFamily, layout_, registry_.table(), clock_,
                                     dependencies.executor, dependencies.registry,
                                     options_.columns},
          options_.append)) {}

CellPointStore::~CellPointStore() = default;

Task<void> CellPointStore::close() { return appender_->drain(); }

Task<InternedSeries> CellPointStore::intern(std::vector<SeriesName> names, CreateNames create) {
  return registry_.intern(std::move(names), create);
}

std::vector<OverQuotaMetric> CellPointStore::over_quota(std::size_t max) const {
  return registry_.quota().over_quota(max);
}

const Series& CellPointStore::series(SeriesId id) const { return registry_.table().at(id); }

Task<Accepted> CellPointStore::append(PointBatch batch) {
  return appender_->append(std::move(batch));
}

Task<std::shared_ptr<const Selection>> CellPointStore::select(SeriesQuery query,
                                                              ReadContext context) {
  return select_series(registry_, *layout_, std::move(query), std::move(context), clock_.now_ms(),
                       options_.scan.shared_tables);
}

std::uint32_t CellPointStore::shard_count() const { return layout_->salt_buckets(); }

std::unique_ptr<BlockScan> CellPointStore::scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) {
  const std::shared_ptr<const RowSelection> wanted = as_rows(selection);
  const bool notes = wanted->wants_annotations() && notes_among_points_;
  std::vector<std::unique_ptr<BlockScan>> scans;
  for (SeriesRange& span : scan_splits(source_, *wanted, range, shard)) {
    SeriesChoice choice;
    choice.span = std::move(span);
    auto rows = std::make_unique<RowScan>(source_, wanted, range, shard, choice);
    scans.push_back(std::make_unique<CellBlockScan>(*layout_, std::move(rows), notes));
  }
  if (scans.size() == 1) return std::move(scans.front());
  return std::make_unique<ParallelScan>(std::move(scans));
}

Task<PinnedSeries> CellPointStore::lookup(std::shared_ptr<const Selection> selection,
                                          std::size_t limit) {
  return list_series(registry_, as_rows(selection), limit, options_.scan.shared_tables);
}

Task<PinnedLastPoints> CellPointStore::last(std::shared_ptr<const Selection> selection,
                                            TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  std::vector<Task<std::vector<LastPoint>>> tasks;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    tasks.push_back(find_last_points(source_, rows, range, shard));
  }
  CO_TRY(std::vector<LastPoint> points, co_await join_last_points(std::move(tasks)));
  co_return PinnedLastPoints(rows->pin(), std::move(points));
}

Task<ReadEstimate> CellPointStore::estimate(std::shared_ptr<const Selection> selection,
                                            TimeRange range) {
  return estimate_reading(source_, as_rows(selection), range);
}

Task<std::uint64_t> CellPointStore::delete_range(std::shared_ptr<const Selection> selection,
                                                 TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = as_rows(selection);
  // Deletes also points accepted before this call. Their errors belong to their callers.
  const Result<void> drained = co_await appender_->drain();
  static_cast<void>(drained);
  std::vector<Task<std::uint64_t>> tasks;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    tasks.push_back(delete_points(source_, rows, range, shard));
  }
  const auto counts = co_await gather(std::move(tasks), kShardsAtOnce);
  std::uint64_t deleted = 0;
  for (const auto& count : counts) {
    if (!count) co_return std::unexpected(count.error());
    deleted += *count;
  }
  co_return deleted;
}

Task<std::vector<std::string>> CellPointStore::suggest(NameKind kind, std::string prefix,
                                                       std::size_t max) {
  return registry_.uids().suggest(kind, std::move(prefix), max);
}

Task<void> CellPointStore::series_names(SeriesNamesQuery query, ReadContext context, NameUse use) {
  // Series that OpenTSDB has made have no rows of their own.
  if (options_.scan.shared_tables) {
    return PointStore::series_names(std::move(query), std::move(context), std::move(use));
  }
  return list_series_names(&registry_, layout_->widths(), std::move(query), std::move(context),
                           std::move(use));
}

Task<void> CellPointStore::settle() { return appender_->drain(); }

Task<void> CellPointStore::flush() { return appender_->drain(); }

// Cells are in their final form when they are written.
Task<void> CellPointStore::seal() { return flush(); }

UidTable& CellPointStore::uids() { return registry_.uids(); }

}  // namespace halite::storage
