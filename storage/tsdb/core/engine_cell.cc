#include "storage/tsdb/core/engine_cell.h"

#include <utility>
#include <vector>

namespace halite::storage::engine {
namespace {

constexpr Family kSettingsFamily = 0;

}  // namespace

Task<std::optional<Bytes>> read_engine_cell(std::shared_ptr<Table> settings, Bytes qualifier) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{Bytes(kEngineRow), kSettingsFamily, {std::move(qualifier)}});
  CO_TRY(std::vector<Row> rows, co_await settings->read(std::move(reads)));
  if (rows.empty() || rows[0].cells.empty()) co_return std::optional<Bytes>();
  co_return std::optional<Bytes>(std::move(rows[0].cells[0].value));
}

Task<void> write_engine_cell(std::shared_ptr<Table> settings, Bytes qualifier, Bytes value) {
  std::vector<RowWrite> rows(1);
  rows[0].row = kEngineRow;
  rows[0].puts.push_back(
      CellWrite{Column{kSettingsFamily, std::move(qualifier)}, std::move(value), 0});
  co_return co_await settings->write(std::move(rows));
}

}  // namespace halite::storage::engine
