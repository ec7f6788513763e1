// Counts memory by a WorkWatch, and takes the count back at the end at the latest.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/result.h"
#include "common/work_watch.h"

namespace halite {

class HeldBytes {
 public:
  // Null: nothing is counted.
  explicit HeldBytes(std::shared_ptr<WorkWatch> watch) : watch_(std::move(watch)) {}
  // `watch` outlives this.
  explicit HeldBytes(WorkWatch& watch) : watch_(std::shared_ptr<void>(), &watch) {}
  ~HeldBytes() { give_back(); }
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  // kTooLarge if this exceeds the watch's limit. The bytes count all the same.
  [[nodiscard]] Result<void> add(std::size_t bytes) {
    if (watch_ == nullptr) return {};
    bytes_ += static_cast<std::int64_t>(bytes);
    return watch_->add_bytes(static_cast<std::int64_t>(bytes));
  }

  void give_back(std::size_t bytes) {
    if (watch_ == nullptr || bytes == 0) return;
    bytes_ -= static_cast<std::int64_t>(bytes);
    static_cast<void>(watch_->add_bytes(-static_cast<std::int64_t>(bytes)));  // never fails
  }
  void give_back() { give_back(static_cast<std::size_t>(bytes_)); }

 private:
  const std::shared_ptr<WorkWatch> watch_;
  std::int64_t bytes_ = 0;
};

}  // namespace halite
