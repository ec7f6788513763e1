#include "storage/tsdb/wal/newest_segment.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/bytes/crc32c.h"
#include "common/log.h"
#include "storage/tsdb/wal/format.h"

namespace halite::storage::log_format {
namespace {

constexpr BytesView kNewestMagic = "halite-log-newest\n";
constexpr std::size_t kNewestBytes = kNewestMagic.size() + 3 * 8 + 4;

}  // namespace

std::string newest_path(const std::string& dir) { return dir + "/newest"; }

Result<void> write_newest(FileSystem& files, const std::string& dir, const NewestSegment& newest) {
  Bytes bytes(kNewestMagic);
  append_be(bytes, newest.number);
  append_be(bytes, newest.after);
  append_be(bytes, newest.bytes_min);
  append_be(bytes, crc32c(bytes));
  return write_whole(files, newest_path(dir), bytes);
}

Result<NewestSegment> parse_newest(BytesView bytes) {
  const std::size_t checked = kNewestBytes - 4;
  if (bytes.size() != kNewestBytes || !bytes.starts_with(kNewestMagic) ||
      crc32c(bytes.substr(0, checked)) != load_be<std::uint32_t>(bytes.data() + checked)) {
    return fail(Errc::kCorruption, "not a valid newest-segment file");
  }
  const char* const fields = bytes.data() + kNewestMagic.size();
  return NewestSegment{.number = load_be<std::uint64_t>(fields),
                       .after = load_be<std::uint64_t>(fields + 8),
                       .bytes_min = load_be<std::uint64_t>(fields + 16)};
}

Result<std::optional<NewestSegment>> read_newest(FileSystem& files, const std::string& dir) {
  TRY(const FileKind kind, files.kind(newest_path(dir)));
  if (kind == FileKind::kNone) return std::optional<NewestSegment>();
  TRY(const Bytes bytes, read_whole(files, newest_path(dir), kNewestBytesMax));
  const Result<NewestSegment> newest = parse_newest(bytes);
  if (newest) return std::optional(*newest);
  log::error("{} is damaged: missing segments at the end of the log cannot be detected",
             newest_path(dir));
  return std::optional<NewestSegment>();
}

std::string missing_end(const std::optional<NewestSegment>& newest, const ReplayedLog& replayed,
                        Sequence flushed_upto) {
  const bool any = !replayed.segments.empty();
  if (newest && (!any || replayed.segments.back().number < newest->number)) {
    return fmt::format("the segment {} is missing; segments before it may be missing too",
                       segment_name(newest->number));
  }
  if (newest) {
    const auto found = std::ranges::find(replayed.segments, newest->number, &SegmentFile::number);
    if (found != replayed.segments.end() && found->bytes < newest->bytes_min) {
      return fmt::format("{} has {} bytes and had at least {}", found->path, found->bytes,
                         newest->bytes_min);
    }
  }
  return !any && flushed_upto > 0 ? "all its segments are missing" : "";
}

}  // namespace halite::storage::log_format
