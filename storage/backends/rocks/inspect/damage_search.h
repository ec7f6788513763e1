// Finds the way past keys that cannot be read: the block that has them is damaged.
//
//   Threads  pure function, but for what can_read() does.
#pragma once

#include <cstddef>
#include <functional>

#include "common/bytes.h"
#include "common/result.h"

namespace halite::storage::rocks {

// Whether a seek to the key meets no damage. An error ends the search with it.
using CanRead = std::function<Result<bool>(BytesView key)>;

// The least key above `from`, to so many bytes, to which a seek meets no damage any more; where
// there is none, `end` (empty: a key above all). `from` is a key whose seek, or whose next, meets
// it.
[[nodiscard]] Result<Bytes> key_past_damage(BytesView from, BytesView end, const CanRead& can_read);

}  // namespace halite::storage::rocks
