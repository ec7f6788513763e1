// How much may be under way at once: whoever asks for more waits his turn.
//
//   Order    first come, first served; a large request is not overtaken by small ones.
//   Threads  any call from any thread.
//   Memory   a waiter that is thrown away leaves the line, or gives back what it was given.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "common/completion.h"
#include "common/task.h"

namespace halite {

struct SemaphoreLoad {
  std::size_t items = 0;
  std::size_t bytes = 0;
};

class Semaphore : public std::enable_shared_from_this<Semaphore> {
 public:
  explicit Semaphore(SemaphoreLoad max) : max_(max) {}

  // Room that was given; goes back when the pass is destroyed.
  class Permit {
   public:
    Permit() = default;
    Permit(std::shared_ptr<Semaphore> gate, SemaphoreLoad load)
        : semaphore_(std::move(gate)), load_(load) {}
    Permit(Permit&& other) noexcept : semaphore_(std::move(other.semaphore_)), load_(other.load_) {}
    Permit& operator=(Permit&& other) noexcept {
      std::swap(semaphore_, other.semaphore_);
      std::swap(load_, other.load_);
      return *this;
    }
    ~Permit() {
      if (semaphore_ != nullptr) semaphore_->leave(load_);
    }

   private:
    std::shared_ptr<Semaphore> semaphore_;
    SemaphoreLoad load_;
  };

  // Waits for room, for at most so long (0: as long as it takes), then kOverloaded. What is larger
  // than the maximum passes alone. No other error but after close().
  Task<Permit> enter(SemaphoreLoad load, std::chrono::milliseconds wait_max = {});

  // Those who wait and those who come later get kUnavailable with this message; who is inside
  // stays.
  void close(std::string message);

  [[nodiscard]] SemaphoreLoad under_way() const;

 private:
  struct Waiter {
    SemaphoreLoad load;
    Completion admitted;
    bool inside = false;  // guarded by mutex_
  };
  class QueueEntry;

  void leave(SemaphoreLoad load);
  [[nodiscard]] bool fits(SemaphoreLoad load) const;
  void take(SemaphoreLoad load);
  void admit_waiters();

  const SemaphoreLoad max_;
  mutable std::mutex mutex_;
  SemaphoreLoad now_;                          // the rest is guarded by mutex_
  std::deque<std::shared_ptr<Waiter>> queue_;  // first come first
  bool closed_ = false;
  std::string closed_message_;
};

}  // namespace halite
