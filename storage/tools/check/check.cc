#include "storage/tools/check/check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/run_here.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/tools/check/chunk_checker.h"
#include "storage/tools/check/log_checker.h"
#include "storage/tools/check/missing_data.h"
#include "storage/tools/check/name_catalog.h"
#include "storage/tools/check/rocks_files.h"
#include "storage/tools/check/table_checker.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/core/lost_names_check.h"
#include "storage/tsdb/recovery/data_dir_check.h"
#include "storage/tsdb/wal/format.h"

namespace halite::storage::check {
namespace {

constexpr std::string_view kTable = ".sst";

class Checker {
 public:
  explicit Checker(const CheckOptions& options)
      : options_(options),
        files_(*options.files),
        log_dir_(options.engine_dir + "/log"),
        chunks_dir_(options.engine_dir + "/chunks"),
        catalog_(options.engine),
        cells_(catalog_, report_),
        tables_(options.files, cells_, report_) {}

  Result<Report> run() {
    TRY(const bool rocks, has_names(options_));
    TRY(const bool chunks, is_there(chunks_dir_));
    TRY(const bool log, is_there(log_dir_));
    if (!rocks && !chunks && !log) {
      TRY(const bool names_begun, is_there(options_.rocks_dir));
      TRY(const bool engine_begun, is_there(options_.engine_dir));
      if (!names_begun && !engine_begun) {
        return fail(Errc::kNotFound,
                    fmt::format("{} and {} do not exist", options_.rocks_dir, options_.engine_dir));
      }
      note_unfinished();
    }
    Result<void> done = run_parts(rocks, chunks, log);
    if (chunks_ != nullptr) std::ignore = chunks_->close();  // nothing was written
    if (store_ != nullptr) std::ignore = run_here(store_->close());
    if (!done) return std::unexpected(std::move(done).error());
    return std::move(report_);
  }

 private:
  Result<bool> is_there(const std::string& dir) {
    TRY(const FileKind kind, files_.kind(dir));
    return kind == FileKind::kDirectory;
  }

  Result<void> run_parts(bool rocks, bool chunks, bool log) {
    if (rocks) TRY_VOID(open_names());
    TRY(const MissingData missing, look_for_parts(rocks));
    if (missing.unfinished && (chunks || log)) {
      note_unfinished();
      chunks = false;
    }
    const bool engine = (chunks || log || !missing.chunks.empty()) && !missing.unfinished;
    if (!missing.names.empty() || (engine && !rocks)) {
      no_names_ = report_.findings.size();
      add({.file = options_.rocks_dir,
           .what = missing.names.empty() ? "is missing: all names are lost" : missing.names,
           .wants_copy = true});
    }
    if (chunks) TRY_VOID(open_chunks());
    if (engine && !chunks) {
      add({.file = chunks_dir_,
           .what = missing.chunks.empty() ? "is missing" : missing.chunks,
           .wants_copy = true,
           .impact = Impact{.what = "all points that were in chunks"}});
    }
    TRY_VOID(count_bytes(log));
    if (log) TRY_VOID(check_log());
    if (engine && !log) add({.file = log_dir_, .what = "is missing: the newest points are lost"});
    if (rocks) TRY_VOID(check_tables(options_.rocks_dir, TableOf::kNames, names_files_));
    if (chunks) TRY_VOID(check_tables(chunks_dir_, TableOf::kChunks, chunk_files_));
    TRY_VOID(check_together());
    return cells_.report_impact();
  }

  // Names that cannot be read are reported as damaged; they are not missing.
  Result<MissingData> look_for_parts(bool rocks) {
    if (rocks && catalog_.settings() == nullptr && !no_settings_) return MissingData();
    return missing_data(options_, catalog_.settings());
  }

  void note_unfinished() {
    report_.notes.push_back("the first start was interrupted: nothing was stored yet");
  }

  void add(Finding finding) { report_.findings.push_back(std::move(finding)); }

  // Reports a directory that cannot be opened because of damage; other errors end the check.
  Result<void> add_unopened(const std::string& dir, const Error& error) {
    if (error.code == Errc::kConflict || error.code == Errc::kUnavailable ||
        error.code == Errc::kUnsupported) {
      return std::unexpected(error);
    }
    add({.file = dir, .what = error.message});
    return {};
  }

  Result<void> check_directory(const std::string& dir) {
    TRY(std::vector<Finding> findings, check_rocks_files(files_, tables_.env(), dir));
    for (Finding& finding : findings) add(std::move(finding));
    TRY(const std::vector<std::string> asides, rocks::list_aside(files_, dir));
    for (const std::string& aside : asides) {
      report_.notes.push_back(aside + ": the removed end of the manifest, and the tables it named");
    }
    return {};
  }

  Result<void> open_names() {
    RocksOptions rocks;
    rocks.dir = options_.rocks_dir;
    rocks.files = options_.files;
    rocks.read_only = true;
    rocks.read_threads = 1;
    // Open first, because this takes the lock.
    auto opened = RocksStore::open(rocks, clock_, registry_);
    if (!opened && opened.error().code == Errc::kConflict) return std::unexpected(opened.error());
    TRY_VOID(check_directory(options_.rocks_dir));
    if (!opened) return add_unopened(options_.rocks_dir, opened.error());
    store_ = *std::move(opened);
    names_files_ = store_->live_files();
    const Result<void> read = catalog_.read(*store_);
    no_settings_ = !read && read.error().code == Errc::kNotFound;
    if (read || no_settings_) return {};
    return add_unopened(options_.rocks_dir, read.error());
  }

