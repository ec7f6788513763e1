#include "app/stores/cells.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/server/wait_for.h"
#include "common/log.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/cell_point_store.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/cyclic_options.h"

namespace halite::app {

using storage::CellPointStore;
using storage::CyclicLayout;
using storage::OpentsdbLayout;

namespace {

// The parameters stored under a name, if any.
Result<std::optional<storage::TableParameters>> stored_parameters(const OpenContext& context,
                                                                  std::string of,
                                                                  storage::WideColumnStore& wide) {
  auto spec = storage::settings_table_spec(context.cells.settings_table);
  TRY(const std::shared_ptr<storage::Table> settings,
      wait_for(context.executor, wide.open_table(std::move(spec))));
  return wait_for(context.executor, storage::read_parameters(settings, std::move(of)));
}

}  // namespace

storage::OpentsdbOptions opentsdb_rows(const Options& options, std::uint32_t salt_width) {
  return {.widths = options.layout.widths,
          .salt_width = static_cast<std::uint8_t>(salt_width),
          .salt_buckets = options.layout.salt_buckets};
}

Result<ChosenLayout> cyclic_layout(const OpenContext& context, std::string parameters_of,
                                   storage::WideColumnStore& wide) {
  TRY(const std::optional<storage::TableParameters> stored,
      stored_parameters(context, std::move(parameters_of), wide));
  storage::CyclicOptions adopted = context.options.layout;
  if (stored && stored->layout == storage::kCyclicLayout) {
    TRY(adopted, CyclicLayout::options_for(context.options.layout, *stored));
  }
  if (const auto note = storage::idle_slots_note(adopted)) log::warn("{}", *note);
  TRY(const std::shared_ptr<const CyclicLayout> layout, CyclicLayout::make(adopted));
  return ChosenLayout{layout, layout->parameters()};
}

Result<ChosenLayout> choose_layout(const OpenContext& context, storage::WideColumnStore& wide) {
  const Options& options = context.options;
  if (options.row_layout != RowLayoutKind::kOpentsdb) {
    return cyclic_layout(context, context.cells.data_table, wide);
  }
  TRY(const std::shared_ptr<const OpentsdbLayout> layout,
      OpentsdbLayout::make(opentsdb_rows(options, options.salt_width)));
  return ChosenLayout{layout, layout->parameters()};
}

Result<void> refuse_points_of(StoreKind other, std::string parameters_of,
                              const OpenContext& context, storage::WideColumnStore& wide) {
  TRY(const std::optional<storage::TableParameters> made,
      stored_parameters(context, std::move(parameters_of), wide));
  if (!made) return {};
  const Options& options = context.options;
  return fail(Errc::kInvalidArgument,
              fmt::format("data directory {} was created with --store {}; --store {} cannot "
                          "read its points. Start the server with the original store",
                          options.data_dir, store_name(other), store_name(options.store)));
}

Result<void> open_rocks_tables(const OpenContext& context, Backend& to) {
  const Options& options = context.options;
  storage::RocksOptions rocks = options.rocks;
  rocks.dir = (std::filesystem::path(options.data_dir) / "rocksdb").string();
  rocks.files = options.environment.files;
  TRY(auto store, storage::RocksStore::open(rocks, context.clock, context.registry));
  to.rocks = store.get();
  to.wide = std::move(store);
  return {};
}

Result<void> open_cells(const OpenContext& context, const ChosenLayout& chosen,
                        storage::CellPointStoreOptions cells, Backend& to) {
  const CellPointStore::Dependencies dependencies = {.store = *to.wide,
                                                     .layout = chosen.layout,
                                                     .parameters = chosen.parameters,
                                                     .clock = context.clock,
                                                     .executor = context.executor,
                                                     .registry = context.registry};
  TRY(auto store, wait_for(context.executor, CellPointStore::open(dependencies, std::move(cells))));
  to.points = std::make_unique<PointStoreHandleOf<CellPointStore>>(std::move(store));
  to.point_rows = std::dynamic_pointer_cast<const OpentsdbLayout>(chosen.layout);
  to.widths = chosen.layout->widths();
  return {};
}

}  // namespace halite::app
