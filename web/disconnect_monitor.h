// Notices that the client left while its request runs, and stops the work done for it.
//
// A reset connection stops the work at once. An end of stream may be a client that only closed its
// sending half (as `nc -N` does), so the work gets a grace first. Bytes that arrive are the
// client's next request and stay where they are; what may come behind them is looked for a few
// times a second.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include <boost/asio/ip/tcp.hpp>

namespace halite::web {

// Lives on the socket's strand, while nobody else reads from the socket.
class DisconnectMonitor {
 public:
  DisconnectMonitor(boost::asio::ip::tcp::socket& socket, std::stop_source work,
                    std::int64_t grace_ms);
  ~DisconnectMonitor();  // ends the watch
  DisconnectMonitor(const DisconnectMonitor&) = delete;
  DisconnectMonitor& operator=(const DisconnectMonitor&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite::web
