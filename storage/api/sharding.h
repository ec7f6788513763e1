// Maps a series to a shard of a store. The shard of a series never changes.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/bytes/bytes.h"

namespace halite::storage {

class Sharding {
 public:
  virtual ~Sharding() = default;
  [[nodiscard]] virtual std::uint32_t shard_count() const = 0;
  // `metric` is the current name of metric_uid.
  [[nodiscard]] virtual std::uint32_t shard_of(std::uint64_t metric_uid, std::string_view metric,
                                               BytesView tsuid) const = 0;
};

}  // namespace halite::storage
