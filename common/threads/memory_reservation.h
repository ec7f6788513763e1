// Memory counted against a WorkBudget. The destructor releases the rest.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "common/result.h"
#include "common/threads/work_budget.h"

namespace halite {

class MemoryReservation {
 public:
  // With a null budget nothing is counted.
  explicit MemoryReservation(std::shared_ptr<WorkBudget> budget) : budget_(std::move(budget)) {}
  // `budget` outlives this object.
  explicit MemoryReservation(WorkBudget& budget) : budget_(std::shared_ptr<void>(), &budget) {}
  ~MemoryReservation() { give_back(); }
  MemoryReservation(const MemoryReservation&) = delete;

  // kTooLarge if the total exceeds the budget's limit. The bytes are counted even then.
  [[nodiscard]] Result<void> add(std::size_t bytes) {
    if (budget_ == nullptr) return {};
    bytes_ += static_cast<std::int64_t>(bytes);
    return budget_->add_bytes(static_cast<std::int64_t>(bytes));
  }

  void give_back(std::size_t bytes) {
    if (budget_ == nullptr || bytes == 0) return;
    bytes_ -= static_cast<std::int64_t>(bytes);
    static_cast<void>(budget_->add_bytes(-static_cast<std::int64_t>(bytes)));  // never fails
  }
  void give_back() { give_back(static_cast<std::size_t>(bytes_)); }

 private:
  const std::shared_ptr<WorkBudget> budget_;
  std::int64_t bytes_ = 0;
};

}  // namespace halite
