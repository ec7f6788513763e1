// How far an export or a migration has come: a small JSON file, replaced atomically.
//
//   {"format":1,"task":"export to a.txt as csv","began":1356998400000,"metric":"sys.cpu",
//    "time":1356998400000,"points":60,"refused":0,"output_bytes":4096,"errors_bytes":0,"errors":""}
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/bulk/checkpoint.h"
#include "app/bulk/source_walk.h"
#include "common/result.h"

namespace halite::app {

struct WalkState {
  std::string task;       // identifies it
  TimestampMs began = 0;  // when its first run began
  SourcePosition position;
  ImportTotals totals;
  std::uint64_t output_bytes = 0;
  std::uint64_t errors_bytes = 0;
  std::optional<std::string> errors = std::nullopt;  // as in a Checkpoint
};

// The state from which to continue; nothing if there is no path or no such file. kConflict: the
// file exists and nothing is resumed, or it is of another task; kCorruption: it cannot be read as a
// checkpoint.
[[nodiscard]] Result<std::optional<WalkState>> begin_walk(const std::string& path,
                                                          const std::string& task, bool resume);
[[nodiscard]] Result<void> write_walk_state(const std::string& path, const WalkState& state);

}  // namespace halite::app
