#include "storage/tools/backup/directory_store.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace halite::storage::backup {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::string_view kUnfinished = ".tmp";
constexpr const char* kFolders[] = {"", "files"};

class FileWriter final : public ObjectWriter {
 public:
  FileWriter(FileSystem& files, std::string path, std::unique_ptr<File> file)
      : files_(files), path_(std::move(path)), file_(std::move(file)) {}

  Result<void> append(BytesView bytes) override { return file_->append(bytes); }
  Result<void> finish() override {
    TRY_VOID(file_->sync());
    TRY_VOID(files_.rename(path_ + std::string(kUnfinished), path_));
    return files_.sync_dir(dir_of(path_));
  }

 private:
  FileSystem& files_;
  const std::string path_;
  const std::unique_ptr<File> file_;
};

// The system releases it when the process ends.
class DirectoryLock final : public StoreLock {
 public:
  explicit DirectoryLock(std::unique_ptr<FileLock> lock) : lock_(std::move(lock)) {}
  Result<void> keep() override { return {}; }
  Result<void> confirm() override { return {}; }

 private:
  const std::unique_ptr<FileLock> lock_;
};

}  // namespace

std::string DirectoryStore::place(const std::string& name) const {
  return name.empty() ? dir_ : dir_ + "/" + name;
}

Result<std::unique_ptr<StoreLock>> DirectoryStore::lock() {
  TRY_VOID(make_dirs(files_, place("files")));
  Result<std::unique_ptr<FileLock>> lock = files_.lock(place("lock"));
  if (!lock && lock.error().code == Errc::kConflict) {
    return fail(Errc::kConflict, fmt::format("another backup is running in {}", dir_));
  }
  TRY(std::unique_ptr<FileLock> held, std::move(lock));
  return std::make_unique<DirectoryLock>(std::move(held));
}

Result<std::vector<StoredObject>> DirectoryStore::list(const std::string& folder) {
  TRY(const std::vector<std::string> names, files_.list(place(folder)));
  std::vector<StoredObject> found;
  for (const std::string& name : names) {
    StoredObject object{.name = folder.empty() ? name : folder + "/" + name};
    TRY(const FileKind kind, files_.kind(place(object.name)));
    if (kind != FileKind::kFile || name.ends_with(kUnfinished)) continue;
    TRY(object.bytes, files_.size(place(object.name)));
    found.push_back(std::move(object));
  }
  return found;
}

Result<void> DirectoryStore::read(const StoredObject& object, const TakeBytes& take) {
  TRY(const std::unique_ptr<File> file, files_.open(place(object.name), OpenFile::kRead));
  file->expect(ReadPattern::kSequential);
  Bytes buffer(kPieceBytes, '\0');
  std::uint64_t at = 0;
  while (true) {
    TRY(const std::size_t got, file->pread(at, buffer));
    if (got == 0) break;
    TRY_VOID(take(BytesView(buffer).substr(0, got)));
    at += got;
  }
  if (at == object.bytes) return {};
  return fail(Errc::kCorruption,
              fmt::format("{} has {} bytes instead of {}", place(object.name), at, object.bytes));
}

Result<std::unique_ptr<ObjectWriter>> DirectoryStore::create(const StoredObject& object) {
  std::string path = place(object.name);
  TRY(std::unique_ptr<File> file, files_.open(path + std::string(kUnfinished), OpenFile::kReplace));
  return std::make_unique<FileWriter>(files_, std::move(path), std::move(file));
}

Result<void> DirectoryStore::remove(const std::string& name) {
  TRY_VOID(files_.remove(place(name)));
  return files_.sync_dir(dir_of(place(name)));
}

Result<void> DirectoryStore::remove_unfinished() {
  for (const char* const folder : kFolders) {
    TRY(const std::vector<std::string> names, files_.list(place(folder)));
    for (const std::string& name : names) {
      if (name.ends_with(kUnfinished)) TRY_VOID(files_.remove(place(folder) + "/" + name));
    }
  }
  return {};
}

}  // namespace halite::storage::backup
