// A shared mutex at which nobody waits for ever: those who want it shared pass a turnstile first,
// and who wants it alone holds the turnstile while it waits. So those that come later queue behind
// it, where a std::shared_mutex may let them in one after the other as long as they overlap.
//
//   Threads  any. Not recursive: who holds it, shared or alone, must not ask for it again.
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
