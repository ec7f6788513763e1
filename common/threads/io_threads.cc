#include "common/threads/io_threads.h"

#include <algorithm>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "common/threads/thread_name.h"

namespace halite {

struct IoThreads::Loop {
  boost::asio::io_context context{1};  // run by one thread
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::thread thread;
};

IoThreads::IoThreads(std::size_t threads, const char* name) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    Loop& loop = *loops_.emplace_back(std::make_unique<Loop>());
    executors_.emplace_back(loop.context.get_executor());
    loop.thread = std::thread([&loop, name] {
      name_this_thread(name);
      loop.context.run();
    });
  }
}

IoThreads::~IoThreads() {
  for (const auto& loop : loops_) loop->context.stop();
  join();
}

// End all loops before destroying any: work that ends on one may still post to another.
void IoThreads::join() {
  for (const auto& loop : loops_) loop->work.reset();
  for (const auto& loop : loops_) {
    if (loop->thread.joinable()) loop->thread.join();
  }
}

}  // namespace halite
