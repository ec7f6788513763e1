// Records that are written together, or retried together.
#pragma once

#include <chrono>
#include <cstdint>

#include "common/bytes/bytes.h"
#include "common/threads/completion.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::log_format {

struct Group {
  Bytes bytes;  // in the form that format.h defines
  Sequence first = 0;
  std::uint32_t records = 0;
  std::size_t record_bytes = 0;                 // its part of unsynced_bytes
  bool begins_segment = false;                  // after a cut(); it may then have no records
  std::chrono::steady_clock::time_point since;  // arrival of its first record
  Completion done;

  [[nodiscard]] Sequence last() const { return first + records - 1; }
  [[nodiscard]] bool has_work() const { return records > 0 || begins_segment; }
};

}  // namespace halite::storage::log_format
