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

struct GateLoad {
  std::size_t items = 0;
  std::size_t bytes = 0;
};

class Gate : public std::enable_shared_from_this<Gate> {
 public:
  explicit Gate(GateLoad max) : max_(max) {}

  // Room that was given; goes back when the pass is destroyed.
  class Pass {
   public:
    Pass() = default;
    Pass(std::shared_ptr<Gate> gate, GateLoad load) : gate_(std::move(gate)), load_(load) {}
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
    std::shared_ptr<Gate> gate_;
    GateLoad load_;
  };

  // Waits for room, for at most so long (0: as long as it takes), then kOverloaded. What is larger
  // than the maximum passes alone. No other error but after close().
  Task<Pass> enter(GateLoad load, std::chrono::milliseconds wait_max = {});

  // Those who wait and those who come later get kUnavailable with this message; who is inside
  // stays.
  void close(std::string message);

  [[nodiscard]] GateLoad under_way() const;

 private:
  struct Waiter {
    GateLoad load;
    Completion admitted;
    bool inside = false;  // guarded by mutex_
  };
  class Place;

  void leave(GateLoad load);
  [[nodiscard]] bool fits(GateLoad load) const;
  void take(GateLoad load);
  void admit_waiters();

  const GateLoad max_;
  mutable std::mutex mutex_;
  GateLoad now_;                               // the rest is guarded by mutex_
  std::deque<std::shared_ptr<Waiter>> queue_;  // first come first
  bool closed_ = false;
  std::string closed_message_;
};

}  // namespace halite
