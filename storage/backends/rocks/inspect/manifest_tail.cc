#include "storage/backends/rocks/inspect/manifest_tail.h"

#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "common/log.h"
#include "storage/backends/rocks/inspect/wal_check.h"

namespace halite::storage::rocks {

namespace {

constexpr std::uint64_t kNameBytesMax = 4096;
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{2} << 30;
// The end of the last edit of a group: the tag for groups, 300 as a varint, and the number of edits
// that follow.
constexpr BytesView kLastOfGroup("\xAC\x02\x00", 3);

// Whether the bad record is followed by nothing whole, except at most the last edit of a group.
bool is_torn(BytesView behind) {
  bool last_seen = false;
  for (std::size_t at = 0; at + kLogHeaderBytes <= behind.size();) {
    const auto record = whole_record(behind.substr(at));
    if (!record) {
      ++at;
      continue;
    }
    if (last_seen || !record->ends_with(kLastOfGroup)) return false;
    last_seen = true;
    at += kLogHeaderBytes + record->size();
  }
  return true;
}

constexpr std::string_view kAside = "aside-";
constexpr std::string_view kTable = ".sst";

// The current manifest; empty if there is none.
Result<std::string> current_manifest(FileSystem& files, const std::string& dir) {
  TRY(const FileKind current, files.kind(dir + "/CURRENT"));
  if (current == FileKind::kNone) return std::string();
  TRY(Bytes name, read_whole(files, dir + "/CURRENT", kNameBytesMax));
  while (name.ends_with('\n')) name.pop_back();
  const std::string path = dir + "/" + name;
  TRY(const FileKind kind, files.kind(path));
  return kind == FileKind::kFile ? path : std::string();  // RocksDB reports the error
}

// Links all tables, and copies the manifest, which is changed in place.
Result<void> set_aside(FileSystem& files, const std::string& dir, const ManifestCut& cut,
                       BytesView manifest) {
  TRY_VOID(make_dirs(files, cut.aside));
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (!name.ends_with(kTable)) continue;
    const std::string link = cut.aside + "/" + name;
    TRY(const FileKind there, files.kind(link));
    if (there == FileKind::kNone) TRY_VOID(files.link(dir + "/" + name, link));
  }
  TRY_VOID(write_whole(files, cut.aside + "/" + name_of(cut.manifest), manifest));
  return files.sync_dir(cut.aside);
}

}  // namespace

Result<ManifestLook> look_at_manifest(FileSystem& files, const std::string& dir) {
  ManifestLook look;
  TRY(look.manifest, current_manifest(files, dir));
  if (look.manifest.empty()) return look;
  TRY(const LogScan scan, scan_log(files, look.manifest));
  look.bad_offset = scan.bad_offset;
  if (!look.bad_offset) return look;
  TRY(const Bytes bytes, read_whole(files, look.manifest, kManifestBytesMax));
  // The start of the bad record itself may be whole, and does not count.
  look.torn = is_torn(BytesView(bytes).substr(*look.bad_offset + 1));
  return look;
}

Result<ManifestCut> cut_torn_manifest(FileSystem& files, const std::string& dir) {
  TRY(const ManifestLook look, look_at_manifest(files, dir));
  if (!look.torn) return ManifestCut();
  const std::string& path = look.manifest;
  TRY(const Bytes bytes, read_whole(files, path, kManifestBytesMax));
  ManifestCut cut;
  cut.manifest = path;
  cut.offset = *look.bad_offset;
  cut.tail = bytes.substr(cut.offset);
  cut.aside = fmt::format("{}/{}{}", dir, kAside, name_of(path));
  TRY_VOID(set_aside(files, dir, cut, bytes));
  log::warn(
      "{} ends in an incomplete write at byte {}, which was removed; a copy stays in {} with all "
      "tables until it is certain that no data depends on it",
      path, cut.offset, cut.aside);
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kWrite));
  TRY_VOID(file->truncate(cut.offset));
  TRY_VOID(file->sync());
  return cut;
}

Result<void> undo_cut(FileSystem& files, const ManifestCut& cut) {
  TRY(const std::string current, current_manifest(files, dir_of(cut.manifest)));
  if (current != cut.manifest) return {};
  TRY(const std::unique_ptr<File> file, files.open(cut.manifest, OpenFile::kWrite));
  TRY_VOID(file->pwrite(cut.offset, cut.tail));
  return file->sync();
}

Result<std::size_t> keep_orphans(FileSystem& files, const std::string& aside,
                                 const std::set<std::string>& live) {
  TRY(const std::vector<std::string> names, files.list(aside));
  std::size_t orphans = 0;
  for (const std::string& name : names) {
    if (!name.ends_with(kTable)) continue;
    if (live.contains(name)) {
      TRY_VOID(files.remove(aside + "/" + name));
    } else {
      ++orphans;
    }
  }
  TRY_VOID(files.sync_dir(aside));
  if (orphans == 0) TRY_VOID(remove_aside(files, aside));
  return orphans;
}

Result<std::vector<std::string>> list_aside(FileSystem& files, const std::string& dir) {
  std::vector<std::string> found;
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (name.starts_with(kAside)) found.push_back(dir + "/" + name);
  }
  return found;
}

Result<void> remove_aside(FileSystem& files, const std::string& aside) {
  const Result<std::vector<std::string>> names = files.list(aside);
  if (!names && names.error().code == Errc::kNotFound) return {};
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) TRY_VOID(files.remove(aside + "/" + name));
  TRY_VOID(files.remove_dir(aside));
  return files.sync_dir(dir_of(aside));
}

}  // namespace halite::storage::rocks
