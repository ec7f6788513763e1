// Where new names are noted before they have rows: the embedded engine's log. Order and durability
// are the log's: what is appended later does not come back without what was appended before.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/task.h"
#include "storage/api/point_store.h"

namespace halite::storage {

struct NewName {
  NameKind kind = NameKind::kMetric;
  std::uint64_t uid = 0;
  std::string_view name;
};

class NameLog {
 public:
  virtual ~NameLog() = default;

  // All of them or none; at most kNameLogBytesMax of names, or one. Must not wait.
  virtual Result<void> append(std::span<const NewName> names) = 0;

  // What was appended before the call outlives a power cut.
  virtual Task<void> durable() = 0;
};

inline constexpr std::size_t kNameLogBytesMax = 256 << 10;  // 16 bytes a name count, too

}  // namespace halite::storage
