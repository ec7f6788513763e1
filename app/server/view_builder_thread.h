// A thread that computes views in the background.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include <boost/asio/thread_pool.hpp>

#include "storage/views/view_store.h"

namespace halite::app {

class ViewBuilderThread {
 public:
  // Begins at once and uses at most this part of one core on average. The views outlive it.
  ViewBuilderThread(storage::ViewStore& views, std::uint32_t cpu_percent);
  ~ViewBuilderThread();  // waits for the end of the current step

 private:
  void run(const std::stop_token& stop);

  storage::ViewStore& views_;
  const std::uint32_t cpu_percent_;
  boost::asio::thread_pool pool_{1};
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace halite::app
