// Looks after the regions of a ring in HBase from time to time, in a thread of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "storage/backends/hbase/regions/region_compactor.h"

namespace halite::app {

class RegionCompactorThread {
 public:
  // Begins at once. The executor's threads outlive it. Before it is destroyed, the client that it
  // asks is closed, so that no call keeps it waiting.
  RegionCompactorThread(storage::RegionCompactor compactor, boost::asio::any_io_executor executor);

 private:
  void run(const std::stop_token& stop);

  storage::RegionCompactor compactor_;
  const boost::asio::any_io_executor executor_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // the last: it uses the others
};

}  // namespace halite::app
