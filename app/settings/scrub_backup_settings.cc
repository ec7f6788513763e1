// The settings of scrub and backup.
#include "app/settings/options.h"
#include "common/units.h"

namespace halite::app {

void declare_scrub_and_backup(Config& config, ScrubBackupOptions& care) {
  config.duration_ms(
      "engine.scrub_interval_ms", care.scrub.interval_ms, {0, 366 * kDayMs},
      "Pause between two checks of all stored files. 0 = only on POST /api/admin/check.");
  config.bytes("engine.scrub_bytes_per_s", care.scrub.bytes_per_s, {64 << 10, 4096 * kMiB},
               "Maximum read rate of the check, per second.");
  config.text(
      "engine.backup_dir", care.backup_dir,
      "Directory for backups made by POST /api/admin/backup, outside the data directory. Empty = "
      "such requests are refused.");
}

}  // namespace halite::app
