// Answers at the door while there is nothing to serve from: the store is not there yet, or is still
// being opened.
//
//   HTTP     503 with the reason and Retry-After, whatever is asked; /-/healthy is 200, as the
//            process lives. Heads are read as the server reads them.
//   Telnet   one line with the reason, and the end: agents keep their points and come again.
//   TLS      as the server's: whoever asks with it is answered with it, also about /-/healthy.
//   Threads  one of its own; set_reason() from any thread, the rest from one.
//   Limits   what a connection may send, and how long it may take.
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
  std::size_t request_bytes_max = 64 << 10;  // read of a request; more of a body is left unread
  std::int64_t request_ms_max = 5'000;       // for all of a connection
  std::size_t connections_max = 1'000;       // at a time; more are closed at once
};

class StartupListener {
 public:
  // Listens until it is destroyed or hands over; then its connections end. Errors as of
  // bind_acceptor() and Tls::load().
  static Result<std::unique_ptr<StartupListener>> open(const WebOptions& options,
                                                       std::string reason,
                                                       StartupListenerLimits limits = {});
  ~StartupListener();

  void set_reason(std::string reason);
  [[nodiscard]] std::uint16_t port() const;  // until it hands over

  // `to` listens on the same socket: nobody is refused in between, and nobody else can take the
  // port. This one is over.
  [[nodiscard]] Result<void> append_to_store(boost::asio::ip::tcp::acceptor& to);

 private:
  struct State;
  explicit StartupListener(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace halite::web
