#include "storage/tsdb/core/pending_deletes.h"

#include <utility>

#include "common/check.h"

namespace halite::storage::engine {

PendingDeletes::Pending::Pending(std::shared_ptr<Numbers> numbers, std::uint64_t number)
    : numbers_(std::move(numbers)), number_(number) {
  const std::lock_guard lock(numbers_->mutex);
  const bool fresh = numbers_->pending.insert(number_).second;
  HALITE_CHECK(fresh, "two pending deletes have one number");
}

PendingDeletes::Pending::~Pending() {
  const std::lock_guard lock(numbers_->mutex);
  numbers_->pending.erase(number_);
}

std::unique_ptr<const PendingDeletes::Pending> PendingDeletes::begin(std::uint64_t number) {
  return std::unique_ptr<const Pending>(new Pending(numbers_, number));
}

std::uint64_t PendingDeletes::lowest() const {
  const std::lock_guard lock(numbers_->mutex);
  return numbers_->pending.empty() ? UINT64_MAX : *numbers_->pending.begin();
}

std::uint64_t PendingDeletes::highest() const {
  const std::lock_guard lock(numbers_->mutex);
  return numbers_->pending.empty() ? 0 : *numbers_->pending.rbegin();
}

}  // namespace halite::storage::engine
