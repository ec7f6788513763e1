#include "storage/tools/backup/backup.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/files/read_hook.h"
#include "storage/backends/rocks/inspect/table_check.h"
#include "storage/backends/rocks/key.h"
#include "storage/files/fenced_files.h"
#include "storage/files/remove_tree.h"
#include "storage/tools/backup/counted.h"
#include "storage/tools/backup/repository.h"

namespace halite::storage::backup {
namespace {

constexpr std::string_view kTable = ".sst";

// Skips what a server creates anew or does not need: locks, unfinished files, spare segments. Files
// that a start set aside are backed up.
bool is_kept(std::string_view name) {
  return name != "LOCK" && name != "lock" && name != "halite.lock" && !name.ends_with(".new") &&
         !name.ends_with(".tmp") && !name.starts_with("spare-") && name != "snapshot";
}

// Paths of the files in `dir`, each after `prefix`.
Result<void> list_files(FileSystem& files, const std::string& dir, const std::string& prefix,
                        std::vector<std::string>& found) {
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (!is_kept(name)) continue;
    TRY(const FileKind kind, files.kind(dir + "/" + name));
    if (kind == FileKind::kFile) found.push_back(prefix + name);
    if (kind == FileKind::kDirectory) {
      TRY_VOID(list_files(files, dir + "/" + name, prefix + name + "/", found));
    }
  }
  return {};
}

class Making {
 public:
  Making(const BackupContext& work, std::string data_dir, BackupStore& store)
      : files_(*work.files),
        data_dir_(std::move(data_dir)),
        contents_(files_, store),
        counted_(work),
        env_(rocksdb::NewCompositeEnv(
            rocks::hook_reads(rocks::make_file_system(work.files, std::make_shared<WriteFence>()),
                              [this](std::size_t) { return !counted_.ended(); }))) {}

  Result<BackupResult> run(TimestampMs now) {
    TRY_VOID(contents_.open());
    TRY_VOID(read_last());
    std::vector<std::string> paths;
    TRY_VOID(list_files(files_, data_dir_, "", paths));
    for (const std::string& path : paths) {
      TRY(const std::uint64_t bytes, files_.size(data_dir_ + "/" + path));
      counted_.expect(bytes);
    }
    Manifest manifest;
    manifest.made_ms = now;
    for (const std::string& path : paths) {
      TRY(StoredFile file, keep(path));
      manifest.files.push_back(std::move(file));
    }
    outcome_.backup = manifest_name(now);
    outcome_.files = manifest.files.size();
    outcome_.bytes = manifest.bytes();
    TRY_VOID(contents_.write(outcome_.backup, manifest));
    return std::move(outcome_);
  }

 private:
  // Reads the newest readable manifest.
  Result<void> read_last() {
    TRY(std::vector<std::string> names, contents_.backups());
    for (; !names.empty(); names.pop_back()) {
      Result<Manifest> last = contents_.read(names.back());
      if (!last && last.error().code == Errc::kCorruption) {
        outcome_.damaged.push_back(last.error().message);
        continue;
      }
      if (!last) return std::unexpected(std::move(last).error());
      for (StoredFile& file : last->files) last_[file.path] = std::move(file);
      return {};
    }
    return {};
  }

  Result<StoredFile> keep(const std::string& path) {
    const std::string from = data_dir_ + "/" + path;
    const auto count = [this](std::uint64_t bytes) { return counted_.add(bytes); };
    StoredFile file{.path = path, .content = {}};
    TRY(file.content, contents_.content_of(from, count));
    const auto last = last_.find(path);
    const bool same = last != last_.end() && last->second.content == file.content;
    // Damage is reported in every backup that has this content.
    if (path.ends_with(kTable) && !(same && last->second.damaged.empty())) {
      const bool has_other = last != last_.end() && !same;
      TRY_VOID(look_for_damage(from, has_other ? &last->second.content : nullptr, file));
      // Names the intact copy, too.
      if (same && !file.damaged.empty()) file.damaged = last->second.damaged;
    }
    TRY_VOID(counted_.go_on());
    for (const std::string& what : file.damaged) {
      outcome_.damaged.push_back(fmt::format("{}: {}", path, what));
    }
    if (contents_.has(file.content)) return file;
    const auto go_on = [this](std::uint64_t) { return counted_.go_on(); };
    TRY_VOID(contents_.add(from, file.content, go_on));
    outcome_.bytes_copied += file.content.bytes;
    return file;
  }

