// A shared mutex without starvation. A shared lock first passes a turnstile, and an exclusive lock
// keeps the turnstile while it waits. Later shared locks therefore queue behind it; a
// std::shared_mutex may admit them as long as they overlap.
//
//   Threads  call from any thread. Not recursive, neither shared nor exclusive.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace halite {

class FairSharedMutex {
 public:
  void lock() {
    const std::lock_guard turn(turnstile_);
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

  void lock_shared() {
    const std::lock_guard turn(turnstile_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex turnstile_;
  std::shared_mutex mutex_;
};

}  // namespace halite
