#include "storage/tools/check/repair.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <prometheus/registry.h>
#include <rocksdb/env.h>

#include "common/clock.h"
#include "common/threads/run_here.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/inspect/forget_table.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/backends/rocks/inspect/table_check.h"
#include "storage/backends/rocks/inspect/wal_check.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/files/fenced_files.h"
#include "storage/tools/check/rocks_files.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/recovery/data_dir_check.h"

namespace halite::storage::check {
namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

class Repair {
 public:
  Repair(const CheckOptions& options, std::string aside)
      : options_(options),
        files_(*options.files),
        aside_(std::move(aside)),
        chunks_dir_(options.engine_dir + "/chunks"),
        env_(rocksdb::NewCompositeEnv(
            rocks::make_file_system(options.files, std::make_shared<WriteFence>()))) {}

  Result<RepairReport> run() {
    TRY(done_.before, check_stored(options_));
    if (done_.before.findings.empty()) return std::move(done_);
    // Report the completed actions even after an error.
    if (Result<void> all = repair_all(); !all) done_.ended_by = std::move(all).error();
    return std::move(done_);
  }

 private:
  Result<void> repair_all() {
    tell_what_wants_a_copy();
    for (const std::string& dir : {options_.rocks_dir, chunks_dir_}) {
      TRY(const FileKind kind, files_.kind(dir));
      if (kind == FileKind::kDirectory && !wants_copy(dir)) TRY_VOID(repair_database(dir));
    }
    return set_missed_end_aside();
  }

  [[nodiscard]] bool wants_copy(const std::string& file) const {
    return std::ranges::any_of(done_.before.findings, [&](const Finding& finding) {
      return finding.wants_copy && finding.file == file;
    });
  }

  void tell_what_wants_a_copy() {
    for (const Finding& finding : done_.before.findings) {
      if (!finding.wants_copy) continue;
      done_.left.push_back(
          fmt::format("{}: it cannot be recreated; restore the whole data directory from a copy",
                      finding.file));
    }
  }

  Result<void> repair_database(const std::string& dir) {
    TRY(const rocks::ManifestLook look, rocks::look_at_manifest(files_, dir));
    if (look.manifest.empty() || (look.bad_offset && !look.torn)) {
      done_.left.push_back(
          fmt::format("{}: the valid tables are unknown without the manifest; restore the whole "
                      "data directory from a copy",
                      dir));
      return {};
    }
    if (look.bad_offset) {
      done_.left.push_back(
          look.manifest +
          ": the next start removes its end, or reports the data that depends on it");
      return {};
    }
    if (dir == options_.rocks_dir) TRY_VOID(cut_logs(dir));
    // Examine all tables before removing the first.
    TRY(const std::vector<rocks::LiveFile> tables, tables_of(dir));
    std::vector<std::string> whys;
    for (const rocks::LiveFile& table : tables) {
      TRY(whys.emplace_back(), why_unreadable(table));
    }
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (!whys[i].empty()) TRY_VOID(repair_table(dir, tables[i], whys[i]));
    }
    return {};
  }

  Result<std::vector<rocks::LiveFile>> tables_of(const std::string& dir) {
    if (dir == chunks_dir_) {
      engine::ChunkDbOptions chunks;
      chunks.dir = dir;
      chunks.files = options_.files;
      chunks.read_only = true;
      TRY(const std::unique_ptr<engine::ChunkDb> opened, engine::ChunkDb::open(chunks));
      std::vector<rocks::LiveFile> tables = opened->tables->live_files();
      TRY_VOID(opened->close());
      return tables;
    }
    RocksOptions rocks;
    rocks.dir = dir;
    rocks.files = options_.files;
    rocks.read_only = true;
    prometheus::Registry registry;
    const SystemClock clock;
    TRY(const std::unique_ptr<RocksStore> store, RocksStore::open(rocks, clock, registry));
    std::vector<rocks::LiveFile> tables = store->live_files();
    TRY_VOID(run_here(store->close()));
    return tables;
  }

  // Why the table is completely unreadable; empty if a part is readable. An error if that cannot be
  // determined.
  Result<std::string> why_unreadable(const rocks::LiveFile& table) {
    TRY(const FileKind kind, files_.kind(table.path));
    if (kind != FileKind::kFile) return std::string("is missing");
    TRY(const std::uint64_t bytes, files_.size(table.path));
    if (bytes != table.bytes) return fmt::format("has {} bytes of {}", bytes, table.bytes);
    rocksdb::Options options;
    options.env = env_.get();
    return rocks::why_unopenable(files_, options, table.path);
  }

  Result<void> repair_table(const std::string& dir, const rocks::LiveFile& table,
                            const std::string& why) {
    // A server removes tables that no manifest names, so keep the file aside first.
    TRY(const FileKind kind, files_.kind(table.path));
    const bool there = kind == FileKind::kFile;
    if (there) TRY_VOID(keep_aside(table.path, dir));
    TRY_VOID(rocks::forget_table(env_.get(), dir, name_of(table.path)));
    done_.set_aside.push_back(fmt::format("{} ({}): {}", table.path, table.family, why));
    if (dir == options_.rocks_dir) tell_names_are_lost();
    return there ? remove(table.path) : Result<void>();
  }

  Result<std::string> place_for(const std::string& dir, const std::string& name) {
    const std::string to = fmt::format("{}/{}", aside_, name_of(dir));
    TRY_VOID(make_dirs(files_, to));
    return to + "/" + name;
  }

