#include "storage/tools/backup/repository.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "storage/tools/backup/content_hash.h"

namespace halite::storage::backup {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{1} << 30;

// Passes the bytes of the file to `take`, in order, and returns the content id.
Result<ContentId> read_through(FileSystem& files, const std::string& path,
                               const std::function<Result<void>(BytesView)>& take,
                               const OnProgress& worked) {
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kRead));
  file->expect(ReadPattern::kSequential);
  ContentHash hash;
  ContentId content;
  Bytes buffer(kReadBytes, '\0');
  while (true) {
    TRY(const std::size_t got, file->pread(content.bytes, buffer));
    if (got == 0) break;
    const BytesView bytes = BytesView(buffer).substr(0, got);
    hash.add(bytes);
    TRY_VOID(take(bytes));
    content.bytes += got;
    if (worked) TRY_VOID(worked(got));
  }
  content.hash = hash.text();
  return content;
}

}  // namespace

std::string BackupRepository::path_of(const ContentId& content) const {
  return fmt::format("{}/files/{}", dir_, content.name());
}

Result<void> BackupRepository::open() {
  TRY_VOID(make_dirs(files_, dir_ + "/files"));
  Result<std::unique_ptr<FileLock>> lock = files_.lock(dir_ + "/lock");
  if (!lock && lock.error().code == Errc::kConflict) {
    return fail(Errc::kConflict, fmt::format("another backup is running in {}", dir_));
  }
  TRY(lock_, std::move(lock));
  return {};
}

Result<ContentId> BackupRepository::content_of(const std::string& path, const OnProgress& worked) {
  return read_through(files_, path, [](BytesView) { return Result<void>(); }, worked);
}

Result<bool> BackupRepository::has(const ContentId& content) {
  TRY(const FileKind kind, files_.kind(path_of(content)));
  if (kind != FileKind::kFile) return false;
  TRY(const std::uint64_t bytes, files_.size(path_of(content)));
  return bytes == content.bytes;
}

Result<ContentId> BackupRepository::copy(const std::string& from, const std::string& to,
                                         const OnProgress& worked) {
  TRY(const std::unique_ptr<File> file, files_.open(to, OpenFile::kReplace));
  const auto take = [&file](BytesView bytes) { return file->append(bytes); };
  TRY(ContentId copied, read_through(files_, from, take, worked));
  TRY_VOID(file->sync());
  return copied;
}

Result<void> BackupRepository::add(const std::string& path, const ContentId& content,
                                   const OnProgress& worked) {
  const std::string to = path_of(content);
  TRY(const ContentId copied, copy(path, to + ".tmp", worked));
  if (copied != content) {
    return fail(Errc::kCorruption, fmt::format("{} returns different bytes on each read", path));
  }
  TRY_VOID(files_.rename(to + ".tmp", to));
  return files_.sync_dir(dir_ + "/files");
}

Result<void> BackupRepository::fetch(const ContentId& content, const std::string& path,
                                     const OnProgress& worked) {
  TRY(const FileKind kind, files_.kind(path_of(content)));
  if (kind != FileKind::kFile) {
    return fail(Errc::kNotFound, fmt::format("{} is missing in the backup", path_of(content)));
  }
  TRY(const ContentId copied, copy(path_of(content), path, worked));
  if (copied == content) return {};
  return fail(Errc::kCorruption, fmt::format("{} is damaged", path_of(content)));
}

Result<std::vector<std::string>> BackupRepository::backups() {
  TRY(const std::vector<std::string> names, files_.list(dir_));
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (name.ends_with(kManifestEnd)) found.push_back(name);
  }
  return found;  // sorted: names sort by time
}

Result<Manifest> BackupRepository::read(const std::string& name) {
  TRY(const Bytes bytes, read_whole(files_, dir_ + "/" + name, kManifestBytesMax));
  Result<Manifest> manifest = Manifest::from_bytes(bytes);
  if (!manifest) {
    manifest.error().message =
        fmt::format("{}/{}: {}; choose another backup", dir_, name, manifest.error().message);
  }
  return manifest;
}

Result<void> BackupRepository::write(const std::string& name, const Manifest& manifest) {
  return write_whole(files_, dir_ + "/" + name, manifest.to_bytes());
}

}  // namespace halite::storage::backup
