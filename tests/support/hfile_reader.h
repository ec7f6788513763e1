// Reads an HFile that was written by HFileWriter, and checks all of it: checksums, sizes, offsets
// of earlier blocks, each level of the index, the bloom filter, the file info and the trailer. The
// first fault stops the reading.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::test {

struct ReadCell {
  Bytes row;
  Bytes family;
  Bytes qualifier;
  TimestampMs time = 0;
  Bytes value;
  bool operator==(const ReadCell&) const = default;
};

struct ReadHFile {
  std::vector<ReadCell> cells;
  std::map<std::string, Bytes> info;
  std::uint32_t levels = 0;  // of the index
  std::uint32_t codec = 0;   // HBase's number
  std::size_t data_blocks = 0;
  std::size_t bloom_chunks = 0;
  Bytes middle_key;                // first key of the data block at which HBase splits; or empty
  std::vector<Bytes> bloom;        // bits of all chunks
  std::vector<Bytes> bloom_first;  // first row of each

  // By the bloom filter.
  [[nodiscard]] bool may_contain(BytesView row) const;
};

[[nodiscard]] Result<ReadHFile> read_hfile(BytesView file);

}  // namespace halite::test
