// The engine's own cells in the settings table (docs/formats/engine-chunks.md).
//
//   Threads  call from any thread.
#pragma once

#include <memory>
#include <optional>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage::engine {

inline constexpr BytesView kEngineRow = "engine";

[[nodiscard]] Task<std::optional<Bytes>> read_engine_cell(std::shared_ptr<Table> settings,
                                                          Bytes qualifier);
// The write is durable when the task completes.
[[nodiscard]] Task<void> write_engine_cell(std::shared_ptr<Table> settings, Bytes qualifier,
                                           Bytes value);

}  // namespace halite::storage::engine
