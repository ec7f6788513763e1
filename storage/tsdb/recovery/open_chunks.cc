#include "storage/tsdb/recovery/open_chunks.h"

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/tsdb/wal/log_start.h"

namespace halite::storage::engine {
namespace {

// Describes what is lost with the end of the manifest, if its rest names files that were replaced
// since. RocksDB would only name the first file, with a suffix that Halite does not use.
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
    // The position of the other records is in missing files too.
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

// Opens chunks whose manifest had to be cut off, if the rest covers everything that the log relies
// on. Otherwise changes nothing.
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
  // Keep the set-aside files until then: RocksDB may already compact tables that it opened.
  TRY_VOID(check_manifest_cut(files, dirs, (*opened)->states.mark().log_position));
  return opened;
}

}  // namespace halite::storage::engine
