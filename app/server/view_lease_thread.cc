#include "app/server/view_lease_thread.h"

#include <chrono>
#include <string>

#include <boost/asio/post.hpp>

#include "app/server/wait_for.h"
#include "common/log.h"
#include "common/threads/thread_name.h"

namespace halite::app {

ViewLeaseThread::ViewLeaseThread(storage::SharedViews& views)
    : views_(views), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ViewLeaseThread::~ViewLeaseThread() {
  thread_.request_stop();
  thread_.join();
  pool_.join();
}

void ViewLeaseThread::run(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kPause(storage::ViewLease::kRenewMs);
  boost::asio::post(pool_, [] { name_this_thread("view-lease"); });
  std::string last_error;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const Result<void> kept = wait_for(pool_.get_executor(), views_.keep_lease());
    const std::string error = kept ? std::string() : kept.error().message;
    if (!error.empty() && error != last_error) {
      log::warn("cannot take or renew the lease of the views: {}", error);
    }
    last_error = error;
    woken_.wait_for(lock, stop, kPause, [] { return false; });
  }
}

}  // namespace halite::app
