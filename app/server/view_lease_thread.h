// A thread that takes and renews the lease of views that several servers could compute.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/asio/thread_pool.hpp>

#include "storage/views/shared/shared_views.h"

namespace halite::app {

class ViewLeaseThread {
 public:
  // Begins at once. The views outlive it.
  explicit ViewLeaseThread(storage::SharedViews& views);
  ~ViewLeaseThread();  // waits for the end of the current request

 private:
  void run(const std::stop_token& stop);

  storage::SharedViews& views_;
  boost::asio::thread_pool pool_{1};
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace halite::app
