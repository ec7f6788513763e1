#include "storage/tools/backup/repository.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "common/log.h"
#include "storage/tools/backup/content_hash.h"

namespace halite::storage::backup {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;
constexpr std::uint64_t kManifestBytesMax = std::uint64_t{1} << 30;
constexpr const char* kContents = "files";

StoredObject object_of(const ContentId& content) {
  return {.name = fmt::format("{}/{}", kContents, content.name()), .bytes = content.bytes};
}

Result<void> drop(BytesView) { return {}; }

}  // namespace

Result<void> BackupRepository::open() {
  TRY(lock_, store_.lock());
  TRY(const std::vector<StoredObject> objects, store_.list(kContents));
  for (const StoredObject& object : objects) {
    // An object that was cut off is written again.
    if (object.name.ends_with(fmt::format("-{}", object.bytes))) stored_.insert(object.name);
  }
  return {};
}

// Passes the bytes of the file to `take`, in order, and returns the content id.
Result<ContentId> BackupRepository::read_file(const std::string& path, const TakeBytes& take,
                                              const OnProgress& worked) {
  TRY(const std::unique_ptr<File> file, files_.open(path, OpenFile::kRead));
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
    if (lock_ != nullptr) TRY_VOID(lock_->keep());
    if (worked) TRY_VOID(worked(got));
  }
  content.hash = hash.text();
  return content;
}

Result<ContentId> BackupRepository::content_of(const std::string& path, const OnProgress& worked) {
  return read_file(path, drop, worked);
}

bool BackupRepository::has(const ContentId& content) const {
  return stored_.contains(object_of(content).name);
}

Result<void> BackupRepository::add(const std::string& path, const ContentId& content,
                                   const OnProgress& worked) {
  const StoredObject object = object_of(content);
  TRY(const std::unique_ptr<ObjectWriter> writer, store_.create(object));
  const auto take = [&writer](BytesView bytes) { return writer->append(bytes); };
  TRY(const ContentId copied, read_file(path, take, worked));
  if (copied != content) {
    return fail(Errc::kCorruption, fmt::format("{} returns different bytes on each read", path));
  }
  TRY_VOID(writer->finish());
  stored_.insert(object.name);
  return {};
}

// The bytes are passed on although they may be damaged.
Result<void> BackupRepository::read_content(const ContentId& content, const TakeBytes& take,
                                            const OnProgress& worked) {
  const StoredObject object = object_of(content);
  ContentHash hash;
  const auto pass = [&](BytesView bytes) -> Result<void> {
    hash.add(bytes);
    TRY_VOID(take(bytes));
    return worked ? worked(bytes.size()) : Result<void>();
  };
  Result<void> done = store_.read(object, pass);
  if (!done && done.error().code == Errc::kNotFound) {
    return fail(Errc::kNotFound, store_.place(object.name) + " is missing in the backup");
  }
  TRY_VOID(std::move(done));
  if (hash.text() == content.hash) return {};
  return fail(Errc::kCorruption, store_.place(object.name) + " is damaged");
}

Result<void> BackupRepository::fetch(const ContentId& content, const std::string& path,
                                     const OnProgress& worked) {
  TRY(std::unique_ptr<File> file, files_.open(path, OpenFile::kReplace));
  const auto take = [&file](BytesView bytes) { return file->append(bytes); };
  Result<void> read = read_content(content, take, worked);
  if (!read && read.error().code == Errc::kNotFound) {
    file.reset();
    TRY_VOID(files_.remove(path));  // an empty file would hide that it is missing
  }
  if (!read && read.error().code != Errc::kCorruption) return read;
  TRY_VOID(file->sync());
  return read;
}

Result<void> BackupRepository::verify(const ContentId& content, const OnProgress& worked) {
  return read_content(content, drop, worked);
}

Result<std::vector<std::string>> BackupRepository::backups() {
  TRY(const std::vector<StoredObject> objects, store_.list(""));
  std::vector<std::string> found;
  for (const StoredObject& object : objects) {
    if (!object.name.ends_with(kManifestEnd)) continue;
    found.push_back(object.name);
    manifests_[object.name] = object;
  }
  return found;  // sorted: names sort by time
}

Result<std::string> BackupRepository::find(const std::string& backup) {
  TRY(const std::vector<std::string> names, backups());
  if (names.empty()) {
    return fail(Errc::kNotFound, fmt::format("{} contains no backup", store_.place()));
  }
  if (backup.empty()) return names.back();
  for (std::string name : {backup, backup + std::string(kManifestEnd)}) {
    if (std::ranges::find(names, name) != names.end()) return name;
  }
  return fail(Errc::kNotFound, fmt::format("{1} contains no backup {0}; the newest is {2}", backup,
                                           store_.place(), names.back()));
}

Result<Manifest> BackupRepository::read(const std::string& name) {
  if (lock_ != nullptr) TRY_VOID(lock_->keep());
  if (!manifests_.contains(name)) TRY_VOID(backups());
  const auto object = manifests_.find(name);
  if (object == manifests_.end()) return fail(Errc::kNotFound, store_.place(name) + " is missing");
  if (object->second.bytes > kManifestBytesMax) {
    return fail(Errc::kTooLarge,
                fmt::format("{} has {} bytes; the maximum is {}", store_.place(name),
                            object->second.bytes, kManifestBytesMax));
  }
  Bytes bytes;
  const auto take = [&bytes](BytesView more) {
    bytes += more;
    return Result<void>();
  };
  TRY_VOID(store_.read(object->second, take));
  Result<Manifest> manifest = Manifest::from_bytes(bytes);
  if (!manifest) {
    manifest.error().message =
        fmt::format("{}: {}; choose another backup", store_.place(name), manifest.error().message);
  }
  return manifest;
}

Result<void> BackupRepository::write(const std::string& name, const Manifest& manifest) {
  const Bytes bytes = manifest.to_bytes();
  HALITE_CHECK(lock_ != nullptr, "a backup is written without a lock");
  TRY_VOID(lock_->keep());
  TRY(const std::unique_ptr<ObjectWriter> writer,
      store_.create({.name = name, .bytes = bytes.size()}));
  TRY_VOID(writer->append(bytes));
  TRY_VOID(writer->finish());
  Result<void> held = lock_->confirm();
  if (held) return {};
  const Result<void> withdrawn = store_.withdraw(name);
  if (!withdrawn) {
    held.error().message += fmt::format("; contents of {} may be missing, remove it by hand: {}",
                                        store_.place(name), withdrawn.error().message);
  }
  return held;
}

Result<void> BackupRepository::remove(const std::string& name) {
  HALITE_CHECK(lock_ != nullptr, "a backup is removed without a lock");
  TRY_VOID(lock_->keep());
  return store_.remove(name);
}

Result<RemovedContents> BackupRepository::remove_contents_except(
    const std::set<std::string>& kept) {
  HALITE_CHECK(lock_ != nullptr, "contents are removed without a lock");
  RemovedContents removed;
  TRY(const std::vector<StoredObject> objects, store_.list(kContents));
  for (const StoredObject& object : objects) {
    const std::string name = object.name.substr(std::string_view(kContents).size() + 1);
    if (kept.contains(name) || !ContentId::is_name(name)) continue;
    TRY_VOID(lock_->keep());
    TRY_VOID(store_.remove(object.name));
    ++removed.files;
    removed.bytes += object.bytes;
  }
  // What stays takes room, but is no reason to call the rest a failure.
  const Result<void> tidied = store_.remove_unfinished();
  if (!tidied) log::warn("unfinished objects stay: {}", tidied.error().message);
  return removed;
}

}  // namespace halite::storage::backup
