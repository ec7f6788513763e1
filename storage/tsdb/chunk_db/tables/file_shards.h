// Which shards a file of chunks has keys of: noted in the file as it is written, so that who reads
// one shard leaves the files of all others alone. RocksDB looks into each file that a flush wrote
// at every seek, whatever keys it has, and every flush writes a file a shard.
//
//   Format   the property "halite.shards" of the file: the first byte of its least and of its
//            greatest key. A file without it may have keys of any shard.
#pragma once

#include <functional>
#include <memory>

#include <rocksdb/table_properties.h>

#include "common/bytes.h"

namespace halite::storage::engine {

// Notes the shards of each file that is written with it.
[[nodiscard]] std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> note_file_shards();

// Whether a file may have keys of [begin, end), as far as its shards tell. An empty `end` is none.
[[nodiscard]] std::function<bool(const rocksdb::TableProperties&)> files_of_shards(BytesView begin,
                                                                                   BytesView end);

}  // namespace halite::storage::engine
