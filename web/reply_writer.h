// Replies to a telnet client, sent beside the reading: a client that never reads them must not stop
// its own points. What does not fit into the maximum is dropped and counted.
//
//   Threads  on the socket's strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/client_connection.h"
#include "web/metrics.h"

namespace halite::web {

class ReplyWriter {
 public:
  // The metrics outlive the writer; the link is kept by it.
  ReplyWriter(std::shared_ptr<ClientConnection> link, std::size_t bytes_max, WebMetrics& metrics);
  ~ReplyWriter();
  ReplyWriter(const ReplyWriter&) = delete;
  ReplyWriter& operator=(const ReplyWriter&) = delete;

  // Whole lines. Those that do not fit are dropped, the rest goes out without waiting here.
  void send(std::string_view lines);

  [[nodiscard]] bool sending() const;  // a write is under way

  // Waits until everything was sent or the connection broke; closes it when the time is up. No
  // write is under way afterwards. Always awaited before the writer goes.
  boost::asio::awaitable<void> drain(std::int64_t timeout_ms);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite::web
