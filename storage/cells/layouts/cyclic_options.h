// Which options make a cyclic layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/cells/layouts/cyclic_layout.h"

namespace halite::storage {

// A salt is one byte of the key.
inline constexpr std::uint32_t kCyclicSaltsMax = 256;

// kInvalidArgument names the option; for a ring too small for its TTL it shows the arithmetic.
[[nodiscard]] Result<void> check_cyclic_options(const CyclicOptions& options);

// What is to be said where the number of slots was chosen, but no slot is ever used again; nothing
// where it counts or was left as it is.
[[nodiscard]] std::optional<std::string> idle_slots_note(const CyclicOptions& options);

[[nodiscard]] TableParameters cyclic_parameters(const CyclicOptions& options);

// The largest unit that divides a time: "30d", "36h", "90s", "1500ms".
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace halite::storage
