// Ids that no new name may get, because of the history of this directory.
//
// Chunks may hold ids whose names are lost (recovery/lost_ids.h): another name with such an id
// would show their points as its own. And earlier versions freed ids without a mark of when.
//
//   Threads  one at a time; blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "common/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage::engine {

class ReservedIds {
 public:
  explicit ReservedIds(std::shared_ptr<Table> settings) : settings_(std::move(settings)) {}

  // By kind of name: no new name gets an id up to this one. 0 = all may be given.
  [[nodiscard]] Task<std::array<std::uint64_t, 3>> read() const;

  // Durable.
  [[nodiscard]] Task<void> write(std::array<std::uint64_t, 3> ids) const;

  // Ids that are free and have no mark count as freed then; 0: for long. Nothing: this directory
  // does not say.
  [[nodiscard]] Task<std::optional<TimestampMs>> unmarked_since() const;
  // Durable.
  [[nodiscard]] Task<void> set_unmarked_since(TimestampMs time) const;

 private:
  const std::shared_ptr<Table> settings_;
};

}  // namespace halite::storage::engine
