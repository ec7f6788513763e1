// How far an export or a migration has come: a small JSON file, replaced atomically.
//
//   {"format":1,"task":"export to a.txt as csv","metric":"sys.cpu","time":1356998400000,
//    "points":60,"refused":0,"output_bytes":4096,"errors_bytes":0}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/bulk/checkpoint.h"
#include "app/bulk/source_walk.h"
#include "common/result.h"

namespace halite::app {

struct WalkState {
  std::string task;  // identifies it
  SourcePosition position;
  ImportTotals totals;
  std::uint64_t output_bytes = 0;
  std::uint64_t errors_bytes = 0;
};

// Nothing if the file does not exist. kConflict: it is of another task; kCorruption: it cannot be
// read as a checkpoint.
[[nodiscard]] Result<std::optional<WalkState>> read_walk_state(const std::string& path,
                                                               const std::string& task);
[[nodiscard]] Result<void> write_walk_state(const std::string& path, const WalkState& state);
[[nodiscard]] Result<void> remove_walk_state(const std::string& path);

}  // namespace halite::app
