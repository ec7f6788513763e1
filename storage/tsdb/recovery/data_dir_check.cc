#include "storage/tsdb/recovery/data_dir_check.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/layouts/table_parameters.h"
#include "storage/tsdb/core/engine_cell.h"
#include "storage/tsdb/wal/log_start.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kQualifier = "parts";
constexpr BytesView kMade = "chunks,log";

Result<bool> has_files(FileSystem& files, const std::string& dir, std::string_view name_end) {
  TRY(const FileKind kind, files.kind(dir));
  if (kind != FileKind::kDirectory) return false;
  TRY(const std::vector<std::string> names, files.list(dir));
  return std::ranges::any_of(names, [&](const auto& name) { return name.ends_with(name_end); });
}

}  // namespace

Task<void> check_data_dir_complete(std::shared_ptr<Table> settings, EngineDirs dirs) {
  CO_TRY(const auto parameters, co_await read_parameters(settings, std::string(kEngineRow)));
  CO_TRY(const std::optional<Bytes> made, co_await read_engine_cell(settings, Bytes(kQualifier)));
  CO_TRY(const FileKind chunks, dirs.files->kind(dirs.chunks + "/CURRENT"));
  CO_TRY(const bool segments, has_files(*dirs.files, dirs.log, ".log"));
  const bool stored = chunks == FileKind::kFile || segments;
  if (!parameters && stored) {
    co_return fail(
        Errc::kConflict,
        fmt::format("{} holds points, but the names of their series are missing: the directory "
                    "rocksdb beside it is missing or belongs to other data. Restore both from one "
                    "copy, or move the whole data directory away to start with an empty one",
                    dirs.engine));
  }
  if (made && chunks != FileKind::kFile) {
    co_return fail(
        Errc::kConflict,
        fmt::format(
            "{} is missing or has no file CURRENT, but it held points: restore it from a copy of "
            "the data directory, or move the whole data directory away to start with an empty one",
            dirs.chunks));
  }
  co_return Result<void>();
}

Task<bool> is_data_dir_unfinished(std::shared_ptr<Table> settings, EngineDirs dirs) {
  CO_TRY(const std::optional<Bytes> made, co_await read_engine_cell(settings, Bytes(kQualifier)));
  CO_TRY(const bool tables, has_files(*dirs.files, dirs.chunks, ".sst"));
  co_return !made && !tables;
}

Task<void> note_data_dir_complete(std::shared_ptr<Table> settings) {
  CO_TRY(const std::optional<Bytes> made, co_await read_engine_cell(settings, Bytes(kQualifier)));
  if (made) co_return Result<void>();
  co_return co_await write_engine_cell(settings, Bytes(kQualifier), Bytes(kMade));
}

Result<void> check_log_covers(FileSystem& files, const EngineDirs& dirs, Sequence position) {
  TRY(const std::vector<std::string> kept, rocks::list_aside(files, dirs.chunks));
  if (kept.empty()) return {};
  TRY(const std::optional<Sequence> begin, log_format::log_start(files, dirs.log));
  if (begin && *begin > position) {
    return fail(Errc::kCorruption,
                fmt::format("the end of the manifest of {} is damaged: it named files with records "
                            "{} to {}, which the log no longer has. Those files and the original "
                            "manifest are in {}. Restore the data directory from a copy; or, to "
                            "continue without those points, move that directory away",
                            dirs.chunks, position + 1, *begin, fmt::join(kept, ", ")));
  }
  return {};
}

Result<void> check_manifest_cut(FileSystem& files, const EngineDirs& dirs, Sequence position) {
  TRY_VOID(check_log_covers(files, dirs, position));
  TRY(const std::vector<std::string> kept, rocks::list_aside(files, dirs.chunks));
  for (const std::string& aside : kept) {
    log::info("no data depends on the removed end: {} is removed", aside);
    TRY_VOID(rocks::remove_aside(files, aside));
  }
  return {};
}

}  // namespace halite::storage::engine
