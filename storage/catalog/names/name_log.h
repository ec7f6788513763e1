// The log that makes new names durable before they have rows: the engine's write-ahead log. A
// record is never recovered without the records appended before it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/threads/task.h"
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

  // Appends all or none; at most kNameLogBytesMax of names, or one name. Must not block.
  virtual Result<void> append(std::span<const NewName> names) = 0;

  // Makes all earlier appends durable.
  virtual Task<void> durable() = 0;
};

inline constexpr std::size_t kNameLogBytesMax = 256 << 10;  // counts 16 bytes more for each name

}  // namespace halite::storage
