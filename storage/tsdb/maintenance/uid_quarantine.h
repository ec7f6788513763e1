// The quarantine of one kind of UID: UIDs of removed names that new names must not get yet.
//
// A tsuid may be stored outside Halite. Until its UIDs leave the quarantine it denotes nothing, so
// it cannot silently denote another series. UIDs stay for the longest TTL of all metrics, or
// forever if one has no TTL. If free UIDs run out, the oldest leave earlier
// (docs/operate/retention.md).
//
//   Threads  not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/clock.h"
#include "storage/catalog/index/posting_list.h"
#include "storage/tsdb/core/retention.h"

namespace halite::storage::engine {

// The part of all UIDs of a kind that is kept ready for new names, despite the quarantine.
inline constexpr std::uint64_t kReadyIdsPart = 16;

// The longest TTL of all retention classes; nothing: one keeps its points forever.
[[nodiscard]] std::optional<std::int64_t> longest_ttl_ms(const Retention& retention);

class UidQuarantine {
 public:
  // Adds UIDs whose names were removed at that time.
  void add(TimestampMs freed_ms, const IdSet& ids);
  // Removes all other UIDs: they have names or series.
  void keep_only(const IdSet& ids);

  [[nodiscard]] IdSet all() const;
  [[nodiscard]] std::uint64_t size() const;
  // The time of the oldest entry.
  [[nodiscard]] std::optional<TimestampMs> oldest_ms() const;

  // Releases the UIDs freed up to `freed_until_ms`, then the oldest until there are `wanted`.
  [[nodiscard]] IdSet release(std::optional<TimestampMs> freed_until_ms, std::uint64_t wanted);

 private:
  std::map<TimestampMs, IdSet> by_time_;  // no empty sets
};

}  // namespace halite::storage::engine
