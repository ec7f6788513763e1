#include "storage/catalog/epochs.h"

#include <utility>

namespace halite::storage {

Epochs::Epochs()
    : shared_(std::make_shared<Shared>()), current_(make({.epoch = 1, .series_epoch = 1})) {}

std::shared_ptr<const SeriesPin> Epochs::make(SeriesPin pin) const {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->pinned.insert(pin.epoch);
  }
  return {new SeriesPin(pin), [shared = shared_](const SeriesPin* gone) {
            const std::lock_guard lock(shared->mutex);
            shared->pinned.erase(gone->epoch);
            delete gone;
          }};
}

std::shared_ptr<const SeriesPin> Epochs::pin() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::uint64_t Epochs::advance(bool series_go) {
  std::shared_ptr<const SeriesPin> last;  // released after the lock
  const std::lock_guard lock(mutex_);
  SeriesPin next{.epoch = current_->epoch + 1, .series_epoch = current_->series_epoch};
  if (series_go) next.series_epoch = next.epoch;
  last = std::exchange(current_, make(next));
  return current_->epoch;
}

bool Epochs::released_before(std::uint64_t epoch) const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->pinned.empty() || *shared_->pinned.begin() >= epoch;
}

}  // namespace halite::storage
