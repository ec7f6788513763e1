// How a row key and a qualifier become one RocksDB key that sorts as they do.
//
//   key = escaped row · 00 01 · qualifier        (docs/formats/rocks-cells.md)
//
// In the row each 00 becomes 00 FF, so 00 01 cannot stand in it, and a row sorts before every
// longer row that begins with it. The qualifier is last and stays as it is.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <rocksdb/slice_transform.h>

#include "common/bytes.h"
#include "common/result.h"

namespace halite::storage::rocks {

// Escaped row with its terminator: what all keys of the row begin with, and the first of them.
[[nodiscard]] Bytes row_prefix(BytesView row);

[[nodiscard]] Bytes cell_key(BytesView row, BytesView qualifier);

// Appends what cell_key() returns; `to` may hold other things.
void append_cell_key(Bytes& to, BytesView row, BytesView qualifier);

// The smallest key after every key of the row that `prefix` stands for.
[[nodiscard]] Bytes row_prefix_end(BytesView prefix);

// How many bytes of `key` are its row prefix; nothing when there is no terminator.
[[nodiscard]] std::optional<std::size_t> row_prefix_size(BytesView key);

// The row key that row_prefix() was made of. kCorruption names bytes that are none.
[[nodiscard]] Result<Bytes> row_of_prefix(BytesView prefix);

// Bloom filters hold rows instead of cells: fewer bits, and a row read of any kind can use them.
[[nodiscard]] std::shared_ptr<const rocksdb::SliceTransform> row_prefix_extractor();

}  // namespace halite::storage::rocks
