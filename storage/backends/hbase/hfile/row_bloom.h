// Builds the bloom filter of an HFile's rows, so that HBase skips the file when it looks for a row
// that the file does not have. One row in a hundred is looked for in vain.
//
//   Threads  one at a time.
//   Memory   8 bytes for each row of one chunk: 0.9 MB at most; the meta block is small.
//   Format   docs/formats/hfile.md
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/backends/hbase/hfile/block_writer.h"
#include "storage/backends/hbase/hfile/hfile_bytes.h"

namespace halite::storage::hbase {

// HBase's hash of rows: Murmur2 with 32 bits, which extends the sign of its last bytes.
[[nodiscard]] std::uint32_t bloom_hash(BytesView row, std::uint32_t seed);

// Whether the bits of a chunk allow that the row is there.
[[nodiscard]] bool may_contain(BytesView bits, BytesView row);

class RowBloom {
 public:
  // The writer outlives it.
  explicit RowBloom(BlockWriter& blocks) : blocks_(blocks) {}

  // In order, each row once.
  void add(BytesView row);

  // Writes the chunks that are full. Call it after a data block.
  Result<void> write_full();

  // Writes the rest. Then `meta` is the payload of the bloom meta block.
  Result<void> finish();
  [[nodiscard]] Bytes meta() const;

 private:
  struct Chunk {
    Bytes first_row;
    Bytes bits;        // until it is written
    BlockPlace place;  // then
  };
  void end_chunk();

  BlockWriter& blocks_;
  Bytes first_row_;                                              // of the chunk that grows
  std::vector<std::pair<std::uint32_t, std::uint32_t>> hashes_;  // of its rows
  std::vector<Chunk> chunks_;
  std::size_t written_ = 0;  // chunks
  std::uint64_t rows_ = 0;
  std::uint64_t bytes_ = 0;  // of all bits
};

}  // namespace halite::storage::hbase
