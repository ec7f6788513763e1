#include "storage/append_gate.h"

#include <algorithm>
#include <utility>

namespace halite::storage {

// Gives back what a waiter holds when its coroutine is thrown away.
class AppendGate::Place {
 public:
  Place(AppendGate& gate, std::shared_ptr<Waiter> waiter)
      : gate_(gate), waiter_(std::move(waiter)) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    bool inside = false;
    {
      const std::lock_guard lock(gate_.mutex_);
      inside = waiter_->inside;
      if (!inside) std::erase(gate_.queue_, waiter_);
    }
    if (inside) gate_.leave(waiter_->load);
  }
  // The room is a Pass's from now on.
  void handed_over() {
    const std::lock_guard lock(gate_.mutex_);
    waiter_->inside = false;
  }

 private:
  AppendGate& gate_;
  const std::shared_ptr<Waiter> waiter_;
};

bool AppendGate::fits(AppendLoad load) const {
  if (now_.points == 0 && now_.bytes == 0) return true;
  return now_.points + load.points <= max_.points && now_.bytes + load.bytes <= max_.bytes;
}

Task<AppendGate::Pass> AppendGate::enter(AppendLoad load) {
  const std::shared_ptr<AppendGate> self = shared_from_this();
  auto waiter = std::make_shared<Waiter>();
  waiter->load = load;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() && fits(load)) {
      now_.points += load.points;
      now_.bytes += load.bytes;
      co_return Pass(self, load);
    }
    queue_.push_back(waiter);
  }
  Place place(*self, waiter);
  CO_TRY_VOID(co_await waiter->admitted.wait());
  place.handed_over();
  co_return Pass(self, load);
}

void AppendGate::leave(AppendLoad load) {
  {
    const std::lock_guard lock(mutex_);
    now_.points -= load.points;
    now_.bytes -= load.bytes;
  }
  admit_waiters();
}

void AppendGate::admit_waiters() {
  std::vector<std::shared_ptr<Waiter>> admitted;
  {
    const std::lock_guard lock(mutex_);
    while (!queue_.empty() && fits(queue_.front()->load)) {
      std::shared_ptr<Waiter> waiter = std::move(queue_.front());
      queue_.pop_front();
      now_.points += waiter->load.points;
      now_.bytes += waiter->load.bytes;
      waiter->inside = true;
      admitted.push_back(std::move(waiter));
    }
  }
  for (const auto& waiter : admitted) waiter->admitted.finish({});
}

AppendLoad AppendGate::under_way() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace halite::storage
