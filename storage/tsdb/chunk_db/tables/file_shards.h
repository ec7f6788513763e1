// Stores in each chunk file which shards it contains, so that readers of one shard skip other
// files. RocksDB would read from each flushed file at every seek, and every flush writes one file
// for each shard.
//
//   Format   the file property "halite.shards": the first bytes of the least and the greatest key.
//            A file without it may have keys of any shard.
#pragma once

#include <functional>
#include <memory>

#include <rocksdb/table_properties.h>

#include "common/bytes/bytes.h"

namespace halite::storage::engine {

// Adds the property to each file that is written with it.
[[nodiscard]] std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> note_file_shards();

// Whether a file may have keys in [begin, end), according to its shards. An empty `end` means no
// end.
[[nodiscard]] std::function<bool(const rocksdb::TableProperties&)> files_of_shards(BytesView begin,
                                                                                   BytesView end);

}  // namespace halite::storage::engine
