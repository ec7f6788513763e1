// A limit on work in progress. Requests above the limit wait.
//
//   Order    first come, first served; small requests do not overtake a large one.
//   Threads  call from any thread.
//   Memory   a destroyed waiter leaves the queue, or releases its permit.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "common/threads/completion.h"
#include "common/threads/task.h"

namespace halite {

struct SemaphoreLoad {
  std::size_t items = 0;
  std::size_t bytes = 0;
};

class Semaphore : public std::enable_shared_from_this<Semaphore> {
 public:
  explicit Semaphore(SemaphoreLoad max) : max_(max) {}

  // A holder's part of the limit, released by the destructor.
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

  // Waits for a permit, for at most `wait_max` (0 = no limit), then returns kOverloaded. A load
  // larger than the maximum is admitted alone. No other errors before close().
  Task<Permit> enter(SemaphoreLoad load, std::chrono::milliseconds wait_max = {});

  // Current and future waiters get kUnavailable with this message. Existing permits stay valid.
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
  std::deque<std::shared_ptr<Waiter>> queue_;  // in order of arrival
  bool closed_ = false;
  std::string closed_message_;
};

}  // namespace halite
