// POST /api/admin/backup: keeps what an open server has in engine.backup_dir, one at a time.
//
// All that was acknowledged before it began is in it. Writing goes on meanwhile: a snapshot in the
// data directory, made of second names of its files, is what is copied. One that a process left
// behind goes with the next start.
//
//   Threads   one of its own while it works; calls from any.
//   Lifetime  the stores and the clock outlive it.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/options.h"
#include "app/stores/stores.h"
#include "common/clock.h"
#include "storage/tools/backup/backup.h"

namespace halite::app {

class BackupJob {
 public:
  BackupJob(const Options& options, Stores& stores, const Clock& clock);
  ~BackupJob();  // what runs ends without a backup
  BackupJob(const BackupJob&) = delete;
  BackupJob& operator=(const BackupJob&) = delete;

  // Waits for no disk. kConflict: one is being made, or the place is in the data directory.
  // kUnsupported: nobody said where to.
  Result<void> begin();
  // {"running":..,"began_ms":..,"ended_ms":..,"bytes_done":..,"bytes_total":..} and, once one has
  // ended, "error" or "backup", "files", "bytes", "bytes_copied", "damaged":[..]
  [[nodiscard]] std::string state_json() const;

 private:
  void run(const std::stop_token& stop);
  Result<storage::backup::BackupResult> make(const std::stop_token& stop);
  void remove_checkpoint();
  [[nodiscard]] Result<void> check_location() const;  // whether backups may go there

  const std::string data_dir_;
  const std::string backup_dir_;  // empty: backups are off
  const std::shared_ptr<storage::FileSystem> files_;
  Stores& stores_;
  const Clock& clock_;
  const Result<void> location_;  // as it was at the start

  mutable std::mutex mutex_;
  bool running_ = false;  // the rest is guarded by mutex_
  TimestampMs began_ms_ = 0;
  TimestampMs ended_ms_ = 0;
  storage::backup::Progress progress_;
  std::optional<Result<storage::backup::BackupResult>> outcome_;  // of the last one
  std::jthread thread_;                                           // the last: it uses the others
};

}  // namespace halite::app
