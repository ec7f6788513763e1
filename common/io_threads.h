// Threads for sockets, each with an event loop of its own: what runs on one executor runs on one
// thread, so that it needs no strand and wakes no other thread.
//
//   IoThreads threads(4, "web");
//   co_spawn(threads.executors()[i], ...)
//   threads.join();                     runs until nothing is under way
//
//   Threads  any call from any thread but these; join() once everything that uses them is told to
//            end.
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

namespace halite {

class IoThreads {
 public:
  // At least one; all have this name, of at most 15 characters.
  IoThreads(std::size_t threads, const char* name);
  ~IoThreads();  // without join() before: drops what is under way
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  // One a thread.
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
