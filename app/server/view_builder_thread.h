// A thread that computes views in the background.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include <boost/asio/thread_pool.hpp>

#include "common/threads/task.h"

namespace halite::app {

class ViewBuilderThread {
 public:
  // Begins at once and uses at most this part of one core on average. `build_some` computes some
  // units; false: nothing to do now. What it uses outlives the thread.
  ViewBuilderThread(std::function<Task<bool>()> build_some, std::uint32_t cpu_percent);
  ~ViewBuilderThread();  // waits for the end of the current step

 private:
  void run(const std::stop_token& stop);

  const std::function<Task<bool>()> build_some_;
  const std::uint32_t cpu_percent_;
  boost::asio::thread_pool pool_{1};
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace halite::app
