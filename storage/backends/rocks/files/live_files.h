// The table files of a database, according to its manifest.
//
//   Threads  Call from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes/bytes.h"

namespace halite::storage::rocks {

struct LiveFile {
  std::string path;
  std::string family = {};  // the column family's name
  std::uint64_t bytes = 0;  // its size when it was written
  Bytes first_key = {};
  Bytes last_key = {};  // included
};

[[nodiscard]] std::vector<LiveFile> live_files(rocksdb::DB& db);

}  // namespace halite::storage::rocks
