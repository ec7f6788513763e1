#include "storage/tools/backup/care.h"

#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/tools/backup/counted.h"
#include "storage/tools/backup/repository.h"

namespace halite::storage::backup {

Result<std::vector<ListedBackup>> list_backups(const BackupContext& work, BackupStore& store) {
  BackupRepository contents(*work.files, store);
  TRY(const std::vector<std::string> names, contents.backups());
  std::vector<ListedBackup> found;
  for (const std::string& name : names) {
    ListedBackup one{.name = name, .error = {}};
    const Result<Manifest> manifest = contents.read(name);
    if (manifest) {
      one.files = manifest->files.size();
      one.bytes = manifest->bytes();
    } else if (manifest.error().code == Errc::kCorruption ||
               manifest.error().code == Errc::kUnsupported) {
      one.error = manifest.error().message;
    } else {
      return std::unexpected(manifest.error());
    }
    found.push_back(std::move(one));
  }
  return found;
}

Result<BackupResult> verify_backup(const BackupContext& work, BackupStore& store,
                                   const std::string& backup) {
  BackupRepository contents(*work.files, store);
  BackupResult outcome;
  TRY(outcome.backup, contents.find(backup));
  TRY(const Manifest manifest, contents.read(outcome.backup));
  Counted counted(work);
  counted.expect(manifest.bytes());
  std::set<std::string> read;  // contents that several files share are read once
  for (const StoredFile& file : manifest.files) {
    for (const std::string& what : file.damaged) {
      outcome.damaged.push_back(fmt::format("{}: {}", file.path, what));
    }
    ++outcome.files;
    outcome.bytes += file.content.bytes;
    if (!read.insert(file.content.name()).second) {
      TRY_VOID(counted.add(file.content.bytes));
      continue;
    }
    const auto count = [&counted](std::uint64_t bytes) { return counted.add(bytes); };
    const Result<void> intact = contents.verify(file.content, count);
    if (intact) continue;
    if (intact.error().code != Errc::kCorruption && intact.error().code != Errc::kNotFound) {
      return std::unexpected(intact.error());
    }
    outcome.damaged.push_back(fmt::format("{}: {}", file.path, intact.error().message));
  }
  return outcome;
}

Result<PruneResult> prune_backups(const BackupContext& work, BackupStore& store,
                                  std::uint32_t keep) {
  HALITE_CHECK(keep > 0, "at least one backup is kept");
  BackupRepository contents(*work.files, store);
  TRY_VOID(contents.find(""));  // before anything is created in a wrong place
  TRY_VOID(contents.open());
  TRY(const std::vector<std::string> names, contents.backups());
  const std::size_t removed = names.size() > keep ? names.size() - keep : 0;
  PruneResult outcome{
      .removed = {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(removed)},
      .kept = names.size() - removed};
  std::set<std::string> needed;
  const Counted counted(work);
  for (std::size_t at = removed; at < names.size(); ++at) {
    TRY_VOID(counted.go_on());
    Result<Manifest> manifest = contents.read(names[at]);
    if (!manifest) {
      manifest.error().message = fmt::format(
          "nothing was removed, because it is unknown which files this backup needs: "
          "{}; if it is of no use, remove its manifest yourself",
          manifest.error().message);
      return std::unexpected(std::move(manifest).error());
    }
    for (const StoredFile& file : manifest->files) needed.insert(file.content.name());
  }
  for (const std::string& name : outcome.removed) {
    TRY_VOID(counted.go_on());
    TRY_VOID(contents.remove(name));
  }
  TRY(const RemovedContents files, contents.remove_contents_except(needed));
  outcome.files = files.files;
  outcome.bytes = files.bytes;
  return outcome;
}

}  // namespace halite::storage::backup
