#include "storage/tools/check/missing_data.h"

#include <optional>
#include <utility>
#include <vector>

#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/run_here.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/backends/rocks/files/created.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/catalog/table_settings.h"
#include "storage/tsdb/core/engine_cell.h"
#include "storage/tsdb/recovery/data_dir_check.h"

namespace halite::storage::check {

Result<MissingData> missing_data(const CheckOptions& options, std::shared_ptr<Table> settings) {
  const SystemClock clock;
  MemoryStore nothing(clock);
  if (settings == nullptr) {
    TRY(settings, run_here(nothing.open_table(settings_table_spec(options.engine.settings_table))));
  }
  engine::EngineDirs dirs{.files = options.files,
                          .engine = options.engine_dir,
                          .chunks = options.engine_dir + "/chunks",
                          .log = options.engine_dir + "/log"};
  const Result<void> whole = run_here(engine::check_data_dir_complete(settings, dirs));
  if (whole) {
    TRY(const bool unfinished, run_here(engine::is_data_dir_unfinished(settings, std::move(dirs))));
    return MissingData{.unfinished = unfinished};
  }
  if (whole.error().code == Errc::kUnavailable) return std::unexpected(whole.error());
  // Damaged settings cannot show what is missing.
  if (whole.error().code != Errc::kConflict) return MissingData();
  TRY(const std::optional<TableParameters> made,
      run_here(read_parameters(settings, std::string(engine::kEngineRow))));
  if (made) return MissingData{.chunks = whole.error().message};
  return MissingData{.names = whole.error().message};
}

Result<bool> has_names(const CheckOptions& options) {
  TRY(const FileKind kind, options.files->kind(options.rocks_dir));
  if (kind != FileKind::kDirectory) return false;
  return rocks::is_created(*options.files, options.rocks_dir);
}

Result<MissingData> find_missing_data(const CheckOptions& options) {
  TRY(const bool names, has_names(options));
  if (!names) return missing_data(options, nullptr);
  RocksOptions rocks;
  rocks.dir = options.rocks_dir;
  rocks.files = options.files;
  rocks.read_only = true;
  rocks.read_threads = 1;
  const SystemClock clock;
  prometheus::Registry registry;
  Result<std::unique_ptr<RocksStore>> store = RocksStore::open(rocks, clock, registry);
  if (!store) return MissingData();
  Result<MissingData> missing = MissingData();
  {
    const Result<std::shared_ptr<Table>> settings =
        run_here((*store)->open_table(settings_table_spec(options.engine.settings_table)));
    if (settings) missing = missing_data(options, *settings);
    if (!settings && settings.error().code == Errc::kNotFound) {
      missing = missing_data(options, nullptr);
    }
  }
  TRY_VOID(run_here((*store)->close()));
  return missing;
}

}  // namespace halite::storage::check
