// Cuts off the torn end of RocksDB's manifest after a power failure. RocksDB treats it as damage:
// it does not open a database whose last record has its full length but not its content.
//
// RocksDB syncs the manifest after each change before it relies on it. So if a whole record follows
// a bad one, the bad one was synced and is damaged; RocksDB then refuses it. One exception: a
// change of two column families is two records, so the whole last record of such a pair may follow.
//
// The bad record may also have been synced and damaged later. So the cut bytes, and all tables that
// RocksDB may then delete as obsolete, stay in a directory "aside-<manifest>" until an
// administrator knows that nothing needs them.
//
//   Threads  Call before the database is opened, or while it is open. Blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// The state of the current manifest.
struct ManifestLook {
  std::string manifest;  // path; empty = the file that CURRENT names does not exist
  std::optional<std::uint64_t> bad_offset;  // of the first record that is not whole
  bool torn = false;                        // a power failure may have caused it
};
[[nodiscard]] Result<ManifestLook> look_at_manifest(FileSystem& files, const std::string& dir);

struct ManifestCut {
  std::string manifest;      // path; empty = nothing was cut
  std::uint64_t offset = 0;  // of the cut
  Bytes tail;                // the bytes that were cut
  std::string aside;         // the directory with the originals

  [[nodiscard]] bool made() const { return !manifest.empty(); }
};

// Succeeds if there is no manifest, or nothing to cut.
[[nodiscard]] Result<ManifestCut> cut_torn_manifest(FileSystem& files, const std::string& dir);

// Restores the end if the database could not be opened without it and RocksDB still uses that
// manifest.
[[nodiscard]] Result<void> undo_cut(FileSystem& files, const ManifestCut& cut);

// Removes files that the opened database has (names, without the path) from `aside`. Returns the
// number of tables that remain there.
[[nodiscard]] Result<std::size_t> keep_orphans(FileSystem& files, const std::string& aside,
                                               const std::set<std::string>& live);

// The directories "aside-<manifest>", including those of earlier starts. Paths.
[[nodiscard]] Result<std::vector<std::string>> list_aside(FileSystem& files,
                                                          const std::string& dir);
[[nodiscard]] Result<void> remove_aside(FileSystem& files, const std::string& aside);

}  // namespace halite::storage::rocks
