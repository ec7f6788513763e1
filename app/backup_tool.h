// halite backup, halite restore.
#pragma once

#include <cstdint>
#include <string>

#include "app/client/http_client.h"
#include "app/options.h"
#include "app/print.h"

namespace halite::app {

// How it ended, as the process's exit status.
enum class BackupStatus : std::uint8_t {
  kDone = 0,
  kDamaged = 1,  // done, and something of it is damaged
  kNotDone = 2,
};

// Of options.data_dir into `to`, while no server writes there. Where points or their names are
// missing altogether, what is left is kept, and that is said (kDamaged).
[[nodiscard]] BackupStatus backup_data_dir(const Options& options, const std::string& to,
                                           const Print& out, const Print& err);

// Asks a server to keep a backup where its settings say, and waits for it. The token is one of an
// administrator.
[[nodiscard]] BackupStatus backup_server(const std::string& url, const PeerFiles& files,
                                         const Print& out, const Print& err);

struct RestoreFlags {
  std::string from;      // a directory of backups
  std::string backup;    // one of them; empty = the newest
  std::string data_dir;  // not there, or empty
};
[[nodiscard]] BackupStatus restore_data_dir(const Options& options, const RestoreFlags& flags,
                                            const Print& out, const Print& err);

}  // namespace halite::app
