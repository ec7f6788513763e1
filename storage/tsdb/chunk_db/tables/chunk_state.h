// The state that the database of chunks stores of itself, and its bytes
// (docs/formats/engine-chunks.md).
//
//   Errors  kCorruption for bytes that were not written here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/tables/chunk_key.h"

namespace halite::storage::engine {

// The position where it is unknown how far the log is in the chunks.
inline constexpr std::uint64_t kUnknownPosition = UINT64_MAX;

// How far the log is in the chunks.
struct FlushMark {
  std::uint64_t flush_number = 0;  // the greatest used
  std::uint64_t log_position = 0;  // of the last record in them
  bool operator==(const FlushMark&) const = default;
};

// The times in a slot, in ms since its begin, that got chunks or tombstones since it was sealed.
// Summaries do not cover them.
struct UnsealedRange {
  std::uint32_t begin_ms = 0;
  std::uint32_t end_ms = 0;      // excluded
  bool without_summary = false;  // some series have sealed chunks, but no summary
  // It was sealed after its end, and all later cells are in the family of late cells.
  bool late = false;
  // How often cells came, in the life of this process. Not stored.
  std::uint32_t touches = 0;

  void add(const UnsealedRange& more);
  bool operator==(const UnsealedRange&) const = default;
};
using UnsealedRanges = std::map<Partition, UnsealedRange>;

// The key of the mark.
inline constexpr std::string_view kStateKey = "state";
// The prefix of the names of families that replace a damaged one.
inline constexpr std::string_view kStatePrefix = "state-";
// The suffix of files that are not ingested yet.
inline constexpr std::string_view kUnfinished = ".new";
// The number that says when expired slots were last removed.
inline constexpr std::string_view kLastExpiryKey = "expiry";
// The prefix of the keys of slots that are not sealed; place and generation follow.
inline constexpr std::string_view kUnsealedPrefix = "unsealed";

// The lap of a slot that a cell's key belongs to; nothing if it is no cell's key.
[[nodiscard]] std::optional<Partition> partition_of(BytesView key);

[[nodiscard]] Bytes unsealed_key(const Partition& partition);
[[nodiscard]] Bytes unsealed_bytes(const UnsealedRange& unsealed);
[[nodiscard]] Result<UnsealedRanges::value_type> parse_unsealed(BytesView key, BytesView value);

[[nodiscard]] Bytes mark_bytes(const FlushMark& mark);
[[nodiscard]] Result<FlushMark> parse_mark(BytesView bytes);

}  // namespace halite::storage::engine
