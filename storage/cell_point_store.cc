#include "storage/cell_point_store.h"

#include <algorithm>
#include <utility>

#include "common/check.h"
#include "common/gather.h"
#include "storage/cell_block_scan.h"
#include "storage/delete_points.h"
#include "storage/last_points.h"
#include "storage/table_settings.h"

namespace halite::storage {
namespace {

constexpr Family kDataFamily = 0;
constexpr std::size_t kShardsAtOnce = 16;

TableSpec data_table_spec(const CellPointStoreOptions& options) {
  TableSpec spec;
  spec.name = options.data_table;
  spec.families = {FamilySpec{"t", options.cell_ttl_ms}};
  return spec;
}

std::shared_ptr<const RowSelection> ours(const std::shared_ptr<const Selection>& selection) {
  auto rows = std::dynamic_pointer_cast<const RowSelection>(selection);
  HALITE_CHECK(rows != nullptr, "a selection of another store");
  return rows;
}

}  // namespace

Task<std::unique_ptr<CellPointStore>> CellPointStore::open(Parts parts,
                                                           CellPointStoreOptions options) {
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await parts.store.open_table(settings_table_spec(options.settings_table)));
  CO_TRY_VOID(co_await settle_parameters(settings, options.data_table, parts.parameters));
  Tables tables;
  CO_TRY(tables.data, co_await parts.store.open_table(data_table_spec(options)));
  CO_TRY(tables.names, co_await parts.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(tables.series, co_await parts.store.open_table(series_table_spec(options.series_table)));
  co_return std::unique_ptr<CellPointStore>(
      new CellPointStore(std::move(parts), std::move(options), std::move(tables)));
}

CellPointStore::CellPointStore(Parts parts, CellPointStoreOptions options, Tables tables)
    : layout_(parts.layout),
      clock_(parts.clock),
      options_(std::move(options)),
      registry_(tables.names, tables.series, *layout_,
                SeriesLimits{options_.series_max, options_.series_bytes_max}),
      source_{tables.data, kDataFamily, *layout_, registry_, options_.scan},
      appender_(std::make_shared<PointAppender>(
          PointAppender::Parts{tables.data, kDataFamily, layout_, registry_.table(), clock_,
                               parts.executor, parts.registry},
          options_.append)) {}

CellPointStore::~CellPointStore() = default;

Task<void> CellPointStore::close() { return appender_->drain(); }

Task<std::vector<Result<SeriesId>>> CellPointStore::intern(std::vector<SeriesName> names,
                                                           CreateNames create) {
  return registry_.intern(std::move(names), create);
}

const Series& CellPointStore::series(SeriesId id) const { return registry_.table().at(id); }

Task<Accepted> CellPointStore::append(PointBatch batch) {
  return appender_->append(std::move(batch));
}

Task<std::shared_ptr<const Selection>> CellPointStore::select(SeriesQuery query) {
  CO_TRY(std::shared_ptr<const RowSelection> selection,
         co_await RowSelection::resolve(registry_, *layout_, std::move(query), clock_.now_ms()));
  // Afterwards the registry knows all there is, unless others write, too: then scans look.
  if (selection->by_tsuid()) {
    SeriesRegistry::Loader loader{selection->watch(), {}};
    CO_TRY_VOID(co_await registry_.load_series(selection->tsuids(), std::move(loader)));
  } else if (!options_.scan.shared_tables) {
    auto count = [selection] { return selection->count(); };
    SeriesRegistry::Loader loader{selection->watch(), std::move(count)};
    CO_TRY_VOID(co_await registry_.load_metric(selection->metric_uid(), false, std::move(loader)));
    CO_TRY_VOID(selection->count());
  }
  co_return std::shared_ptr<const Selection>(std::move(selection));
}

std::uint32_t CellPointStore::shard_count() const { return layout_->salt_buckets(); }

std::unique_ptr<BlockScan> CellPointStore::scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) {
  auto rows = std::make_unique<RowScan>(source_, ours(selection), range, shard);
  return std::make_unique<CellBlockScan>(*layout_, std::move(rows));
}

Task<std::vector<SeriesId>> CellPointStore::lookup(std::shared_ptr<const Selection> selection,
                                                   std::size_t limit) {
  const std::shared_ptr<const RowSelection> rows = ours(selection);
  auto count = [rows] { return rows->count(); };
  SeriesRegistry::Loader loader{rows->watch(), std::move(count)};
  CO_TRY_VOID(co_await registry_.load_metric(rows->metric_uid(), options_.scan.shared_tables,
                                             std::move(loader)));
  CO_TRY_VOID(rows->count());
  const RowSelection::Known known = rows->known();
  std::vector<SeriesId> ids = known->by_shard();
  const SeriesTable& table = registry_.table();
  const auto tsuid = [&table](SeriesId id) -> const Bytes& { return table.at(id).tsuid; };
  if (limit == 0 || limit > ids.size()) limit = ids.size();
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(limit);
  std::ranges::partial_sort(ids, middle, {}, tsuid);
  ids.erase(middle, ids.end());
  co_return ids;
}

Task<std::vector<LastPoint>> CellPointStore::last(std::shared_ptr<const Selection> selection,
                                                  TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = ours(selection);
  std::vector<Task<std::vector<LastPoint>>> tasks;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    tasks.push_back(find_last_points(source_, rows, range, shard));
  }
  auto parts = co_await gather(std::move(tasks), kShardsAtOnce);
  std::vector<LastPoint> points;
  for (auto& part : parts) {
    if (!part) co_return std::unexpected(part.error());
    points.insert(points.end(), part->begin(), part->end());
  }
  std::ranges::sort(points, {}, &LastPoint::series);
  co_return points;
}

Task<std::uint64_t> CellPointStore::delete_range(std::shared_ptr<const Selection> selection,
                                                 TimeRange range) {
  const std::shared_ptr<const RowSelection> rows = ours(selection);
  // Points taken before this call are among those to go. Their own errors are their owners'.
  const Result<void> drained = co_await appender_->drain();
  static_cast<void>(drained);
  std::vector<Task<std::uint64_t>> tasks;
  for (std::uint32_t shard = 0; shard < shard_count(); ++shard) {
    tasks.push_back(delete_points(source_, rows, range, shard));
  }
  const auto parts = co_await gather(std::move(tasks), kShardsAtOnce);
  std::uint64_t deleted = 0;
  for (const auto& part : parts) {
    if (!part) co_return std::unexpected(part.error());
    deleted += *part;
  }
  co_return deleted;
}

Task<std::vector<std::string>> CellPointStore::suggest(NameKind kind, std::string prefix,
                                                       std::size_t max) {
  return registry_.uids().suggest(kind, std::move(prefix), max);
}

Task<void> CellPointStore::flush() { return appender_->drain(); }

// Cells are in their final form from the start.
Task<void> CellPointStore::seal() { return flush(); }

UidTable& CellPointStore::uids() { return registry_.uids(); }

}  // namespace halite::storage
