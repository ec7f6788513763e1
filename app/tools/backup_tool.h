// `halite backup`, `halite restore` and `halite backups`.
#pragma once

#include <cstdint>
#include <string>

#include "app/client/http_client.h"
#include "app/settings/options.h"
#include "app/tools/print.h"

namespace halite::app {

// The outcome, as the process's exit status.
enum class BackupStatus : std::uint8_t {
  kDone = 0,
  kDamaged = 1,  // done, but some data is damaged
  kNotDone = 2,
};

// Run by root, these tools give what they create in an existing directory to its owner.

// Backs up options.data_dir to the place `to` (backup_place.h), while no server writes there. If
// all points or all names are missing, it backs up the rest and reports that (kDamaged).
[[nodiscard]] BackupStatus backup_data_dir(const Options& options, const std::string& to,
                                           const Print& out, const Print& err);

// Asks a server to make a backup in its configured directory, and waits for it. The token needs the
// role admin.
[[nodiscard]] BackupStatus backup_server(const std::string& url, const PeerFiles& files,
                                         const Print& out, const Print& err);

struct RestoreFlags {
  std::string from;      // a place of backups
  std::string backup;    // a name in it; empty = the newest
  std::string data_dir;  // absent or empty
};
[[nodiscard]] BackupStatus restore_data_dir(const Options& options, const RestoreFlags& flags,
                                            const Print& out, const Print& err);

// Prints a line for each backup in the place `in`. kDamaged: a manifest cannot be read.
[[nodiscard]] BackupStatus list_backups(const Options& options, const std::string& in,
                                        const Print& out, const Print& err);

// Reads all contents of a backup; an empty `backup` is the newest.
[[nodiscard]] BackupStatus verify_backup(const Options& options, const std::string& in,
                                         const std::string& backup, const Print& out,
                                         const Print& err);

// Removes all backups but the newest `keep`, and the contents that no backup has.
[[nodiscard]] BackupStatus prune_backups(const Options& options, const std::string& in,
                                         std::uint32_t keep, const Print& out, const Print& err);

}  // namespace halite::app
