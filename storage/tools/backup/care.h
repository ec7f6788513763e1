// Looks after a backup repository: lists its backups, verifies and removes them.
//
//   Threads  any; blocks.
//   Errors   as those of the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "storage/tools/backup/backup.h"
#include "storage/tools/backup/backup_store.h"

namespace halite::storage::backup {

struct ListedBackup {
  std::string name;  // of its manifest
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string error;  // why its manifest cannot be used; empty: it can
};

// All backups, oldest first.
[[nodiscard]] Result<std::vector<ListedBackup>> list_backups(const BackupContext& work,
                                                             BackupStore& store);

// Reads all contents of a backup and compares their hashes; writes nothing. An empty `backup`
// selects the newest. `damaged` lists what a restore would miss, and what was already damaged when
// it was backed up. kNotFound: no such backup; kCorruption: its manifest is damaged.
[[nodiscard]] Result<BackupResult> verify_backup(const BackupContext& work, BackupStore& store,
                                                 const std::string& backup);

struct PruneResult {
  std::vector<std::string> removed;  // names of manifests, oldest first
  std::uint64_t kept = 0;            // backups
  std::uint64_t files = 0;           // that no backup has, removed
  std::uint64_t bytes = 0;           // of them
};

// Removes all backups but the newest `keep` (at least 1), then the contents that no backup has. If
// a backup that it would keep cannot be read, it removes nothing: kCorruption, kUnsupported.
[[nodiscard]] Result<PruneResult> prune_backups(const BackupContext& work, BackupStore& store,
                                                std::uint32_t keep);

}  // namespace halite::storage::backup
