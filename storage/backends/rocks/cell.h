// A cell's value in RocksDB, and two rules that RocksDB applies: the greatest time wins, and
// compaction drops expired cells.
//
//   value = cell time in ms (8 bytes, big-endian) · bytes        (docs/formats/rocks-cells.md)
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <rocksdb/compaction_filter.h>
#include <rocksdb/merge_operator.h>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/result.h"

namespace halite::storage::rocks {

inline constexpr std::size_t kCellTimeBytes = 8;

struct StoredCell {
  TimestampMs time = 0;
  BytesView value;
};

// Returns nothing if the bytes are too short for a time.
[[nodiscard]] std::optional<StoredCell> parse_cell(BytesView stored);
// As parse_cell(); kCorruption names the key.
[[nodiscard]] Result<StoredCell> parse_cell_of(BytesView key, BytesView stored);

// Writes the time into the first 8 bytes at `stored`.
void set_cell_time(char* stored, TimestampMs time);

// A write with an explicit time is a merge operand. Of all values of a key the one with the
// greatest time stays; of equal times, the last written.
[[nodiscard]] std::shared_ptr<rocksdb::MergeOperator> greatest_time_operator();

// A family's TTL in ms, 0 = none. Shared with running compactions; it may change at any time.
using SharedTtl = std::shared_ptr<std::atomic<std::int64_t>>;

// Drops expired cells. The clock outlives every compaction.
[[nodiscard]] std::shared_ptr<rocksdb::CompactionFilterFactory> ttl_filter_factory(
    SharedTtl ttl_ms, const Clock& clock);

}  // namespace halite::storage::rocks
