// Sends replies to a telnet client in parallel to reading: a client that never reads replies must
// not block its own points. Replies above the maximum are dropped and counted.
//
//   Threads  on the socket's strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/connection/client_connection.h"
#include "web/metrics.h"

namespace halite::web {

class ReplyWriter {
 public:
  // The metrics outlive the writer. The writer keeps the connection alive.
  ReplyWriter(std::shared_ptr<ClientConnection> link, std::size_t bytes_max, WebMetrics& metrics);
  ~ReplyWriter();
  ReplyWriter(const ReplyWriter&) = delete;
  ReplyWriter& operator=(const ReplyWriter&) = delete;

  // Sends whole lines without waiting. Drops lines that do not fit.
  void send(std::string_view lines);

  [[nodiscard]] bool sending() const;  // a write is in progress

  // Waits until everything is sent or the connection breaks; closes it when the time is up. No
  // write is in progress afterwards. Await it before you destroy the writer.
  boost::asio::awaitable<void> drain(std::int64_t timeout_ms);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite::web
