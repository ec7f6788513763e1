// Detects that the client disconnected while its request runs, and stops the work for it.
//
// A reset connection stops the work at once. An end of stream may come from a client that only
// closed its sending half (as `nc -N` does), so the work gets a grace period. Bytes that arrive are
// the next request and stay unread; the monitor checks a few times each second what follows them.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include <boost/asio/ip/tcp.hpp>

namespace halite::web {

// Lives on the socket's strand, while nothing else reads from the socket.
class DisconnectMonitor {
 public:
  DisconnectMonitor(boost::asio::ip::tcp::socket& socket, std::stop_source work,
                    std::int64_t grace_ms);
  ~DisconnectMonitor();  // stops monitoring
  DisconnectMonitor(const DisconnectMonitor&) = delete;
  DisconnectMonitor& operator=(const DisconnectMonitor&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite::web
