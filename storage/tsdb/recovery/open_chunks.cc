#include "storage/tsdb/recovery/open_chunks.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/tsdb/wal/log_start.h"

namespace halite::storage::engine {
namespace {

// What is missing with the end of the manifest, where the rest names files that are gone since:
// others had taken their place. RocksDB would say no more than the first one's name, and that with
// an ending that none of ours has.
Error explain_lost_end(const EngineDirs& dirs, ChunkDbOptions options,
                       const rocks::ManifestCut& cut, Error why) {
  if (why.code != Errc::kCorruption) return why;
  options.read_only = true;
  const auto rest = ChunkDb::open(options);
  if (!rest) return why;
  std::size_t missing = 0;
  for (const rocks::LiveFile& file : (*rest)->tables->live_files()) {
    const Result<FileKind> kind = dirs.files->kind(file.path);
    if (kind && *kind == FileKind::kNone) ++missing;
  }
  if (missing == 0) return why;
  const std::uint64_t position = (*rest)->states.mark().log_position;
  const auto begin = log_format::log_start(*dirs.files, dirs.log);
  std::string records = "the log has no record of what only they hold";
  if (begin && *begin && position == kUnknownPosition) {
    // How far the others came is told by files that are missing, too.
    records = fmt::format("only they hold the last records up to {}, which the log no longer has",
                          **begin);
  } else if (begin && *begin && **begin > position) {
    records = fmt::format("only they hold records {} to {}, which the log no longer has",
                          position + 1, **begin);
  }
  why.message = fmt::format(
      "the end of {} is damaged from byte {} on: it named files that replaced {} others, and {}. "
      "Nothing was changed; the tables and the original manifest are also in {}. Restore the data "
      "directory from a copy",
      cut.manifest, cut.offset, missing, records, cut.aside);
  return why;
}

}  // namespace

// Where the end of the manifest had to be cut off: if that says all that the log relies on, else
// nothing is changed.
Result<std::unique_ptr<ChunkDb>> open_chunks(const EngineDirs& dirs, ChunkDbOptions options) {
  FileSystem& files = *dirs.files;
  TRY(const rocks::ManifestCut cut, rocks::cut_torn_manifest(files, options.dir));
  options.strict = cut.made();
  Result<std::unique_ptr<ChunkDb>> opened = ChunkDb::open(options);
  if (!opened && cut.made()) {
    Error error = explain_lost_end(dirs, options, cut, std::move(opened).error());
    TRY_VOID(rocks::undo_cut(files, cut));
    return std::unexpected(std::move(error));
  }
  if (!opened) return opened;
  // Till then all that was set aside stays: RocksDB may already merge tables that it opened with.
  TRY_VOID(check_manifest_cut(files, dirs, (*opened)->states.mark().log_position));
  return opened;
}

}  // namespace halite::storage::engine
