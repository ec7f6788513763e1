// Shared by the openers: the choice of a row layout, and points as cells over a wide-column store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/stores/backend.h"
#include "storage/cells/layouts/row_layout.h"
#include "storage/cells/layouts/table_parameters.h"

namespace halite::app {

// A row layout, and the parameters that identify its tables.
struct ChosenLayout {
  std::shared_ptr<const storage::RowLayout> layout;
  storage::TableParameters parameters;
};

// OpenTSDB's row layout from the settings, with a salt of `salt_width` bytes.
[[nodiscard]] storage::OpentsdbOptions opentsdb_rows(const Options& options,
                                                     std::uint32_t salt_width);

// The layout of the point table according to the settings.
[[nodiscard]] Result<ChosenLayout> choose_layout(const OpenContext& context,
                                                 storage::WideColumnStore& wide);
// The cyclic layout. Parameters stored under `parameters_of` override the settings.
[[nodiscard]] Result<ChosenLayout> cyclic_layout(const OpenContext& context,
                                                 std::string parameters_of,
                                                 storage::WideColumnStore& wide);

// kInvalidArgument if `wide` has parameters of another kind of store: this kind could not see its
// points.
[[nodiscard]] Result<void> refuse_points_of(StoreKind other, std::string parameters_of,
                                            const OpenContext& context,
                                            storage::WideColumnStore& wide);

// Opens the data directory's RocksDB as `wide` and `rocks`.
[[nodiscard]] Result<void> open_rocks_tables(const OpenContext& context, Backend& to);
// Opens the points in to.wide.
[[nodiscard]] Result<void> open_cells(const OpenContext& context, const ChosenLayout& chosen,
                                      storage::CellPointStoreOptions cells, Backend& to);

}  // namespace halite::app
