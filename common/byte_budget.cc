#include "common/byte_budget.h"

#include <utility>
#include <vector>

#include "common/check.h"

namespace halite {

Task<void> ByteBudget::acquire(std::size_t bytes) {
  Waiter waiter{bytes, {}};
  {
    const std::lock_guard lock(mutex_);
    if (closed_) co_return fail(Errc::kUnavailable, closed_message_);
    if (waiters_.empty() && fits(bytes)) {
      taken_bytes_ += bytes;
      co_return Result<void>();
    }
    waiters_.push_back(waiter);
  }
  co_return co_await waiter.admitted.wait();
}

void ByteBudget::release(std::size_t bytes) {
  std::vector<Completion> admitted;  // finished outside the lock
  {
    const std::lock_guard lock(mutex_);
    HALITE_CHECK(bytes <= taken_bytes_, "more bytes given back than taken");
    taken_bytes_ -= bytes;
    while (!waiters_.empty() && fits(waiters_.front().bytes)) {
      taken_bytes_ += waiters_.front().bytes;
      admitted.push_back(waiters_.front().admitted);
      waiters_.pop_front();
    }
  }
  for (const Completion& completion : admitted) completion.finish({});
}

void ByteBudget::close(std::string message) {
  std::deque<Waiter> waiters;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    closed_message_ = message;
    waiters.swap(waiters_);
  }
  for (const Waiter& waiter : waiters) {
    waiter.admitted.finish(fail(Errc::kUnavailable, message));
  }
}

std::size_t ByteBudget::taken_bytes() const {
  const std::lock_guard lock(mutex_);
  return taken_bytes_;
}

}  // namespace halite
