// Ends the process if its shutdown takes too long: nothing can wait for a store on a disk or
// cluster that hangs, or destroy an object that waits for it.
//
//   ShutdownDeadline deadline;
//   deadline.allow(10s, [&] { return "connections that wait for the store"; });
//   ...                                 too late: logs what it abandons; end_process()
//   deadline.allow(60s, ...);           the next step has its own time
//
//   Durable  acknowledged data is: to the store, an abandoned stop is like kill -9.
//   Threads  a separate thread calls `what`; call allow() and the destructor from one thread.
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
  // Calls `end` once instead of ending the process.
  explicit ShutdownDeadline(std::function<void()> end);
  ~ShutdownDeadline();  // all steps ended in time
  ShutdownDeadline(const ShutdownDeadline&) = delete;
  ShutdownDeadline& operator=(const ShutdownDeadline&) = delete;

  // Allows `time` from now on. `what` names what is abandoned then: the object of a sentence.
  void allow(std::chrono::milliseconds time, std::function<std::string()> what);

 private:
  void run(const std::stop_token& stop);

  const std::function<void()> end_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::steady_clock::time_point until_ =  // guarded by mutex_
      std::chrono::steady_clock::time_point::max();
  std::function<std::string()> what_;  // guarded by mutex_
  std::jthread thread_;                // last: it uses the others
};

}  // namespace halite::app
