// POST /api/admin/backup: backs up an open server to engine.backup_dir, one backup at a time. The
// place is a directory or an S3 store.
//
// The backup contains everything acknowledged before it began. Writes continue meanwhile: the
// source is a checkpoint of hard links in the data directory. The next start removes a checkpoint
// that a process left behind.
//
//   Threads   a separate thread does the work; call from any thread.
//   Lifetime  the stores, the clock and the registry outlive this object.
//   Metrics   only with a target: the time of its newest backup, read at the start and after each
//             backup; failed backups. At the start another thread asks an S3 store.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "common/clock.h"
#include "storage/tools/backup/backup.h"
#include "storage/tools/backup/backup_store.h"

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::app {

// kInvalidArgument: engine.backup_dir is in the data directory, or is a wrong URL. Other errors are
// those of a backup.
[[nodiscard]] Result<void> check_backup_dir(const Options& options);

class BackupJob {
 public:
  BackupJob(const Options& options, Stores& stores, const Clock& clock,
            prometheus::Registry& registry);
  ~BackupJob();  // stops a running backup
  BackupJob(const BackupJob&) = delete;

  // Waits for no disk. kConflict: a backup is running, or the target is in the data directory.
  // kUnsupported: no target is set.
  Result<void> begin();
  // {"running":..,"began_ms":..,"ended_ms":..,"bytes_done":..,"bytes_total":..} and, once one has
  // ended, "error" or "backup", "files", "bytes", "bytes_copied", "damaged":[..]
  [[nodiscard]] std::string state_json() const;

 private:
  void run(const std::stop_token& stop);
  Result<storage::backup::BackupResult> make(const std::stop_token& stop);
  void remove_checkpoint();
  void note_newest(const std::stop_token& stop);  // in the metric
  [[nodiscard]] Result<std::unique_ptr<storage::backup::BackupStore>> open_store(
      const std::stop_token& stop) const;
  [[nodiscard]] Result<void> check_location() const;  // whether backups may be stored there

  const std::string data_dir_;
  const std::string backup_dir_;  // empty = backups are off
  const S3Settings s3_;           // if it is an S3 store
  const std::shared_ptr<storage::FileSystem> files_;
  Stores& stores_;
  const Clock& clock_;
  const Result<void> location_;                  // checked at the start
  prometheus::Gauge* newest_seconds_ = nullptr;  // null without a target
  prometheus::Counter* failures_ = nullptr;

  mutable std::mutex mutex_;
  bool running_ = false;  // with the rest, guarded by mutex_
  TimestampMs began_ms_ = 0;
  TimestampMs ended_ms_ = 0;
  storage::backup::Progress progress_;
  std::optional<Result<storage::backup::BackupResult>> outcome_;  // of the last backup
  // Last: they use the others.
  std::jthread looking_;  // for the newest backup, at the start
  std::jthread thread_;
};

}  // namespace halite::app