  Result<void> move_aside(const std::string& path, const std::string& dir) {
    TRY(const std::string to, place_for(dir, name_of(path)));
    TRY_VOID(files_.rename(path, to));
    TRY_VOID(files_.sync_dir(dir_of(to)));
    return files_.sync_dir(dir_of(path));
  }

  // Links the file into the set-aside directory, or copies it if it cannot be linked. Durable.
  Result<void> keep_aside(const std::string& path, const std::string& dir) {
    TRY(const std::string to, place_for(dir, name_of(path)));
    Result<void> linked = files_.link(path, to);
    if (!linked) {
      if (linked.error().code == Errc::kConflict) return linked;
      TRY_VOID(copy(path, to));
    }
    return files_.sync_dir(dir_of(to));
  }

  Result<void> copy(const std::string& from, const std::string& to) {
    TRY(const std::unique_ptr<File> read, files_.open(from, OpenFile::kRead));
    TRY(const std::unique_ptr<File> written, files_.open(to, OpenFile::kCreate));
    Bytes buffer(kCopyBytes, '\0');
    for (std::uint64_t offset = 0;;) {
      TRY(const std::size_t got, read->pread(offset, buffer));
      if (got == 0) return written->sync();
      TRY_VOID(written->append(BytesView(buffer).substr(0, got)));
      offset += got;
    }
  }

  Result<void> remove(const std::string& path) {
    TRY_VOID(files_.remove(path));
    return files_.sync_dir(dir_of(path));
  }

  // The rest of the log and all later logs may depend on the damaged record, so none of them can be
  // used. Moves the newest aside first, so that the remaining logs never have a gap.
  Result<void> cut_logs(const std::string& dir) {
    const auto floor = [this, &dir] { return lowest_log_needed(env_.get(), dir); };
    TRY(const std::vector<rocks::LogDefect> defects, rocks::find_log_defects(files_, dir, floor));
    const auto first = std::ranges::find_if(defects, &rocks::LogDefect::damaged);
    if (first == defects.end()) return {};  // the next start cuts off a torn end itself
    TRY(const std::vector<std::string> behind, logs_behind(dir, name_of(first->path)));
    for (const std::string& path : behind) {
      TRY_VOID(keep_aside(path, dir));
      TRY_VOID(remove(path));
      done_.set_aside.push_back(fmt::format("{}: it follows {}", path, first->path));
    }
    TRY(const std::string to, place_for(dir, name_of(first->path)));
    TRY_VOID(copy(first->path, to));  // copied, because the original is truncated in place
    TRY_VOID(files_.sync_dir(dir_of(to)));
    TRY(const std::unique_ptr<File> file, files_.open(first->path, OpenFile::kWrite));
    TRY_VOID(file->truncate(*first->scan.bad_offset));
    TRY_VOID(file->sync());
    done_.set_aside.push_back(
        fmt::format("{}: all from byte {} on", first->path, *first->scan.bad_offset));
    tell_names_are_lost();
    return {};
  }

  // Paths of later logs that are not empty, newest first.
  Result<std::vector<std::string>> logs_behind(const std::string& dir, const std::string& name) {
    // Names are numbers of at least six digits.
    const auto order = [](const std::string& one) { return std::pair(one.size(), one); };
    TRY(std::vector<std::string> names, files_.list(dir));
    std::erase_if(names, [&](const std::string& one) {
      return !one.ends_with(".log") || order(one) <= order(name);
    });
    std::ranges::sort(names, std::greater(), order);
    std::vector<std::string> paths;
    for (const std::string& one : names) {
      TRY(const std::uint64_t bytes, files_.size(dir + "/" + one));
      if (bytes > 0) paths.push_back(dir + "/" + one);
    }
    return paths;
  }

  void tell_names_are_lost() {
    if (names_are_lost_) return;
    names_are_lost_ = true;
    done_.left.push_back(
        "names are lost: if the server reports this at start-up, set engine.accept_lost_names to "
        "continue without those series");
  }

  // Moves aside the cut-off end of the chunks' manifest if the start refuses to continue without
  // it.
  Result<void> set_missed_end_aside() {
    TRY(const FileKind kind, files_.kind(chunks_dir_));
    if (kind != FileKind::kDirectory) return {};
    TRY(const std::vector<std::string> kept, rocks::list_aside(files_, chunks_dir_));
    if (kept.empty()) return {};
    engine::ChunkDbOptions chunks;
    chunks.dir = chunks_dir_;
    chunks.files = options_.files;
    chunks.read_only = true;
    TRY(const std::unique_ptr<engine::ChunkDb> opened, engine::ChunkDb::open(chunks));
    const engine::EngineDirs dirs{.files = options_.files,
                                  .engine = options_.engine_dir,
                                  .chunks = chunks_dir_,
                                  .log = options_.engine_dir + "/log"};
    const Result<void> missed =
        engine::check_log_covers(files_, dirs, opened->states.mark().log_position);
    TRY_VOID(opened->close());
    if (missed) return {};  // the start removes it
    for (const std::string& path : kept) {
      TRY_VOID(move_aside(path, chunks_dir_));
      done_.set_aside.push_back(fmt::format("{}: {}", path, missed.error().message));
    }
    return {};
  }

  const CheckOptions& options_;
  FileSystem& files_;
  const std::string aside_;
  const std::string chunks_dir_;
  const std::unique_ptr<rocksdb::Env> env_;
  bool names_are_lost_ = false;  // already reported
  RepairReport done_;
};

}  // namespace

Result<RepairReport> repair_stored(const CheckOptions& options, const std::string& aside) {
  return Repair(options, aside).run();
}

}  // namespace halite::storage::check
