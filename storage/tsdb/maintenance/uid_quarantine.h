// Ids of one kind whose names went, and which no new name may have yet.
//
// Somebody may have kept a tsuid outside of Halite. Until its ids leave the quarantine it names
// nothing, so that it never names another's series unnoticed. Ids stay for the longest TTL that any
// metric has, for ever where one has none, unless so few are left that new names would be refused
// (docs/operate/retention.md).
//
//   Threads  for one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/clock.h"
#include "storage/catalog/index/posting_list.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::engine {

// So many ids of a kind are kept ready for new names, quarantine or not: a part of all.
inline constexpr std::uint64_t kReadyIdsPart = 16;

// The longest TTL of all retention classes; nothing: one keeps its points for ever.
[[nodiscard]] std::optional<std::int64_t> longest_ttl_ms(const Retention& retention);

class UidQuarantine {
 public:
  // Its name went at that time.
  void add(TimestampMs freed_ms, const IdSet& ids);
  // The others are no matter of the quarantine: they have names or series.
  void keep_only(const IdSet& ids);

  [[nodiscard]] IdSet all() const;
  [[nodiscard]] std::uint64_t size() const;
  // When the one that is there for longest came.
  [[nodiscard]] std::optional<TimestampMs> oldest_ms() const;

  // Takes out those that came up to `freed_until_ms`, and then the oldest until there are `wanted`.
  [[nodiscard]] IdSet release(std::optional<TimestampMs> freed_until_ms, std::uint64_t wanted);

 private:
  std::map<TimestampMs, IdSet> by_time_;  // no empty sets
};

}  // namespace halite::storage::engine
