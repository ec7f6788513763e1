#include "storage/tsdb/core/head_list.h"

#include <mutex>
#include <utility>

#include "common/check.h"

namespace halite::storage::engine {

HeadList::HeadList(std::uint64_t last_number, std::uint32_t shards, SeriesId series_max,
                   Sequence log_position)
    : shards_(shards),
      series_max_(series_max),
      active_(make(last_number + 2)),
      cut_position_(log_position) {}

std::shared_ptr<Head> HeadList::make(std::uint64_t number) const {
  return std::make_shared<Head>(number, shards_, series_max_);
}

void HeadList::continue_with(std::shared_ptr<Head> active, Sequence log_position) {
  const std::lock_guard lock(mutex_);
  HALITE_CHECK(active->number() >= active_->number(), "the number of an older head");
  active_ = std::move(active);
  cut_position_ = log_position;
}

HeadList::Writing HeadList::write() {
  std::shared_lock lock(mutex_);
  Head* head = active_.get();
  return {std::move(lock), head};
}

void HeadList::freeze(Log& log, std::uint64_t used_number) {
  const std::lock_guard lock(mutex_);
  const bool nothing_new = active_->points() == 0 && log.last() == cut_position_;
  if (nothing_new && active_->number() - 1 > used_number) return;
  // No append runs under this lock. So every record of the frozen head, and none of the next, is
  // before the cut.
  const Sequence position = log.cut();
  cut_position_ = position;
  const std::uint64_t next = active_->number() + 2;
  frozen_.push_back({.head = std::move(active_), .log_position = position});
  active_ = make(next);
}

std::vector<FrozenHead> HeadList::frozen() const {
  const std::shared_lock lock(mutex_);
  return frozen_;
}

void HeadList::drop_oldest() {
  const std::lock_guard lock(mutex_);
  frozen_.erase(frozen_.begin());
}

std::vector<std::shared_ptr<Head>> HeadList::view() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::shared_ptr<Head>> heads;
  heads.reserve(frozen_.size() + 1);
  for (const FrozenHead& frozen : frozen_) heads.push_back(frozen.head);
  heads.push_back(active_);
  return heads;
}

std::size_t HeadList::bytes() const {
  const std::shared_lock lock(mutex_);
  std::size_t bytes = active_->bytes();
  for (const FrozenHead& frozen : frozen_) bytes += frozen.head->bytes();
  return bytes;
}

std::size_t HeadList::active_bytes() const {
  const std::shared_lock lock(mutex_);
  return active_->bytes();
}

std::uint64_t HeadList::active_points() const {
  const std::shared_lock lock(mutex_);
  return active_->points();
}

bool HeadList::active_is_full(std::size_t freeze_bytes, const EngineOptions& options) const {
  const std::shared_lock lock(mutex_);
  const std::uint64_t points = active_->points();
  return active_->bytes() >= freeze_bytes ||
         (points >= options.head_freeze_points &&
          points >= options.head_run_points * active_->series());
}

Sequence HeadList::cut_position() const {
  const std::shared_lock lock(mutex_);
  return cut_position_;
}

std::uint64_t HeadList::active_number() const {
  const std::shared_lock lock(mutex_);
  return active_->number();
}

}  // namespace halite::storage::engine
