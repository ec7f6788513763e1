#include "web/http/disconnect_monitor.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

namespace halite::web {

namespace asio = boost::asio;

struct DisconnectMonitor::State : std::enable_shared_from_this<State> {
  asio::ip::tcp::socket& socket;  // used only before `over`
  std::stop_source work;
  std::int64_t grace_ms;
  asio::steady_timer timer;
  asio::cancellation_signal end;
  bool over = false;

  State(asio::ip::tcp::socket& s, std::stop_source w, std::int64_t grace)
      : socket(s), work(std::move(w)), grace_ms(grace), timer(s.get_executor()) {}

  void wait();
  void look();
  void look_behind();
  void start_grace();
};

void DisconnectMonitor::State::wait() {
  socket.async_wait(asio::ip::tcp::socket::wait_read,
                    asio::bind_cancellation_slot(
                        end.slot(), [self = shared_from_this()](boost::system::error_code error) {
                          if (!self->over && !error) self->look();
                        }));
}

void DisconnectMonitor::State::look() {
  char byte = 0;
  const auto count = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count > 0) {
    look_behind();
  } else if (count == 0) {
    start_grace();
  } else if (errno == EAGAIN || errno == EINTR) {
    wait();
  } else {
    work.request_stop();
  }
}

// Unread bytes hide the end of the stream from recv(), but not from poll().
void DisconnectMonitor::State::look_behind() {
  pollfd state{.fd = socket.native_handle(), .events = POLLRDHUP, .revents = 0};
  const int found = ::poll(&state, 1, 0);
  if (found > 0 && (state.revents & (POLLERR | POLLHUP)) != 0) {
    work.request_stop();
  } else if (found > 0) {
    // If the connection breaks meanwhile, the work only runs for the grace period.
    start_grace();
  } else {
    timer.expires_after(std::chrono::milliseconds(std::clamp<std::int64_t>(grace_ms / 4, 10, 250)));
    timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!self->over && !error) self->look_behind();
    });
  }
}

void DisconnectMonitor::State::start_grace() {
  timer.expires_after(std::chrono::milliseconds(grace_ms));
  timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
    if (!self->over && !error) self->work.request_stop();
  });
}

DisconnectMonitor::DisconnectMonitor(asio::ip::tcp::socket& socket, std::stop_source work,
                                     std::int64_t grace_ms)
    : state_(std::make_shared<State>(socket, std::move(work), grace_ms)) {
  state_->wait();
}

DisconnectMonitor::~DisconnectMonitor() {
  state_->over = true;
  state_->timer.cancel();
  state_->end.emit(asio::cancellation_type::all);
}

}  // namespace halite::web
