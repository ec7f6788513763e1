#include "app/server/shutdown_deadline.h"

#include <utility>

#include "app/server/logging.h"
#include "common/log.h"
#include "common/threads/thread_name.h"

namespace halite::app {

ShutdownDeadline::ShutdownDeadline() : ShutdownDeadline(end_process) {}

ShutdownDeadline::ShutdownDeadline(std::function<void()> end)
    : end_(std::move(end)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

ShutdownDeadline::~ShutdownDeadline() = default;

void ShutdownDeadline::allow(std::chrono::milliseconds time, std::function<std::string()> what) {
  const std::lock_guard lock(mutex_);
  until_ = std::chrono::steady_clock::now() + time;
  what_ = std::move(what);
  changed_.notify_all();
}

void ShutdownDeadline::run(const std::stop_token& stop) {
  name_this_thread("stop-deadline");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto until = until_;
    changed_.wait_until(lock, stop, until, [&] { return until_ != until; });
    if (stop.stop_requested() || until_ != until) continue;
    log::critical(
        "shutdown timed out, the process exits without waiting for: {}. Acknowledged points are "
        "durable",
        what_());
    return end_();
  }
}

}  // namespace halite::app
