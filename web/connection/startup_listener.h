// The startup listener: answers on the port until the store is open.
//
//   HTTP     503 with the reason and Retry-After for any request; /-/healthy is 200, because the
//            process lives. Reads heads as the server does.
//   Telnet   one line with the reason, then the end: agents keep their points and reconnect.
//   TLS      as for the server, also for /-/healthy.
//   Threads  it has its own thread. Call set_reason() from any thread, the rest from one.
//   Limits   on the size of a request and the time of a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/ip/tcp.hpp>

#include "common/result.h"
#include "web/options.h"

namespace halite::web {

struct StartupListenerLimits {
  std::size_t request_bytes_max = 64 << 10;  // of a request; more of a body stays unread
  std::int64_t request_ms_max = 5'000;       // for a whole connection
  std::size_t connections_max = 1'000;       // at a time; more are closed at once
};

class StartupListener {
 public:
  // Listens until it is destroyed or hands over; then its connections end. Errors of
  // bind_acceptor() and Tls::load().
  static Result<std::unique_ptr<StartupListener>> open(const WebOptions& options,
                                                       std::string reason,
                                                       StartupListenerLimits limits = {});
  ~StartupListener();

  void set_reason(std::string reason);
  [[nodiscard]] std::uint16_t port() const;  // until it hands over

  // Hands the socket over to `to`, which listens on it: no connection is refused meanwhile, and no
  // other process can take the port. This listener has then ended.
  [[nodiscard]] Result<void> hand_over(boost::asio::ip::tcp::acceptor& to);

 private:
  struct State;
  explicit StartupListener(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace halite::web
