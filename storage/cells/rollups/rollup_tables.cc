#include "storage/cells/rollups/rollup_tables.h"

#include <algorithm>
#include <set>
#include <utility>

#include <xxhash.h>

#include "common/metrics.h"
#include "storage/catalog/select_series.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/cell_block_scan.h"
#include "storage/cells/layouts/rollup_layout.h"
#include "storage/cells/rollups/rollup_block_scan.h"

namespace halite::storage {
namespace {

constexpr Family kRollupFamily = 0;

std::string own_table_of(const std::string& data_table) { return data_table + "-rollup"; }

// Blocks of ordinary points in OpenTSDB's rows.
class PreAggregates final : public BlockSource {
 public:
  PreAggregates(RowSource rows, const SeriesTable& series)
      : rows_(std::move(rows)), series_(series) {}

  [[nodiscard]] const Series& series(SeriesId id) const override { return series_.at(id); }
  [[nodiscard]] std::uint32_t shard_count() const override { return rows_.layout.salt_buckets(); }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    auto rows = std::make_unique<RowScan>(rows_, as_rows(selection), range, shard);
    return std::make_unique<CellBlockScan>(rows_.layout, std::move(rows));
  }

 private:
  const RowSource rows_;
  const SeriesTable& series_;
};

class Rollups final : public BlockSource {
 public:
  Rollups(std::unique_ptr<RollupLayout> values, std::unique_ptr<RollupLayout> counts,
          RowSource rows, const SeriesTable& series)
      : values_(std::move(values)),
        counts_(std::move(counts)),
        rows_(std::move(rows)),
        series_(series) {}

  [[nodiscard]] const Series& series(SeriesId id) const override { return series_.at(id); }
  [[nodiscard]] std::uint32_t shard_count() const override { return values_->salt_buckets(); }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    auto rows = std::make_unique<RowScan>(rows_, as_rows(selection), range, shard);
    return std::make_unique<RollupBlockScan>(*values_, counts_.get(), std::move(rows));
  }

 private:
  const std::unique_ptr<RollupLayout> values_;
  const std::unique_ptr<RollupLayout> counts_;  // for averages, else null
  const RowSource rows_;
  const SeriesTable& series_;
};

}  // namespace

// Cells to write, by row in each table; of two in one place the later wins.
struct RollupTables::Cells {
  struct Rows {
    std::vector<RowWrite> writes;
    std::map<Bytes, std::size_t> by_key;  // index in writes
  };
  std::map<std::string, Rows> tables;
  struct PutPosition {
    Rows* rows = nullptr;
    std::size_t write = 0;
    std::size_t put = 0;
    std::size_t slot = 0;
  };
  std::map<Bytes, PutPosition> positions;
  std::vector<CellSlot> slots;

  void add(const std::string& table, Bytes row, PointCell cell) {
    Rows& rows = tables[table];
    // The lower half of the last byte is the form of the value; aggregator and time precede it.
    Bytes cell_key = table + '\0' + row + cell.qualifier;
    const auto form = static_cast<std::uint8_t>(cell_key.back() & 0xF);
    cell_key.back() = static_cast<char>(cell_key.back() & 0xF0);
    CellWrite write{.column = {kRollupFamily, std::move(cell.qualifier)},
                    .value = std::move(cell.value)};
    if (const auto known = positions.find(cell_key); known != positions.end()) {
      const PutPosition& at = known->second;
      at.rows->writes[at.write].puts[at.put] = std::move(write);
      slots[at.slot].form = form;
      return;
    }
    const auto [key, added] = rows.by_key.try_emplace(row, rows.writes.size());
    if (added) rows.writes.push_back(RowWrite{.row = std::move(row), .puts = {}, .deletes = {}});
    std::vector<CellWrite>& puts = rows.writes[key->second].puts;
    slots.push_back({.slot_hash = XXH3_64bits(cell_key.data(), cell_key.size()), .form = form});
    positions[std::move(cell_key)] = {
        .rows = &rows, .write = key->second, .put = puts.size(), .slot = slots.size() - 1};
    puts.push_back(std::move(write));
  }
};

