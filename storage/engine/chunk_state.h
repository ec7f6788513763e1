// What the database of chunks says of itself, as bytes (docs/formats/engine-chunks.md).
//
//   Errors  kCorruption for bytes that were not written here.
#pragma once

#include <string_view>

#include "common/bytes.h"
#include "common/result.h"
#include "storage/engine/chunk_snapshot.h"

namespace halite::storage::engine {

// Before the place and the generation of a slot that is not sealed.
inline constexpr std::string_view kUnsealedPrefix = "unsealed";

[[nodiscard]] Bytes unsealed_key(const SlotLap& lap);
[[nodiscard]] Bytes unsealed_bytes(const Unsealed& unsealed);
[[nodiscard]] Result<UnsealedSlots::value_type> parse_unsealed(BytesView key, BytesView value);

[[nodiscard]] Bytes mark_bytes(const FlushMark& mark);
[[nodiscard]] Result<FlushMark> parse_mark(BytesView bytes);

}  // namespace halite::storage::engine
