// What the database of chunks says of itself, as bytes (docs/formats/engine-chunks.md).
//
//   Errors  kCorruption for bytes that were not written here.
#pragma once

#include <optional>
#include <string_view>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/tsdb/chunk_db/chunk_snapshot.h"

namespace halite::storage::engine {

// The key of the mark.
inline constexpr std::string_view kStateKey = "state";
// What families that stand for a damaged one are named with.
inline constexpr std::string_view kStatePrefix = "state-";
// Files that no ingest() has taken yet end so.
inline constexpr std::string_view kUnfinished = ".new";
// When expired slots were removed last.
inline constexpr std::string_view kLastExpiryKey = "expiry";
// Before the place and the generation of a slot that is not sealed.
inline constexpr std::string_view kUnsealedPrefix = "unsealed";

// What a cell's key says of which lap of a slot it is; nothing where it is none.
[[nodiscard]] std::optional<SlotLap> lap_of(BytesView key);

[[nodiscard]] Bytes unsealed_key(const SlotLap& lap);
[[nodiscard]] Bytes unsealed_bytes(const Unsealed& unsealed);
[[nodiscard]] Result<UnsealedSlots::value_type> parse_unsealed(BytesView key, BytesView value);

[[nodiscard]] Bytes mark_bytes(const FlushMark& mark);
[[nodiscard]] Result<FlushMark> parse_mark(BytesView bytes);

}  // namespace halite::storage::engine