Task<std::unique_ptr<RollupTables>> RollupTables::open(Dependencies dependencies,
                                                       RollupConfig config) {
  std::set<std::string> names;
  for (const RollupTableConfig& table : config.tables) {
    names.insert(table.table == dependencies.data_table ? own_table_of(dependencies.data_table)
                                                        : table.table);
    names.insert(table.pre_aggregate);
  }
  if (names.contains(dependencies.data_table)) {
    co_return fail(Errc::kInvalidArgument,
                   "the table " + dependencies.data_table +
                       " holds the points: use another table for pre-aggregates");
  }
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await dependencies.store.open_table(settings_table_spec(dependencies.settings_table)));
  std::map<std::string, std::shared_ptr<Table>> tables;
  for (const std::string& name : names) {
    CO_TRY_VOID(
        co_await write_or_compare_parameters(settings, name, dependencies.rows->parameters()));
    TableSpec spec{.name = name, .families = {FamilySpec{"t", 0}}, .split_keys = {}};
    CO_TRY(tables[name], co_await dependencies.store.open_table(std::move(spec)));
  }
  co_return std::unique_ptr<RollupTables>(
      new RollupTables(std::move(dependencies), std::move(config), std::move(tables)));
}

RollupTables::RollupTables(Dependencies dependencies, RollupConfig config,
                           std::map<std::string, std::shared_ptr<Table>> tables)
    : dependencies_(std::move(dependencies)),
      config_(std::move(config)),
      own_table_(own_table_of(dependencies_.data_table)),
      tables_(std::move(tables)),
      replaced_(dependencies_.clock),
      points_(add_counter(dependencies_.registry, "halite_storage_rollup_points_total",
                          "Rollup points and pre-aggregated points written.")) {}

RollupTables::~RollupTables() = default;

const std::string& RollupTables::name_of(const RollupTableConfig* table,
                                         bool pre_aggregated) const {
  if (table == nullptr) return config_.default_table().pre_aggregate;
  if (pre_aggregated) return table->pre_aggregate;
  return table->table == dependencies_.data_table ? own_table_ : table->table;
}

RowSource RollupTables::row_source(const std::string& name, const RowLayout& layout) const {
  return RowSource{.table = tables_.at(name),
                   .family = kRollupFamily,
                   .layout = layout,
                   .registry = dependencies_.series,
                   .options = dependencies_.scan};
}

Result<void> RollupTables::add_cell(const RollupWrite& point, Cells& cells) const {
  const Bytes tsuid = dependencies_.series.table().at(point.series).tsuid;
  const std::string& name = name_of(point.table, point.pre_aggregated);
  if (point.table == nullptr) {
    const TimestampMs time = point.time_s * 1000;
    TRY_VOID(dependencies_.rows->admit(time, dependencies_.clock.now_ms()));
    cells.add(name, dependencies_.rows->row_key(tsuid, time),
              dependencies_.rows->point_cell(time, point.value, point.flags));
    return {};
  }
  TRY(RollupCell made, rollup_cell(*dependencies_.rows, point.table->cells, point.aggregator, tsuid,
                                   point.time_s, point.value, point.flags));
  cells.add(name, std::move(made.row), std::move(made.cell));
  return {};
}

Task<std::vector<Refusal>> RollupTables::write(std::vector<RollupWrite> points) {
  std::vector<Refusal> refused;
  Cells cells;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Result<void> added = add_cell(points[i], cells);
    if (!added) refused.push_back({.index = i, .error = std::move(added).error()});
  }
  // The write-ahead log does not contain these cells.
  CO_TRY_VOID(co_await dependencies_.series.flush_rows());
  CO_TRY_VOID(co_await replaced_.wait_for_distinct_time(cells.slots));
  for (auto& [name, rows] : cells.tables) {
    const std::shared_ptr<Table> table = tables_.at(name);
    CO_TRY_VOID(co_await table->write(std::move(rows.writes)));
  }
  replaced_.completed(cells.slots);
  points_.Increment(static_cast<double>(points.size() - refused.size()));
  co_return refused;
}

Result<std::unique_ptr<BlockSource>> RollupTables::source(const RollupTableConfig& table,
                                                          bool pre_aggregated,
                                                          std::string_view aggregator) const {
  const auto layout = [&](std::string name) -> Result<std::unique_ptr<RollupLayout>> {
    TRY(const std::uint8_t id, config_.id_of(name));
    return std::make_unique<RollupLayout>(dependencies_.rows, table.cells,
                                          RollupAggregator{id, std::move(name)});
  };
  const bool average = aggregator == "avg";
  TRY(auto values, layout(average ? "sum" : std::string(aggregator)));
  std::unique_ptr<RollupLayout> counts;
  if (average) {
    TRY(counts, layout("count"));
  }
  RowSource rows = row_source(name_of(&table, pre_aggregated), *values);
  return std::make_unique<Rollups>(std::move(values), std::move(counts), std::move(rows),
                                   dependencies_.series.table());
}

std::unique_ptr<BlockSource> RollupTables::pre_aggregates() const {
  return std::make_unique<PreAggregates>(row_source(name_of(nullptr, true), *dependencies_.rows),
                                         dependencies_.series.table());
}

}  // namespace halite::storage
