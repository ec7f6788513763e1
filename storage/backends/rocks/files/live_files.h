// The files of a database that hold data.
//
//   Threads  Call from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/files/files.h"

namespace halite::storage::rocks {

struct LiveFile {
  std::string path;
  std::string family = {};  // the column family's name
  std::uint64_t bytes = 0;  // its size when it was written
  Bytes first_key = {};
  Bytes last_key = {};  // included
};

// The tables, according to the manifest.
[[nodiscard]] std::vector<LiveFile> live_files(rocksdb::DB& db);

// The name of a table or log in `dir`, valid or not. Nothing: RocksDB never wrote data there.
[[nodiscard]] Result<std::optional<std::string>> find_data_file(FileSystem& files,
                                                                const std::string& dir);

}  // namespace halite::storage::rocks
