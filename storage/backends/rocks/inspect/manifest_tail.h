// Cuts off what a power cut tore at the end of RocksDB's manifest, which RocksDB takes for damage:
// it opens nothing when a record there has its full length, but not its content.
//
// RocksDB syncs the manifest after every change before it relies on it. So a bad record was synced
// when a whole one stands behind it, and is damage then, left for RocksDB to refuse. But one change
// of two column families is two records, so one whole last part of such a pair may follow.
//
// The last record may have been synced all the same, and rotted since. So what is cut off, and all
// tables that RocksDB may take for forgotten ones then, stay in a directory of their own,
// "aside-<manifest>", until somebody knows that nothing relied on it.
//
//   Threads  before the database is opened, or beside it. Blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// The manifest in use, as it is.
struct ManifestLook {
  std::string manifest;                     // path; empty = CURRENT names none that is there
  std::optional<std::uint64_t> bad_offset;  // of the first record that is not whole
  bool torn = false;                        // it may be what a power cut left
};
[[nodiscard]] Result<ManifestLook> look_at_manifest(FileSystem& files, const std::string& dir);

struct ManifestCut {
  std::string manifest;      // path; empty = nothing was cut off
  std::uint64_t offset = 0;  // where
  Bytes tail;                // what
  std::string aside;         // where all is, as it was

  [[nodiscard]] bool made() const { return !manifest.empty(); }
};

// No error where there is no manifest, or nothing to cut.
[[nodiscard]] Result<ManifestCut> cut_torn_manifest(FileSystem& files, const std::string& dir);

// The database could not be opened with the rest: the end is put back, where RocksDB still uses
// that manifest.
[[nodiscard]] Result<void> undo_cut(FileSystem& files, const ManifestCut& cut);

// It was opened, and has these files (names, without the path): they need not be in `aside`. The
// number of tables that are left there.
[[nodiscard]] Result<std::size_t> keep_orphans(FileSystem& files, const std::string& aside,
                                               const std::set<std::string>& live);

// Directories "aside-<manifest>", of which some may be of earlier starts. Paths.
[[nodiscard]] Result<std::vector<std::string>> list_aside(FileSystem& files,
                                                          const std::string& dir);
[[nodiscard]] Result<void> remove_aside(FileSystem& files, const std::string& aside);

}  // namespace halite::storage::rocks
