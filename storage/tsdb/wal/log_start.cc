#include "storage/tsdb/wal/log_start.h"

#include <memory>
#include <vector>

#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/replay.h"
#include "storage/tsdb/wal/segments.h"

namespace halite::storage::log_format {

Result<std::optional<Sequence>> log_start(FileSystem& files, const std::string& dir) {
  TRY(const FileKind kind, files.kind(dir));
  if (kind != FileKind::kDirectory) return std::optional<Sequence>();
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    const auto number = segment_number(name);
    if (!number) continue;
    TRY(const std::unique_ptr<File> file, files.open(dir + "/" + name, OpenFile::kRead));
    Bytes page(kPageBytes, '\0');
    TRY(const std::size_t got, file->pread(0, page));
    page.resize(got);
    const Result<SegmentHead> head = read_segment_page(page);
    if (head && head->number == *number) return std::optional<Sequence>(head->after);
  }
  return std::optional<Sequence>();
}

Result<void> create_empty_log(FileSystem& files, const LogOptions& options, Sequence after) {
  TRY_VOID(make_dirs(files, options.dir));
  Segments segments(files, options, ReplayedLog());
  return segments.begin_next(after);
}

}  // namespace halite::storage::log_format
