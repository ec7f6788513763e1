#include "storage/catalog/series_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace halite::storage {
namespace {

constexpr Family kSeriesFamily = 0;
constexpr std::size_t kStoreRows = 16 * 1024;  // series written at a time

}  // namespace

TableSpec series_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"s", 0}};
  return spec;
}

Task<void> write_series_rows(Table& table, std::vector<Bytes> tsuids) {
  for (std::size_t begin = 0; begin < tsuids.size(); begin += kStoreRows) {
    std::vector<RowWrite> rows;
    for (std::size_t i = begin; i < std::min(begin + kStoreRows, tsuids.size()); ++i) {
      RowWrite& row = rows.emplace_back();
      row.row = std::move(tsuids[i]);
      row.puts.push_back(CellWrite{Column{kSeriesFamily, {}}, {}, 0});
    }
    CO_TRY_VOID(co_await table.write(std::move(rows)));
  }
  co_return Result<void>();
}

Task<void> delete_series_rows(Table& table, std::vector<Bytes> tsuids) {
  std::vector<RowWrite> rows;
  rows.reserve(tsuids.size());
  for (Bytes& tsuid : tsuids) {
    RowWrite& row = rows.emplace_back();
    row.row = std::move(tsuid);
    row.deletes.push_back(Column{kSeriesFamily, {}});
  }
  co_return co_await table.write(std::move(rows));
}

Task<std::vector<bool>> have_series_rows(Table& table, std::vector<Bytes> tsuids) {
  std::vector<RowRead> reads;
  reads.reserve(tsuids.size());
  for (Bytes& tsuid : tsuids) reads.push_back(RowRead{std::move(tsuid), kSeriesFamily, {}});
  CO_TRY(const std::vector<Row> rows, co_await table.read(std::move(reads)));
  std::vector<bool> known;
  known.reserve(rows.size());
  for (const Row& row : rows) known.push_back(!row.cells.empty());
  co_return known;
}

std::unique_ptr<Scanner> scan_series_rows(Table& table, BytesView prefix,
                                          const ReadContext& context) {
  ScanSpec spec;
  spec.family = kSeriesFamily;
  if (!prefix.empty()) spec.ranges.push_back(KeyRange{Bytes(prefix), prefix_end(prefix)});
  spec.keys_only = true;
  return table.scan(std::move(spec), context);
}

}  // namespace halite::storage
