// Threads for sockets, each with its own event loop. Work on one executor stays on one thread, so
// it needs no strand and wakes no other thread.
//
//   IoThreads threads(4, "web");
//   co_spawn(threads.executors()[i], ...)
//   threads.join();                     runs until no work is left
//
//   Threads  call from any other thread. Call join() after everything that uses the threads was
//            asked to end.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

namespace halite {

class IoThreads {
 public:
  // At least one thread. All have this name, at most 15 characters long.
  IoThreads(std::size_t threads, const char* name);
  ~IoThreads();  // without join() before it: drops pending work
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  // One executor for each thread.
  [[nodiscard]] const std::vector<boost::asio::any_io_executor>& executors() const {
    return executors_;
  }

  void join();

 private:
  struct Loop;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<boost::asio::any_io_executor> executors_;
};

}  // namespace halite
