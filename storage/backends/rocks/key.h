// Encodes a row key and a qualifier as one RocksDB key that keeps their order.
//
//   key = escaped row · 00 01 · qualifier        (docs/formats/rocks-cells.md)
//
// In the row, each 00 becomes 00 FF. So 00 01 cannot occur in it, and a row sorts before every
// longer row that begins with it. The qualifier is last and is not escaped.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <rocksdb/slice_transform.h>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage::rocks {

// The escaped row with its terminator: the common prefix of all keys of the row.
[[nodiscard]] Bytes row_prefix(BytesView row);

[[nodiscard]] Bytes cell_key(BytesView row, BytesView qualifier);

// Appends the result of cell_key() to `to`.
void append_cell_key(Bytes& to, BytesView row, BytesView qualifier);

// The smallest key after all keys of the row with this prefix.
[[nodiscard]] Bytes row_prefix_end(BytesView prefix);

// The size of the row prefix of `key`; nothing if it has no terminator.
[[nodiscard]] std::optional<std::size_t> row_prefix_size(BytesView key);

// The inverse of row_prefix(). kCorruption: `prefix` is not a row prefix.
[[nodiscard]] Result<Bytes> row_of_prefix(BytesView prefix);

// Bloom filters contain rows instead of cells: they are smaller and serve every kind of row read.
[[nodiscard]] std::shared_ptr<const rocksdb::SliceTransform> row_prefix_extractor();

}  // namespace halite::storage::rocks
