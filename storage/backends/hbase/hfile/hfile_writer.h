// Encodes sorted cells as an HFile of version 3, a file of HBase's tables.
//
//   HFileWriter file(options);
//   for (cell) { TRY_VOID(file.add(cell)); if (file.ready() >= kPiece) send(file.take()); }
//   TRY(const HFileSummary summary, file.finish());
//   send(file.take());
//
// It does no I/O: the caller writes the bytes that it takes, in order.
//
//   Order    by row, family and qualifier as unsigned bytes, then newest time first. No cell twice.
//   Memory   what the caller has not taken, one data block, and about 100 bytes for each 6 MB.
//   Threads  one at a time.
//   Errors   kInvalidArgument: a cell out of order or with an impossible name; kTooLarge: its
//   value.
//            The file cannot be continued after an error.
//   Format   docs/formats/hfile.md
#pragma once

#include <cstdint>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"
#include "storage/backends/hbase/hfile/block_index.h"
#include "storage/backends/hbase/hfile/block_writer.h"
#include "storage/backends/hbase/hfile/row_bloom.h"

namespace halite::storage::hbase {

struct HFileOptions {
  HFileCompression compression = HFileCompression::kNone;
  bool bloom = true;                       // a bloom filter of rows
  TimestampMs created_ms = 0;              // for HBase's information
  std::size_t block_bytes = 64 << 10;      // of a data block, before compression
  std::size_t index_bytes = 128 << 10;     // of a block of the index
  std::size_t value_bytes_max = 10 << 20;  // HBase's default limit for writes
};

struct HFileCell {
  BytesView row;         // 1 to 32 767 bytes
  BytesView family;      // 1 to 127 bytes
  BytesView qualifier;   // 0 to 32 767 bytes
  TimestampMs time = 0;  // at least 0
  BytesView value;
};

struct HFileSummary {
  Bytes first_row;
  Bytes last_row;
  std::uint64_t cells = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // of the whole file
};

class HFileWriter {
 public:
  explicit HFileWriter(const HFileOptions& options);

  Result<void> add(const HFileCell& cell);

  // Ends the file. kInvalidArgument: it has no cell.
  Result<HFileSummary> finish();

  // Bytes that take() would return.
  [[nodiscard]] std::size_t ready() { return blocks_.output().size(); }
  [[nodiscard]] Bytes take();

 private:
  [[nodiscard]] Result<void> check(const HFileCell& cell) const;
  Result<void> end_block();
  [[nodiscard]] Bytes file_info() const;
  void write_trailer(std::uint64_t info_at, std::uint64_t opens_at);

  const HFileOptions options_;
  BlockWriter blocks_;
  BlockIndex index_;
  RowBloom bloom_;

  Bytes block_;                   // the data block that grows
  Bytes block_key_;               // of its first cell
  Bytes key_;                     // of the last cell, serialised
  std::size_t row_bytes_ = 0;     // in key_
  std::size_t family_bytes_ = 0;  // in key_
  TimestampMs last_ms_ = 0;
  TimestampMs oldest_ms_ = 0;
  TimestampMs newest_ms_ = 0;
  std::uint64_t key_bytes_ = 0;    // of all cells
  std::uint64_t value_bytes_ = 0;  // of all cells
  std::uint64_t last_block_at_ = 0;
  HFileSummary summary_;
};

}  // namespace halite::storage::hbase
