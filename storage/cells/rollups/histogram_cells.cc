#include "storage/cells/rollups/histogram_cells.h"

#include <algorithm>
#include <map>
#include <utility>

#include <xxhash.h>

#include "common/metrics.h"
#include "storage/catalog/select_series.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/layouts/values/histogram_cell.h"

namespace halite::storage {
namespace {

constexpr Family kHistogramFamily = 0;
constexpr std::size_t kBlockHistograms = 256;

struct Found {
  TimestampMs time = 0;
  TimestampMs cell_time = 0;
  const CellRef* cell = nullptr;
};

std::uint64_t place_hash(const Bytes& row, TimestampMs time) {
  return XXH3_64bits_withSeed(row.data(), row.size(), static_cast<XXH64_hash_t>(time));
}

Result<void> decode(const WantedRow& row, std::vector<HistogramBlock>& blocks) {
  std::vector<Found> found;
  bool any = false;
  for (const CellRef& cell : row.cells) {
    if (!is_histogram(cell.qualifier)) continue;
    const auto histogram = read_histogram(cell.qualifier, cell.value);
    if (!histogram) {
      return fail(Errc::kCorruption, "row " + to_hex(row.key) + ": cell " + to_hex(cell.qualifier) +
                                         " is not a histogram");
    }
    any = true;
    const TimestampMs time = row.id.bucket * 1000 + histogram->offset_ms;
    if (time < row.times.begin || time >= row.times.end) continue;
    found.push_back({.time = time, .cell_time = cell.time, .cell = &cell});
  }
  if (!any) return {};
  std::ranges::sort(found, [](const Found& a, const Found& b) {
    return a.time != b.time ? a.time < b.time : a.cell_time < b.cell_time;
  });
  blocks.push_back({.series = row.series, .times = {}, .values = {}});
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i + 1 < found.size() && found[i + 1].time == found[i].time) continue;  // the newest wins
    if (blocks.back().times.size() == kBlockHistograms) {
      blocks.push_back({.series = row.series, .times = {}, .values = {}});
    }
    blocks.back().times.push_back(found[i].time);
    blocks.back().values.emplace_back(found[i].cell->value);
  }
  return {};
}

}  // namespace

Task<std::vector<HistogramBlock>> HistogramScan::next() {
  std::vector<HistogramBlock> blocks;
  while (blocks.empty()) {
    CO_TRY(const std::vector<WantedRow> rows, co_await rows_->next());
    if (rows.empty()) break;
    for (const WantedRow& row : rows) CO_TRY_VOID(decode(row, blocks));
  }
  co_return blocks;
}

Task<std::unique_ptr<HistogramCells>> HistogramCells::open(Dependencies dependencies,
                                                           HistogramConfig config) {
  CO_TRY(const std::shared_ptr<Table> settings,
         co_await dependencies.store.open_table(settings_table_spec(dependencies.settings_table)));
  CO_TRY_VOID(co_await write_or_compare_parameters(settings, dependencies.table,
                                                   dependencies.rows->parameters()));
  TableSpec spec{.name = dependencies.table,
                 .families = {FamilySpec{"t", dependencies.cell_ttl_ms}},
                 .split_keys = {}};
  CO_TRY(std::shared_ptr<Table> table, co_await dependencies.store.open_table(std::move(spec)));
  co_return std::unique_ptr<HistogramCells>(
      new HistogramCells(std::move(dependencies), config, std::move(table)));
}

HistogramCells::HistogramCells(Dependencies dependencies, HistogramConfig config,
                               std::shared_ptr<Table> table)
    : dependencies_(std::move(dependencies)),
      config_(config),
      source_{.table = std::move(table),
              .family = kHistogramFamily,
              .layout = *dependencies_.rows,
              .registry = dependencies_.series,
              .options = dependencies_.scan,
              .qualifier_begin = Bytes(1, kHistogramPrefix),
              .qualifier_end = Bytes(1, kHistogramPrefix + 1)},
      replaced_(dependencies_.clock),
      written_(add_counter(dependencies_.registry, "halite_storage_histograms_total",
                           "Histograms written.")) {}

Task<std::vector<Refusal>> HistogramCells::write(std::vector<HistogramWrite> histograms) {
  std::vector<Refusal> refused;
  std::map<Bytes, std::map<TimestampMs, CellWrite>> rows;  // the last of equal times
  std::vector<CellSlot> slots;
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    HistogramWrite& histogram = histograms[i];
    Result<void> admitted = dependencies_.rows->admit(histogram.time, dependencies_.clock.now_ms());
    if (!admitted) {
      refused.push_back({.index = i, .error = std::move(admitted).error()});
      continue;
    }
    Bytes key = dependencies_.rows->row_key(series(histogram.series).tsuid.bytes(), histogram.time);
    Bytes qualifier = histogram_qualifier(histogram.time, histogram.millis);
    slots.push_back({.slot_hash = place_hash(key, histogram.time),
                     .form = static_cast<std::uint8_t>(qualifier.size())});
    rows[std::move(key)][histogram.time] = {.column = {kHistogramFamily, std::move(qualifier)},
                                            .value = std::move(histogram.value)};
  }
  // The write-ahead log does not contain these cells.
  CO_TRY_VOID(co_await dependencies_.series.flush_rows());
  CO_TRY_VOID(co_await replaced_.wait_for_distinct_time(slots));
  std::vector<RowWrite> writes;
  for (auto& [key, cells] : rows) {
    RowWrite& row = writes.emplace_back();
    row.row = key;
    for (auto& [time, cell] : cells) row.puts.push_back(std::move(cell));
  }
  CO_TRY_VOID(co_await source_.table->write(std::move(writes)));
  replaced_.completed(slots);
  written_.Increment(static_cast<double>(histograms.size() - refused.size()));
  co_return refused;
}

std::unique_ptr<HistogramScan> HistogramCells::scan(std::shared_ptr<const Selection> selection,
                                                    TimeRange range, std::uint32_t shard) const {
  auto rows = std::make_unique<RowScan>(source_, as_rows(selection), range, shard);
  return std::make_unique<HistogramScan>(std::move(rows));
}

}  // namespace halite::storage
