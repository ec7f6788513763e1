// POST /api/admin/backup: backs up an open server to engine.backup_dir, one backup at a time.
//
// The backup contains everything acknowledged before it began. Writes continue meanwhile: the
// source is a checkpoint of hard links in the data directory. The next start removes a checkpoint
// that a process left behind.
//
//   Threads   a separate thread does the work; call from any thread.
//   Lifetime  the stores, the clock and the registry outlive this object.
//   Metrics   only with a target: the time of its newest backup, read at the start and after each
//             backup; failed backups.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "common/clock.h"
#include "storage/tools/backup/backup.h"

namespace prometheus {
class Counter;
class Gauge;
class Registry;
}  // namespace prometheus

namespace halite::app {

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
  void note_newest();                                 // in the metric
  [[nodiscard]] Result<void> check_location() const;  // whether backups may be stored there

  const std::string data_dir_;
  const std::string backup_dir_;  // empty = backups are off
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
  std::jthread thread_;                                           // last: it uses the others
};

}  // namespace halite::app
