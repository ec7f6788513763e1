#include "storage/rocks/manifest_tail.h"

#include <memory>
#include <optional>

#include "common/bytes.h"
#include "common/log.h"
#include "storage/rocks/wal_check.h"

namespace halite::storage::rocks {

namespace {

constexpr std::uint64_t kNameBytesMax = 4096;
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{2} << 30;
constexpr std::size_t kHeaderBytes = 7;
// What the last edit of a group ends with: its tag for groups, 300 as a varint, and how many
// follow.
constexpr BytesView kLastOfGroup("\xAC\x02\x00", 3);

// Whether nothing whole stands behind the bad place but, at most, the last edit of a group.
bool is_torn(BytesView behind) {
  bool last_seen = false;
  for (std::size_t at = 0; at + kHeaderBytes <= behind.size();) {
    const auto record = whole_record(behind.substr(at));
    if (!record) {
      ++at;
      continue;
    }
    if (last_seen || !record->ends_with(kLastOfGroup)) return false;
    last_seen = true;
    at += kHeaderBytes + record->size();
  }
  return true;
}

}  // namespace

Result<void> cut_torn_manifest(FileSystem& files, const std::string& dir) {
  TRY(const FileKind current, files.kind(dir + "/CURRENT"));
  if (current == FileKind::kNone) return {};
  TRY(Bytes name, read_whole(files, dir + "/CURRENT", kNameBytesMax));
  while (name.ends_with('\n')) name.pop_back();
  const std::string path = dir + "/" + name;
  TRY(const FileKind kind, files.kind(path));
  if (kind != FileKind::kFile) return {};  // RocksDB says what is wrong
  TRY(const LogScan scan, scan_log(files, path));
  if (!scan.bad_offset) return {};
  TRY(const Bytes bytes, read_whole(files, path, kManifestBytesMax));
  // Its own begin may be whole, and is not one that follows.
  if (!is_torn(BytesView(bytes).substr(*scan.bad_offset + 1))) return {};
  log::warn("{} ends in an unfinished write at byte {}: cut off, nothing relied on it", path,
            *scan.bad_offset);
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kWrite));
  TRY_VOID(file->truncate(*scan.bad_offset));
  return file->sync();
}

}  // namespace halite::storage::rocks
