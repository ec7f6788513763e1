// memory.limit, and the defaults that are shares of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "app/settings/options.h"
#include "common/config/config.h"
#include "common/memory_budget.h"
#include "common/result.h"

namespace halite::app {

// Call after all settings with a share are declared.
void declare_memory(Config& config, MemoryOptions& memory);

// Call after all sources are applied: computes the limit and the shares that no source has set.
// kInvalidArgument: two sizes exclude each other.
Result<void> resolve_memory(Config& config, Options& options);

// The shares of the declared settings. Their users have only the name of the setting. A share that
// a source has set is fixed.
[[nodiscard]] std::vector<MemoryShare> memory_shares(const Config& config);

// The memory that this process may use, in bytes: that of the machine, or of its cgroup.
[[nodiscard]] std::uint64_t available_memory();

// The least limit of a cgroup and of those above it: memory.max and memory.high of version 2,
// memory.limit_in_bytes of version 1. The greatest number if there is none.
[[nodiscard]] std::uint64_t cgroup_memory(const std::filesystem::path& cgroups_file,
                                          const std::filesystem::path& root);

}  // namespace halite::app
