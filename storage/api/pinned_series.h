// Series ids together with the pin that keeps their meaning. A store returns ids only in this form,
// so that a caller cannot keep the ids and lose the pin.
//
//   Lifetime  an id that you copy out of it is valid while the Pinned, or a copy of its pin, lives.
//             What an id and a pin are: storage/catalog/epochs.h.
//   Threads   as a std::vector.
//   Cost      a vector and a shared_ptr; nothing is allocated or counted for single ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "storage/api/series.h"

namespace halite::storage {

// A list of ids, or of things that contain one.
template <class T>
class Pinned {
 public:
  using value_type = T;

  Pinned() = default;  // empty, without a pin
  // The pin was acquired before the ids were found.
  Pinned(std::shared_ptr<const SeriesPin> pin, std::vector<T> items)
      : pin_(std::move(pin)), items_(std::move(items)) {}

  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return items_[index]; }
  [[nodiscard]] const T& at(std::size_t index) const { return items_.at(index); }
  [[nodiscard]] const T& front() const { return items_.front(); }
  [[nodiscard]] const T& back() const { return items_.back(); }

  [[nodiscard]] const std::shared_ptr<const SeriesPin>& pin() const { return pin_; }

  template <class Predicate>
  void erase_if(Predicate predicate) {
    std::erase_if(items_, std::move(predicate));
  }
  // Keeps the first `count` at most.
  void truncate(std::size_t count) {
    if (count < items_.size()) items_.erase(std::next(begin(), std::ptrdiff_t(count)), end());
  }

  // Adds the items of another answer of the same store. Keeps the older pin, because it also keeps
  // what the younger one keeps.
  void append(Pinned more) {
    if (items_.empty()) {
      *this = std::move(more);
    } else if (!more.empty()) {
      items_.insert(items_.end(), std::make_move_iterator(more.items_.begin()),
                    std::make_move_iterator(more.items_.end()));
      if (more.pin_->epoch < pin_->epoch) pin_ = std::move(more.pin_);
    }
  }

 private:
  std::shared_ptr<const SeriesPin> pin_;
  std::vector<T> items_;
};

using PinnedSeries = Pinned<SeriesId>;

}  // namespace halite::storage
