// Opens the chunk database of an engine, also after a power cut tore its manifest.
//
//   Threads  one at a time; blocks.
//   Errors   as ChunkDb::open(); kCorruption if the end of the manifest is missing and data depends
//            on it. The message lists the lost data; nothing is changed.
#pragma once

#include <memory>

#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_db.h"
#include "storage/tsdb/recovery/data_dir_check.h"

namespace halite::storage::engine {

[[nodiscard]] Result<std::unique_ptr<ChunkDb>> open_chunks(const EngineDirs& dirs,
                                                           ChunkDbOptions options);

}  // namespace halite::storage::engine
