#include "storage/files/files.h"

#include <fmt/format.h>

namespace halite::storage {

std::string dir_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Result<void> make_dirs(FileSystem& files, const std::string& dir) {
  TRY(const FileKind kind, files.kind(dir));
  if (kind == FileKind::kDirectory) return {};
  const std::string above = dir_of(dir);
  if (above != dir) TRY_VOID(make_dirs(files, above));
  if (const Result<void> made = files.make_dir(dir); !made && made.error().code != Errc::kConflict)
    return made;
  return files.sync_dir(above);
}

Result<Bytes> read_whole(FileSystem& files, const std::string& path, std::uint64_t bytes_max) {
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kRead));
  TRY(const std::uint64_t size, file->size());
  if (size > bytes_max) {
    return fail(Errc::kTooLarge,
                fmt::format("{} has {} bytes, more than {}", path, size, bytes_max));
  }
  Bytes bytes(size, '\0');
  TRY(const std::size_t got, file->pread(0, bytes));
  bytes.resize(got);
  return bytes;
}

Result<void> write_whole(FileSystem& files, const std::string& path, BytesView bytes) {
  const std::string temporary = path + ".tmp";
  {
    TRY(const std::unique_ptr<File> file, files.open(temporary, OpenFile::kReplace));
    TRY_VOID(file->append(bytes));
    TRY_VOID(file->sync());
  }
  TRY_VOID(files.rename(temporary, path));
  return files.sync_dir(dir_of(path));
}

}  // namespace halite::storage
