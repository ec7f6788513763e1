// Settings of stored data's care: what reads it over and over, where backups go.
#include "app/options.h"
#include "common/units.h"

namespace halite::app {

void declare_care(Config& config, CareOptions& care) {
  config.duration_ms("engine.scrub_interval_ms", care.scrub.interval_ms, {0, 366 * kDayMs},
                     "So long after the last time all stored files are read and checked again; 0 = "
                     "only by POST /api/admin/check.");
  config.bytes("engine.scrub_bytes_per_s", care.scrub.bytes_per_s, {64 << 10, 4096 * kMiB},
               "So fast, at most.");
  config.text("engine.backup_dir", care.backup_dir,
              "Where POST /api/admin/backup keeps backups; empty = it is refused.");
}

}  // namespace halite::app
