#include "storage/backends/hbase/client/cancellable_delays.h"

#include <chrono>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

namespace halite::storage::hbase {

struct CancellableDelays::Wait {
  Wait(const boost::asio::any_io_executor& strand, std::uint32_t ms) : timer(strand), length(ms) {}
  boost::asio::steady_timer timer;
  const std::chrono::milliseconds length;
  const Completion done;
};

CancellableDelays::CancellableDelays(const boost::asio::any_io_executor& executor)
    : strand_(boost::asio::make_strand(executor)) {}

Task<void> CancellableDelays::pause(std::uint32_t ms) {
  const auto wait = std::make_shared<Wait>(strand_, ms);
  auto step = [self = shared_from_this(), wait] { self->begin(wait); };
  boost::asio::post(strand_, std::move(step));
  Task<void> waiting = wait->done.wait();
  co_return co_await std::move(waiting);
}

void CancellableDelays::begin(const std::shared_ptr<Wait>& wait) {
  if (closed_) {
    wait->done.finish(fail(Errc::kUnavailable, "the HBase client is closed"));
    return;
  }
  waits_.insert(wait);
  wait->timer.expires_after(wait->length);
  wait->timer.async_wait(
      [self = shared_from_this(), wait](const boost::system::error_code& problem) {
        self->waits_.erase(wait);
        if (problem) {
          wait->done.finish(fail(Errc::kUnavailable, "the HBase client is closed"));
        } else {
          wait->done.finish({});
        }
      });
}

Task<void> CancellableDelays::close() {
  const Completion closed;
  auto step = [self = shared_from_this(), closed] {
    self->closed_ = true;
    for (const auto& wait : self->waits_) wait->timer.cancel();
    closed.finish({});
  };
  boost::asio::post(strand_, std::move(step));
  Task<void> waiting = closed.wait();
  co_return co_await std::move(waiting);
}

}  // namespace halite::storage::hbase
