// Checks the options of a cyclic layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "storage/cells/layouts/cyclic_layout.h"

namespace halite::storage {

// A salt is one byte of the key.
inline constexpr std::uint32_t kCyclicSaltsMax = 256;

// kInvalidArgument names the option; for a ring too small for its TTL it shows the calculation.
[[nodiscard]] Result<void> check_cyclic_options(const CyclicOptions& options);

// A note for a configured number of slots that has no effect because slots are used once; nullopt
// if it has effect or is the default.
[[nodiscard]] std::optional<std::string> idle_slots_note(const CyclicOptions& options);

[[nodiscard]] TableParameters cyclic_parameters(const CyclicOptions& options);

// A time in the largest unit that divides it: "30d", "36h", "90s", "1500ms".
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace halite::storage
