// UIDs that are not assigned to new names because of the history of this directory.
//
// Chunks may contain UIDs whose names are lost (recovery/lost_ids.h): a new name with such a UID
// would show their points as its own. Also, earlier versions freed UIDs without noting the time.
//
//   Threads  one at a time; blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage::engine {

class ReservedIds {
 public:
  explicit ReservedIds(std::shared_ptr<Table> settings) : settings_(std::move(settings)) {}

  // For each kind of name: all UIDs up to this one are reserved; 0 = none.
  [[nodiscard]] Task<std::array<std::uint64_t, 3>> read() const;

  // Durable.
  [[nodiscard]] Task<void> write(std::array<std::uint64_t, 3> ids) const;

  // The time from which free UIDs without a recorded time count as freed; 0: long ago. Nothing: not
  // recorded in this directory.
  [[nodiscard]] Task<std::optional<TimestampMs>> unmarked_since() const;
  // Durable.
  [[nodiscard]] Task<void> set_unmarked_since(TimestampMs time) const;

 private:
  const std::shared_ptr<Table> settings_;
};

}  // namespace halite::storage::engine
