// The stored state of the chunk database, and its bytes (docs/formats/engine-chunks.md).
//
//   Errors  kCorruption for bytes that are not written by this code.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// The position if it is unknown which log records are in chunks.
inline constexpr std::uint64_t kUnknownPosition = UINT64_MAX;

// The greatest flush number, and the sequence up to which the log is in chunks.
struct FlushMark {
  std::uint64_t flush_number = 0;  // greatest used
  std::uint64_t log_position = 0;  // sequence of the last record in chunks
  bool operator==(const FlushMark&) const = default;
};

// The times in a partition, in ms since the begin of its slot, that received chunks or tombstones
// since it was sealed. Summaries do not cover them.
struct UnsealedRange {
  std::uint32_t begin_ms = 0;
  std::uint32_t end_ms = 0;      // exclusive
  bool without_summary = false;  // some series have sealed chunks without a summary
  // It was sealed after its end, and all later cells are in the family of late cells.
  bool late = false;
  // How often cells arrived in this process. Not stored.
  std::uint32_t touches = 0;

  void add(const UnsealedRange& more);
  bool operator==(const UnsealedRange&) const = default;
};
using UnsealedRanges = std::map<Partition, UnsealedRange>;

// The key of the flush mark.
inline constexpr std::string_view kStateKey = "state";
// The name prefix of families that replace a damaged one.
inline constexpr std::string_view kStatePrefix = "state-";
// The suffix of files that are not ingested yet.
inline constexpr std::string_view kUnfinished = ".new";
// The number with the time of the last expiry.
inline constexpr std::string_view kLastExpiryKey = "expiry";
// The key prefix of unsealed ranges; shard, slot and period follow.
inline constexpr std::string_view kUnsealedPrefix = "unsealed";

// The partition of a cell's key; nothing if the key is invalid.
[[nodiscard]] std::optional<Partition> partition_of(BytesView key);

[[nodiscard]] Bytes unsealed_key(const Partition& partition);
[[nodiscard]] Bytes unsealed_bytes(const UnsealedRange& unsealed);
[[nodiscard]] Result<UnsealedRanges::value_type> parse_unsealed(BytesView key, BytesView value);

[[nodiscard]] Bytes mark_bytes(const FlushMark& mark);
[[nodiscard]] Result<FlushMark> parse_mark(BytesView bytes);

}  // namespace halite::storage::engine
