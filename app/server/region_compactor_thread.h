// A thread that periodically compacts the HBase regions of a ring.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/asio/any_io_executor.hpp>

#include "storage/backends/hbase/regions/region_compactor.h"

namespace halite::app {

class RegionCompactorThread {
 public:
  // Begins at once. The executor's threads outlive this object. Close the HBase client before you
  // destroy it, so that no call blocks it.
  RegionCompactorThread(storage::RegionCompactor compactor, boost::asio::any_io_executor executor);

 private:
  void run(const std::stop_token& stop);

  storage::RegionCompactor compactor_;
  const boost::asio::any_io_executor executor_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace halite::app