  // Checks a table that the previous backup does not have as it is. `last`: what the previous
  // backup has under that name, which may be another table: numbers of files are used again after
  // an older backup was restored.
  Result<void> look_for_damage(const std::string& from, const ContentId* last, StoredFile& file) {
    rocksdb::Options options;
    options.env = env_.get();
    options.merge_operator = rocks::greatest_time_operator();
    options.prefix_extractor = rocks::row_prefix_extractor();
    const auto each = [](BytesView, BytesView) { return true; };
    for (const auto& damage : rocks::check_table(files_, options, from, each)) {
      if (damage.may_pass) return fail(Errc::kUnavailable, from + ": " + damage.what);
      file.damaged.push_back(damage.what);
    }
    if (!file.damaged.empty() && last != nullptr && last->bytes == file.content.bytes) {
      file.damaged.push_back(fmt::format(
          "differs from its copy in an earlier backup, {}, which stays while a backup names it",
          last->name()));
    }
    return {};
  }

  FileSystem& files_;
  const std::string data_dir_;
  BackupRepository contents_;
  Counted counted_;
  const std::unique_ptr<rocksdb::Env> env_;
  std::map<std::string, StoredFile> last_;  // of the previous backup
  BackupResult outcome_;
};

// Fails unless `dir` is missing or empty.
Result<void> check_is_free(FileSystem& files, const std::string& dir) {
  TRY(const FileKind kind, files.kind(dir));
  if (kind == FileKind::kNone) return {};
  if (kind == FileKind::kDirectory) {
    TRY(const std::vector<std::string> names, files.list(dir));
    if (names.empty()) return {};
  }
  return fail(Errc::kConflict, fmt::format("{} exists and is not empty", dir));
}

}  // namespace

Result<BackupResult> make_backup(const BackupContext& work, const std::string& data_dir,
                                 BackupStore& store, TimestampMs now) {
  return Making(work, data_dir, store).run(now);
}

namespace {

// Copies all files into `dir`, durably. One error lists every file whose content is wrong.
Result<void> fetch_all(const BackupContext& work, BackupRepository& contents,
                       const Manifest& manifest, const std::string& dir, BackupResult& outcome) {
  FileSystem& files = *work.files;
  Counted counted(work);
  counted.expect(manifest.bytes());
  const auto count = [&counted](std::uint64_t bytes) { return counted.add(bytes); };
  std::set<std::string> dirs = {dir};
  std::string wrong;
  for (const StoredFile& file : manifest.files) {
    const std::string path = dir + "/" + file.path;
    TRY_VOID(make_dirs(files, dir_of(path)));
    dirs.insert(dir_of(path));
    for (const std::string& what : file.damaged) {
      outcome.damaged.push_back(fmt::format("{}: {}", file.path, what));
    }
    Result<void> fetched = contents.fetch(file.content, path, count);
    if (!fetched && fetched.error().code != Errc::kCorruption &&
        fetched.error().code != Errc::kNotFound) {
      return fetched;
    }
    if (!fetched && file.damaged.empty()) {
      wrong += fmt::format("; {}: {}", file.path, fetched.error().message);
    } else if (!fetched) {
      outcome.damaged.push_back(fmt::format("{}: {}", file.path, fetched.error().message));
    }
    ++outcome.files;
    outcome.bytes += file.content.bytes;
    outcome.bytes_copied += fetched ? file.content.bytes : 0;
  }
  if (!wrong.empty()) {
    return fail(Errc::kCorruption,
                fmt::format("nothing was restored because the backup {} is damaged{}; restore an "
                            "earlier one with --backup NAME",
                            outcome.backup, wrong));
  }
  for (const std::string& one : dirs) TRY_VOID(files.sync_dir(one));
  return {};
}

}  // namespace

// Restores under another name first, so that a partial result is not mistaken for a data directory.
Result<BackupResult> restore(const BackupContext& work, BackupStore& store,
                             const std::string& backup, const std::string& data_dir) {
  FileSystem& files = *work.files;
  BackupRepository contents(files, store);
  BackupResult outcome;
  TRY(outcome.backup, contents.find(backup));
  TRY(const Manifest manifest, contents.read(outcome.backup));
  const std::string unfinished = data_dir + ".restoring";
  TRY_VOID(check_is_free(files, data_dir));
  if (Result<void> free = check_is_free(files, unfinished); !free) {
    free.error().message += ": an interrupted restore left it; you can remove it";
    return std::unexpected(std::move(free).error());
  }
  TRY_VOID(make_dirs(files, unfinished));
  Result<void> done = fetch_all(work, contents, manifest, unfinished, outcome);
  if (done) done = files.rename(unfinished, data_dir);
  if (!done) {
    // Leave a clean state for the next attempt.
    const Result<void> removed = remove_tree(files, unfinished);
    if (!removed) {
      done.error().message +=
          fmt::format("; remove {} by hand: {}", unfinished, removed.error().message);
    }
    return std::unexpected(std::move(done).error());
  }
  TRY_VOID(files.sync_dir(dir_of(data_dir)));
  return outcome;
}

}  // namespace halite::storage::backup
