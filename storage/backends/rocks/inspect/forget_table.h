// Takes a table that cannot be read out of a database that nobody has open.
//
//   Threads  one at a time on a database; blocks.
#pragma once

#include <string>

#include <rocksdb/env.h>

#include "common/result.h"

namespace halite::storage::rocks {

// The manifest does not name the table any more; its file stays as it is. What other tables have
// under the same keys shows again. kNotFound: `name` ("000012.sst") is no table of it.
[[nodiscard]] Result<void> forget_table(rocksdb::Env* env, const std::string& dir,
                                        const std::string& name);

}  // namespace halite::storage::rocks
