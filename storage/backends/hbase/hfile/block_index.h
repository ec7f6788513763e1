// Builds the index of an HFile's data blocks, with as many levels as it needs.
//
//   Threads  one at a time.
//   Memory   entries of one leaf, and one entry for each leaf.
//   Format   docs/formats/hfile.md
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/backends/hbase/hfile/block_writer.h"
#include "storage/backends/hbase/hfile/hfile_bytes.h"

namespace halite::storage::hbase {

class BlockIndex {
 public:
  // A block of the index is written once it has `block_bytes` or more. The writer outlives it.
  BlockIndex(BlockWriter& blocks, std::size_t block_bytes);

  // A data block that was just written, and the key of its first cell. May write a leaf.
  Result<void> add(BytesView first_key, BlockPlace place);

  // Writes leaves and inner blocks, but not the root. Then the rest is known.
  Result<void> finish();
  [[nodiscard]] const Bytes& root() const { return root_; }
  [[nodiscard]] std::uint32_t root_entries() const { return root_entries_; }
  [[nodiscard]] std::uint32_t levels() const { return levels_; }
  [[nodiscard]] std::uint64_t uncompressed_bytes() const { return uncompressed_bytes_; }

 private:
  struct Entry {
    Bytes key;
    BlockPlace place;
    std::uint64_t data_blocks = 0;  // below it
  };

  Result<Entry> write(BlockKind kind, const std::vector<Entry>& entries);
  Result<void> write_leaf();
  [[nodiscard]] Bytes mid_key() const;

  BlockWriter& blocks_;
  const std::size_t block_bytes_;
  std::vector<Entry> leaf_;  // not yet written
  std::size_t leaf_bytes_ = 0;
  std::vector<Entry> upper_;  // written leaves, and later inner blocks
  Bytes root_;
  std::uint32_t root_entries_ = 0;
  std::uint32_t levels_ = 1;
  std::uint64_t uncompressed_bytes_ = 0;
};

}  // namespace halite::storage::hbase
