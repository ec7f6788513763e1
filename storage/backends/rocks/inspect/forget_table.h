// Removes an unreadable table from a closed database.
//
//   Threads  One call at a time for a database. Blocks.
#pragma once

#include <string>

#include <rocksdb/env.h>

#include "common/result.h"

namespace halite::storage::rocks {

// Removes the table from the manifest; its file stays. Cells of other tables under its keys become
// visible again. kNotFound: the database has no table `name` ("000012.sst").
[[nodiscard]] Result<void> forget_table(rocksdb::Env* env, const std::string& dir,
                                        const std::string& name);

}  // namespace halite::storage::rocks
