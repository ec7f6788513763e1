// Ids that are kept from new names because of what this directory went through.
//
// Chunks may hold ids though the names that had them are lost: another name with such an id would
// show their points as its own. And earlier versions freed ids without a mark of
// when.
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
#include "storage/cells/layouts/row_layout.h"
#include "storage/tsdb/chunk_db/chunk_db.h"

namespace halite::storage::engine {

class KeptIds {
 public:
  explicit KeptIds(std::shared_ptr<Table> settings) : settings_(std::move(settings)) {}

  // By kind of name: no id up to this one is given to a name that is new. 0 = none is kept.
  [[nodiscard]] Task<std::array<std::uint64_t, 3>> read() const;

  struct Stored {
    const ChunkDb& chunks;
    std::shared_ptr<Table> names;
    UidWidths widths;
    std::uint32_t shard_count = 0;
  };
  // Keeps all ids that were ever given, by the counters or by what is in chunks, and durably so.
  // Reads the key of every chunk. Where some cannot be read, many more ids are left out.
  [[nodiscard]] Task<void> keep(Stored stored);

  // Ids that are free and have no mark count as freed then; 0: for long. Nothing: this directory
  // does not say.
  [[nodiscard]] Task<std::optional<TimestampMs>> unmarked_since() const;
  // Durable.
  [[nodiscard]] Task<void> set_unmarked_since(TimestampMs time) const;

 private:
  const std::shared_ptr<Table> settings_;
};

}  // namespace halite::storage::engine
