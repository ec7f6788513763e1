// Hands HFiles to a table: each region moves its files into its store, and readers see them at
// once.
//
//   auto loading = load_files(client, *directory, {.table = "tsdb", .family = "t", .files =
//   files}); CO_TRY(const std::vector<LoadedFile> outcomes, co_await std::move(loading));
//
//   Atomic   for the files of one call to one region (files_per_call_max), not beyond.
//   Order    the cells of a file are newer than all cells written before with an equal time.
//   Twice    A file may be loaded twice if an answer is lost; its cells are the same.
//   Regions  A file whose rows are not in one region is not loaded: kSeveralRegions. The caller
//            writes it again, cut at the borders that Client::region_ranges() returns now.
//   Refusals HBase does not say why it refuses. The file is then where it was or in the staging
//            directory, from which it is taken back, and is sent again after a pause; the last
//            error names the server, whose log has the reason.
//   Errors   After an error any part may be loaded. The staging directory is always removed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/backends/hbase/bulk_load/load_directory.h"
#include "storage/backends/hbase/client/client.h"

namespace halite::storage::hbase {

struct FileToLoad {
  std::string path;  // in the directory
  Bytes first_row;
  Bytes last_row;
};

struct BulkLoadOptions {
  std::size_t files_per_call_max = 32;  // HBase's default limit for a region and family
  std::size_t calls_at_once = 8;
  std::uint32_t rounds_max = 10;  // with a file that is refused
  std::uint32_t pause_ms = 500;   // after the first such round; grows with each
};

struct BulkLoad {
  std::string table;  // its full name
  Bytes family;
  std::vector<FileToLoad> files;
  BulkLoadOptions options = {};
};

enum class LoadedFile : std::uint8_t { kLoaded, kSeveralRegions };

// In the order of the files. Client and directory outlive the call.
[[nodiscard]] Task<std::vector<LoadedFile>> load_files(Client& client, LoadDirectory& directory,
                                                       BulkLoad load);

}  // namespace halite::storage::hbase
