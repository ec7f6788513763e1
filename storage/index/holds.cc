#include "storage/index/holds.h"

#include <utility>

namespace halite::storage {

Holds::Holds() : shared_(std::make_shared<Shared>()), current_(make(1)) {}

std::shared_ptr<const SeriesHold> Holds::make(std::uint64_t epoch) const {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->held.insert(epoch);
  }
  return {new SeriesHold{.epoch = epoch}, [shared = shared_](const SeriesHold* hold) {
            const std::lock_guard lock(shared->mutex);
            shared->held.erase(hold->epoch);
            delete hold;
          }};
}

std::shared_ptr<const SeriesHold> Holds::take() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::uint64_t Holds::advance() {
  std::shared_ptr<const SeriesHold> last;  // let go of after the lock
  const std::lock_guard lock(mutex_);
  last = std::exchange(current_, make(current_->epoch + 1));
  return current_->epoch;
}

bool Holds::gone_before(std::uint64_t epoch) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->held.empty() || *shared_->held.begin() >= epoch;
}

}  // namespace halite::storage
