// Finds the end of a range of keys that cannot be read because their block is damaged.
//
//   Threads  A pure function, except for the effects of can_read().
#pragma once

#include <functional>

#include "common/bytes/bytes.h"
#include "common/result.h"

namespace halite::storage::rocks {

// Whether a seek to the key meets no damage. An error ends the search and is returned.
using CanRead = std::function<Result<bool>(BytesView key)>;

// The least key above `from`, up to a limited length, to which a seek succeeds. If there is none,
// returns `end` (empty: above all keys). A seek to `from`, or its next, must meet the damage.
[[nodiscard]] Result<Bytes> key_past_damage(BytesView from, BytesView end, const CanRead& can_read);

}  // namespace halite::storage::rocks
