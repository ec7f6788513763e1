// Cuts off what a power cut tore at the end of RocksDB's manifest, which RocksDB takes for damage:
// it opens nothing when a record there has its full length, but not its content.
//
// RocksDB syncs the manifest after every change before it relies on it. So a bad record was synced
// when a whole one stands behind it, and is damage then, left for RocksDB to refuse. But one change
// of two column families is two records, so one whole last part of such a pair may follow.
//
//   Threads  before the database is opened. Blocks.
#pragma once

#include <string>

#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

// No error where there is no manifest, or nothing to cut.
[[nodiscard]] Result<void> cut_torn_manifest(FileSystem& files, const std::string& dir);

}  // namespace halite::storage::rocks
