#include "storage/catalog/index/holds.h"

#include <utility>

namespace halite::storage {

Holds::Holds()
    : shared_(std::make_shared<Shared>()), current_(make({.epoch = 1, .series_epoch = 1})) {}

std::shared_ptr<const SeriesHold> Holds::make(SeriesHold hold) const {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->held.insert(hold.epoch);
  }
  return {new SeriesHold(hold), [shared = shared_](const SeriesHold* gone) {
            const std::lock_guard lock(shared->mutex);
            shared->held.erase(gone->epoch);
            delete gone;
          }};
}

std::shared_ptr<const SeriesHold> Holds::take() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::uint64_t Holds::advance(bool series_go) {
  std::shared_ptr<const SeriesHold> last;  // let go of after the lock
  const std::lock_guard lock(mutex_);
  SeriesHold next{.epoch = current_->epoch + 1, .series_epoch = current_->series_epoch};
  if (series_go) next.series_epoch = next.epoch;
  last = std::exchange(current_, make(next));
  return current_->epoch;
}

bool Holds::gone_before(std::uint64_t epoch) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->held.empty() || *shared_->held.begin() >= epoch;
}

}  // namespace halite::storage
