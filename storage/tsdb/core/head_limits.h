// The memory limits of an engine's heads. They move while the engine runs.
//
//   Threads  call from any thread. Readers may see the two limits of different moments.
#pragma once

#include <atomic>
#include <cstddef>

#include "storage/tsdb/core/options.h"

namespace halite::storage::engine {

class HeadLimits {
 public:
  explicit HeadLimits(const EngineOptions& options)
      : freeze_part_(static_cast<double>(options.head_freeze_bytes) /
                     static_cast<double>(options.head_bytes_max)),
        freeze_bytes_(options.head_freeze_bytes),
        bytes_max_(options.head_bytes_max) {}

  [[nodiscard]] std::size_t freeze_bytes() const { return freeze_bytes_; }  // of the active head
  [[nodiscard]] std::size_t bytes_max() const { return bytes_max_; }        // of all heads

  // The active head is still frozen at the same part of the whole.
  void set_bytes_max(std::size_t bytes) {
    bytes_max_ = bytes;
    freeze_bytes_ = part_of(static_cast<double>(bytes) * freeze_part_);
  }

  // The limit of all heads that an active head of this size would fill.
  [[nodiscard]] std::size_t bytes_max_for(std::size_t active_bytes) const {
    return part_of(static_cast<double>(active_bytes) / freeze_part_);
  }

 private:
  static std::size_t part_of(double bytes) { return static_cast<std::size_t>(bytes); }

  const double freeze_part_;
  std::atomic<std::size_t> freeze_bytes_;
  std::atomic<std::size_t> bytes_max_;
};

}  // namespace halite::storage::engine
