// Points in memory: they are lost when the process ends.
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "app/stores/backend.h"
#include "app/stores/cells.h"
#include "storage/backends/memory/memory_store.h"

namespace halite::app {
namespace {

// The store would neither show the directory's points nor keep new ones.
Result<void> refuse_stored_points(const std::string& data_dir) {
  for (const std::string_view kept : {"engine", "rocksdb"}) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(data_dir) / kept, error)) continue;
    return fail(Errc::kInvalidArgument,
                fmt::format("data directory {} holds points that --store memory cannot read; start "
                            "with the original store, or with another --data-dir",
                            data_dir));
  }
  return {};
}

}  // namespace

Result<void> open_memory(const OpenContext& context, Backend& to) {
  TRY_VOID(refuse_stored_points(context.options.data_dir));
  to.wide = std::make_unique<storage::MemoryStore>(context.clock);
  TRY(const ChosenLayout chosen, choose_layout(context, *to.wide));
  return open_cells(context, chosen, context.cells, to);
}

}  // namespace halite::app
