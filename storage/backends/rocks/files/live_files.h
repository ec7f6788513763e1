// The table files that a database has, as its manifest says.
//
//   Threads  any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <rocksdb/db.h>

#include "common/bytes.h"

namespace halite::storage::rocks {

struct LiveFile {
  std::string path;
  std::string family = {};  // the column family's name
  std::uint64_t bytes = 0;  // that it was written with
  Bytes first_key = {};
  Bytes last_key = {};  // included
};

[[nodiscard]] std::vector<LiveFile> live_files(rocksdb::DB& db);

}  // namespace halite::storage::rocks
