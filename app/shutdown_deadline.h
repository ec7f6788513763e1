// Ends the process when its end takes too long: a store that answers no more, on a disk or a
// cluster that hangs, cannot be waited for, and who waits for it cannot be taken apart.
//
//   ShutdownDeadline deadline;
//   deadline.allow(10s, [&] { return "connections that wait for the store"; });
//   ...                                 past it: the log says what is given up; end_process()
//   deadline.allow(60s, ...);           the next step has its own time
//
//   Durable  what was acknowledged is: a stop that is given up is to the store as kill -9.
//   Threads  one of its own, which calls `what`; allow() and the destructor from one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace halite::app {

class ShutdownDeadline {
 public:
  ShutdownDeadline();
  // Does something else than to end the process, once.
  explicit ShutdownDeadline(std::function<void()> end);
  ~ShutdownDeadline();  // everything has ended in time
  ShutdownDeadline(const ShutdownDeadline&) = delete;
  ShutdownDeadline& operator=(const ShutdownDeadline&) = delete;

  // From now on so long. `what` tells what is given up then: the object of a sentence.
  void allow(std::chrono::milliseconds time, std::function<std::string()> what);

 private:
  void run(const std::stop_token& stop);

  const std::function<void()> end_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::steady_clock::time_point until_ =  // guarded by mutex_
      std::chrono::steady_clock::time_point::max();
  std::function<std::string()> what_;  // guarded by mutex_
  std::jthread thread_;                // the last: it uses the others
};

}  // namespace halite::app
