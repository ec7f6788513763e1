#include "app/server/region_compactor_thread.h"

#include <chrono>
#include <utility>

#include "app/server/wait_for.h"
#include "common/log.h"

namespace halite::app {

RegionCompactorThread::RegionCompactorThread(storage::RegionCompactor compactor,
                                             boost::asio::any_io_executor executor)
    : compactor_(std::move(compactor)),
      executor_(std::move(executor)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void RegionCompactorThread::run(const std::stop_token& stop) {
  const std::chrono::milliseconds interval(compactor_.options().interval_ms);
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (compactor_.quiet()) {
      const Result<std::uint32_t> asked = wait_for(executor_, compactor_.look());
      if (!asked && !stop.stop_requested()) {
        log::warn("cannot check the HBase regions for expired data: {}", asked.error().message);
      }
    }
    woken_.wait_for(lock, stop, interval, [] { return false; });
  }
}

}  // namespace halite::app