  Result<void> open_chunks() {
    TRY_VOID(check_directory(chunks_dir_));
    engine::ChunkDbOptions chunks;
    chunks.dir = chunks_dir_;
    chunks.files = options_.files;
    chunks.read_only = true;
    auto opened = engine::ChunkDb::open(chunks);
    if (!opened) return add_unopened(chunks_dir_, opened.error());
    chunks_ = *std::move(opened);
    chunk_files_ = chunks_->tables->live_files();
    return {};
  }

  Result<void> count_bytes(bool log) {
    for (const auto* const files : {&names_files_, &chunk_files_}) {
      for (const rocks::LiveFile& file : *files) progress_.bytes_total += file.bytes;
    }
    if (!log) return {};
    TRY(const std::vector<std::string> names, files_.list(log_dir_));
    for (const std::string& name : names) {
      if (!name.ends_with(".log")) continue;
      TRY(const std::uint64_t bytes, files_.size(log_dir_ + "/" + name));
      progress_.bytes_total += std::min(bytes, log_format::kSegmentBytesMax);
    }
    return {};
  }

  void note_read(const std::string& file, std::uint64_t bytes) {
    ++report_.files;
    report_.bytes += bytes;
    progress_.bytes_done += bytes;
    progress_.file = file;
    if (options_.progress) options_.progress(progress_);
  }

  Result<void> check_log() {
    const std::uint64_t position =
        chunks_ != nullptr ? chunks_->states.mark().log_position : engine::kUnknownPosition;
    LogChecker log(catalog_, report_);
    return log.check(
        files_, log_dir_, position,
        [this](const std::string& file, std::uint64_t bytes) { note_read(file, bytes); });
  }

  // Checks all tables present if it is unknown which of them are valid.
  Result<void> check_tables(const std::string& dir, TableOf of,
                            std::vector<rocks::LiveFile>& files) {
    const bool opened = of == TableOf::kNames ? store_ != nullptr : chunks_ != nullptr;
    if (!opened) {
      TRY(const std::vector<std::string> names, files_.list(dir));
      for (const std::string& name : names) {
        if (name.ends_with(kTable)) files.push_back({.path = dir + "/" + name});
      }
    }
    for (const rocks::LiveFile& file : files) {
      TRY(const std::uint64_t bytes, tables_.check(file, of, opened));
      note_read(file.path, bytes);
    }
    return {};
  }

  // Compares names, chunks and the write-ahead log with each other.
  Result<void> check_together() {
    report_.series = catalog_.series();
    if (no_names_ && cells_.nameless().points > 0) {
      report_.findings[*no_names_].impact =
          Impact{.what = fmt::format("{} points in chunks, of {} series without names",
                                     cells_.nameless().points, cells_.nameless().series)};
    }
    if (chunks_ == nullptr || catalog_.retention() == nullptr) return {};
    const auto settled = run_here(engine::LostNamesCheck::check(
        catalog_.settings(), chunks_->states, {.dir = options_.engine_dir, .accept = false}));
    if (!settled) add({.file = options_.rocks_dir, .what = settled.error().message});
    const Result<void> cut = engine::check_log_covers(files_,
                                                      {.files = options_.files,
                                                       .engine = options_.engine_dir,
                                                       .chunks = chunks_dir_,
                                                       .log = log_dir_},
                                                      chunks_->states.mark().log_position);
    if (!cut) add({.file = chunks_dir_, .what = cut.error().message});
    return check_unknown();
  }

  // Reports cells of series without names, unless the series were removed since.
  Result<void> check_unknown() {
    std::set<Bytes> told;
    for (const auto& [prefix, unknown] : cells_.unknown()) {
      if (!chunks_->views.any_with(prefix) || !told.insert(unknown.tsuid).second) continue;
      add({.file = unknown.file,
           .what = "holds points of a series that has no names: " + to_hex(unknown.tsuid),
           .impact = Impact{
               .what = "points", .series = {catalog_.text(unknown.tsuid)}, .series_max = 1}});
    }
    return {};
  }

  const CheckOptions& options_;
  FileSystem& files_;
  const std::string log_dir_;
  const std::string chunks_dir_;
  SystemClock clock_;
  prometheus::Registry registry_;
  Report report_;
  Progress progress_;
  std::unique_ptr<RocksStore> store_;        // null: could not be opened
  std::unique_ptr<engine::ChunkDb> chunks_;  // null: could not be opened
  bool no_settings_ = false;  // the settings are readable, but have no entry of an engine
  std::optional<std::size_t> no_names_;  // the finding that reports the missing names
  std::vector<rocks::LiveFile> names_files_;
  std::vector<rocks::LiveFile> chunk_files_;
  NameCatalog catalog_;
  ChunkChecker cells_;
  TableChecker tables_;
};

}  // namespace

Result<Report> check_stored(const CheckOptions& options) { return Checker(options).run(); }

}  // namespace halite::storage::check
