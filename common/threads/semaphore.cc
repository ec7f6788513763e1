#include "common/threads/semaphore.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "common/check.h"

namespace halite {

namespace {

bool adds_up_to(std::size_t a, std::size_t b, std::size_t max) { return a <= max && b <= max - a; }

}  // namespace

// Releases what a waiter holds if its coroutine is destroyed.
class Semaphore::QueueEntry {
 public:
  QueueEntry(Semaphore& gate, std::shared_ptr<Waiter> waiter)
      : semaphore_(gate), waiter_(std::move(waiter)) {}
  QueueEntry(const QueueEntry&) = delete;
  ~QueueEntry() {
    bool inside = false;
    {
      const std::lock_guard lock(semaphore_.mutex_);
      inside = waiter_->inside;
      if (!inside) std::erase(semaphore_.queue_, waiter_);
    }
    if (inside) {
      semaphore_.leave(waiter_->load);
    } else {
      semaphore_.admit_waiters();  // it may have blocked the others
    }
  }
  // A Permit owns the load from now on.
  void handed_over() {
    const std::lock_guard lock(semaphore_.mutex_);
    waiter_->inside = false;
  }

 private:
  Semaphore& semaphore_;
  const std::shared_ptr<Waiter> waiter_;
};

bool Semaphore::fits(SemaphoreLoad load) const {
  if (now_.items == 0 && now_.bytes == 0) return true;
  return adds_up_to(now_.items, load.items, max_.items) &&
         adds_up_to(now_.bytes, load.bytes, max_.bytes);
}

void Semaphore::take(SemaphoreLoad load) {
  now_.items += load.items;
  now_.bytes += load.bytes;
}

Task<Semaphore::Permit> Semaphore::enter(SemaphoreLoad load, std::chrono::milliseconds wait_max) {
  const std::shared_ptr<Semaphore> self = shared_from_this();
  auto waiter = std::make_shared<Waiter>();
  waiter->load = load;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) co_return fail(Errc::kUnavailable, closed_message_);
    if (queue_.empty() && fits(load)) {
      take(load);
      co_return Permit(self, load);
    }
    queue_.push_back(waiter);
  }
  QueueEntry place(*self, waiter);
  std::optional<boost::asio::steady_timer> patience;
  if (wait_max.count() > 0) {
    patience.emplace(co_await boost::asio::this_coro::executor, wait_max);
    patience->async_wait([admitted = waiter->admitted, wait_max](const auto& cancelled) {
      if (cancelled) return;
      admitted.finish(
          fail(Errc::kOverloaded, fmt::format("no room within {} ms", wait_max.count())));
    });
  }
  CO_TRY_VOID(co_await waiter->admitted.wait());
  place.handed_over();
  co_return Permit(self, load);
}

void Semaphore::leave(SemaphoreLoad load) {
  {
    const std::lock_guard lock(mutex_);
    HALITE_CHECK(load.items <= now_.items && load.bytes <= now_.bytes,
                 "released more than was acquired");
    now_.items -= load.items;
    now_.bytes -= load.bytes;
  }
  admit_waiters();
}

void Semaphore::admit_waiters() {
  std::vector<std::shared_ptr<Waiter>> admitted;  // resumed outside the lock
  {
    const std::lock_guard lock(mutex_);
    while (!queue_.empty() && fits(queue_.front()->load)) {
      std::shared_ptr<Waiter> waiter = std::move(queue_.front());
      queue_.pop_front();
      take(waiter->load);
      waiter->inside = true;
      admitted.push_back(std::move(waiter));
    }
  }
  for (const auto& waiter : admitted) waiter->admitted.finish({});
}

void Semaphore::close(std::string message) {
  std::deque<std::shared_ptr<Waiter>> refused;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    closed_message_ = message;
    refused.swap(queue_);
  }
  for (const auto& waiter : refused) {
    waiter->admitted.finish(fail(Errc::kUnavailable, message));
  }
}

SemaphoreLoad Semaphore::under_way() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

}  // namespace halite
