#include "app/server/backup_job.h"

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "app/tools/backup_place.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/units.h"
#include "storage/files/posix_files.h"
#include "storage/files/remove_tree.h"
#include "storage/tools/backup/repository.h"

namespace halite::app {
namespace {

using storage::backup::BackupResult;

constexpr std::string_view kSnapshot = "/snapshot";

void log_outcome(const Result<BackupResult>& outcome) {
  if (!outcome) {
    log::error("backup failed: {}", outcome.error().message);
    return;
  }
  log::info("the backup {} has {} files of {:.1f} MiB, {:.1f} MiB of them new", outcome->backup,
            outcome->files, static_cast<double>(outcome->bytes) / kMiB,
            static_cast<double>(outcome->bytes_copied) / kMiB);
  for (const std::string& what : outcome->damaged) {
    log::error("the backup found damage: {}", what);
  }
}

}  // namespace

Result<void> check_backup_dir(const Options& options) {
  const std::string& dir = options.care.backup_dir;
  if (dir.empty() || !has_data_dir(options.store)) return {};
  const Result<void> good = check_backup_place(dir, options.care.s3, options.data_dir);
  if (good) return {};
  const Errc code = good.error().code;
  if (code != Errc::kConflict && code != Errc::kInvalidArgument) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("engine.backup_dir = {}: {}", dir, good.error().message));
}

BackupJob::BackupJob(const Options& options, Stores& stores, const Clock& clock,
                     prometheus::Registry& registry)
    : data_dir_(std::filesystem::absolute(options.data_dir).lexically_normal().string()),
      backup_dir_(options.care.backup_dir),
      s3_(options.care.s3),
      files_(options.environment.files != nullptr ? options.environment.files
                                                  : storage::posix_files()),
      stores_(stores),
      clock_(clock),
      location_(check_location()) {
  remove_checkpoint();
  if (backup_dir_.empty()) return;
  newest_seconds_ = &add_gauge(registry, "halite_backup_newest_time_seconds",
                               "Time of the newest backup in engine.backup_dir, in seconds since "
                               "1970. 0 = there is none.");
  failures_ = &add_counter(registry, "halite_backup_failures_total", "Backups that failed.");
  if (is_remote_place(backup_dir_)) {
    looking_ = std::jthread([this](const std::stop_token& stop) { note_newest(stop); });
  } else {
    note_newest({});
  }
}

BackupJob::~BackupJob() = default;

Result<void> BackupJob::check_location() const {
  if (backup_dir_.empty()) {
    return fail(Errc::kUnsupported, "engine.backup_dir is not set");
  }
  return check_backup_place(backup_dir_, s3_, data_dir_);
}

Result<std::unique_ptr<storage::backup::BackupStore>> BackupJob::open_store(
    const std::stop_token& stop) const {
  return open_backup_store({.place = backup_dir_, .s3 = s3_, .files = *files_, .ended = [stop] {
                              return stop.stop_requested();
                            }});
}

Result<void> BackupJob::begin() {
  TRY_VOID(location_);
  const std::lock_guard lock(mutex_);
  if (running_) return fail(Errc::kConflict, "a backup is already running");
  running_ = true;
  began_ms_ = clock_.now_ms();
  ended_ms_ = 0;
  progress_ = {};
  if (thread_.joinable()) thread_.join();  // it has finished
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return {};
}

void BackupJob::run(const std::stop_token& stop) {
  Result<BackupResult> outcome = make(stop);
  log_outcome(outcome);
  if (!outcome) failures_->Increment();
  if (looking_.joinable()) {
    looking_.request_stop();  // its answer would be out of date
    looking_.join();
  }
  note_newest(stop);
  const std::lock_guard lock(mutex_);
  outcome_ = std::move(outcome);
  ended_ms_ = clock_.now_ms();
  running_ = false;
}

Result<BackupResult> BackupJob::make(const std::stop_token& stop) {
  TRY_VOID(check_location());  // links may have changed since the start
  const std::string checkpoint = data_dir_ + std::string(kSnapshot);
  const TimestampMs began = clock_.now_ms();
  const Result<void> taken = stores_.checkpoint(checkpoint);
  Result<BackupResult> made = fail(Errc::kInternal, "not made");
  if (taken) {
    const storage::backup::BackupContext work{
        .files = files_,
        .progress =
            [this](const storage::backup::Progress& progress) {
              const std::lock_guard lock(mutex_);
              progress_ = progress;
            },
        .ended = [&stop] { return stop.stop_requested(); }};
    const auto store = open_store(stop);
    made = store ? storage::backup::make_backup(work, checkpoint, **store, began)
                 : std::unexpected(store.error());
  } else {
    made = std::unexpected(taken.error());
  }
  remove_checkpoint();
  return made;
}

void BackupJob::remove_checkpoint() {
  const std::string checkpoint = data_dir_ + std::string(kSnapshot);
  const Result<void> removed = remove_tree(*files_, checkpoint);
  if (!removed) {
    log::warn("cannot remove {}, the next start removes it: {}", checkpoint,
              removed.error().message);
  }
}

// An unreadable target leaves the metric as it is: a backup that reads it fails, too.
void BackupJob::note_newest(const std::stop_token& stop) {
  const auto newest = [this, &stop]() -> Result<TimestampMs> {
    TRY(const auto store, open_store(stop));
    storage::backup::BackupRepository repository(*files_, *store);
    TRY(const std::vector<std::string> names, repository.backups());
    if (names.empty()) return TimestampMs{0};
    TRY(const storage::backup::Manifest manifest, repository.read(names.back()));
    return manifest.made_ms;
  }();
  if (newest) {
    newest_seconds_->Set(static_cast<double>(*newest) / 1000);
  } else if (newest.error().code != Errc::kNotFound && newest.error().code != Errc::kCancelled) {
    log::warn("the time of the newest backup is unknown: {}", newest.error().message);
  }
}

std::string BackupJob::state_json() const {
  const std::lock_guard lock(mutex_);
  boost::json::object object;
  object["running"] = running_;
  object["began_ms"] = began_ms_;
  object["ended_ms"] = ended_ms_;
  object["bytes_done"] = progress_.bytes_done;
  object["bytes_total"] = progress_.bytes_total;
  if (!running_ && outcome_) {
    if (*outcome_) {
      const BackupResult& outcome = **outcome_;
      object["backup"] = outcome.backup;
      object["files"] = outcome.files;
      object["bytes"] = outcome.bytes;
      object["bytes_copied"] = outcome.bytes_copied;
      boost::json::array& damaged = object["damaged"].emplace_array();
      for (const std::string& what : outcome.damaged) damaged.emplace_back(what);
    } else {
      object["error"] = outcome_->error().message;
    }
  }
  return boost::json::serialize(object);
}

}  // namespace halite::app
