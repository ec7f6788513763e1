// Which options make a cyclic layout.
#pragma once

#include <cstdint>
#include <string>

#include "storage/schema/cyclic_layout.h"

namespace halite::storage {

// kInvalidArgument names the option; for a ring too small for its TTL it shows the arithmetic.
[[nodiscard]] Result<void> check_cyclic_options(const CyclicOptions& options);

[[nodiscard]] TableParameters cyclic_parameters(const CyclicOptions& options);

// The largest unit that divides a time: "30d", "36h", "90s", "1500ms".
[[nodiscard]] std::string duration_text(std::int64_t ms);

}  // namespace halite::storage
