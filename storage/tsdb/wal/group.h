// Records on their way to the disk: written together, or retried together.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "common/bytes.h"
#include "common/completion.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

struct Group {
  Bytes bytes;  // as format.h begins and seals it
  Sequence first = 0;
  std::uint32_t records = 0;
  std::size_t record_bytes = 0;                 // of unsynced_bytes
  bool begins_segment = false;                  // of a cut(); then it may be without records
  std::chrono::steady_clock::time_point since;  // when its first record came
  Completion done;

  [[nodiscard]] Sequence last() const { return first + records - 1; }
  [[nodiscard]] bool has_work() const { return records > 0 || begins_segment; }
};

}  // namespace halite::storage::log_format
