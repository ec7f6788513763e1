// A bound on the bytes that may be under way at once. Who asks for more waits in line.
//
//   Order    first come, first served: a large request is not overtaken for ever by small ones.
//   Threads  any call from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "common/completion.h"
#include "common/task.h"

namespace halite {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Waits until `bytes` fit, then takes them. More than bytes_max fits when nothing else is taken.
  // An error only after close().
  Task<void> acquire(std::size_t bytes);
  void release(std::size_t bytes);

  // Those who wait and those who come later get kUnavailable with this message.
  void close(std::string message);

  [[nodiscard]] std::size_t taken_bytes() const;

 private:
  struct Waiter {
    std::size_t bytes = 0;
    Completion admitted;
  };
  [[nodiscard]] bool fits(std::size_t bytes) const {
    return taken_bytes_ == 0 || taken_bytes_ + bytes <= bytes_max_;
  }

  const std::size_t bytes_max_;
  mutable std::mutex mutex_;
  std::size_t taken_bytes_ = 0;  // the rest is guarded by mutex_
  std::deque<Waiter> waiters_;
  bool closed_ = false;
  std::string closed_message_;
};

}  // namespace halite
