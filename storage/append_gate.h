// How much may be under way at once: whoever asks for more waits his turn.
//
//   Order    first come, first served; a large request is not overtaken by small ones.
//   Threads  any call from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "common/completion.h"
#include "common/task.h"

namespace halite::storage {

struct AppendLoad {
  std::size_t points = 0;
  std::size_t bytes = 0;
};

class AppendGate : public std::enable_shared_from_this<AppendGate> {
 public:
  explicit AppendGate(AppendLoad max) : max_(max) {}

  // Room that was given; goes back when the pass is destroyed.
  class Pass {
   public:
    Pass() = default;
    Pass(std::shared_ptr<AppendGate> gate, AppendLoad load) : gate_(std::move(gate)), load_(load) {}
    Pass(Pass&& other) noexcept : gate_(std::move(other.gate_)), load_(other.load_) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(load_, other.load_);
      return *this;
    }
    ~Pass() {
      if (gate_ != nullptr) gate_->leave(load_);
    }

   private:
    std::shared_ptr<AppendGate> gate_;
    AppendLoad load_;
  };

  // Waits for room. What is larger than the maximum passes alone.
  Task<Pass> enter(AppendLoad load);

  [[nodiscard]] AppendLoad under_way() const;

 private:
  struct Waiter {
    AppendLoad load;
    Completion admitted;
    bool inside = false;  // has room that nobody else holds a Pass for; guarded by mutex_
  };
  class Place;  // in the queue

  void leave(AppendLoad load);
  [[nodiscard]] bool fits(AppendLoad load) const;
  void admit_waiters();

  const AppendLoad max_;
  mutable std::mutex mutex_;
  AppendLoad now_;                             // guarded by mutex_
  std::deque<std::shared_ptr<Waiter>> queue_;  // guarded by mutex_
};

}  // namespace halite::storage
