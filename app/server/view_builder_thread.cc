#include "app/server/view_builder_thread.h"

#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/server/wait_for.h"
#include "common/log.h"
#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

constexpr std::chrono::milliseconds kIdle(1000);
constexpr std::chrono::milliseconds kAfterError(10'000);

}  // namespace

ViewBuilderThread::ViewBuilderThread(std::function<Task<bool>()> build_some,
                                     std::uint32_t cpu_percent)
    : build_some_(std::move(build_some)),
      cpu_percent_(cpu_percent),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ViewBuilderThread::~ViewBuilderThread() {
  thread_.request_stop();
  thread_.join();
  pool_.join();
}

void ViewBuilderThread::run(const std::stop_token& stop) {
  boost::asio::post(pool_, [] { name_this_thread("views"); });
  std::string last_error;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto began = std::chrono::steady_clock::now();
    const Result<bool> built = wait_for(pool_.get_executor(), build_some_());
    const auto took = std::chrono::steady_clock::now() - began;
    std::chrono::nanoseconds pause = kIdle;
    if (!built) {
      if (built.error().message != last_error) {
        last_error = built.error().message;
        log::warn("cannot compute views: {}", last_error);
      }
      pause = kAfterError;
    } else if (*built) {
      last_error.clear();
      pause = took * (100 - cpu_percent_) / cpu_percent_;
    }
    woken_.wait_for(lock, stop, pause, [] { return false; });
  }
}

}  // namespace halite::app
