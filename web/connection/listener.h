// Accepts connections and owns their sessions.
//
//   Threads  call start() and stop() from one thread that does not run the executor. Sessions run
//            on strands of the executor or, with event loops, each on the least loaded loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "common/result.h"
#include "web/context.h"

namespace halite::web {

class StartupListener;

// What a port speaks.
enum class PortProtocol : std::uint8_t { kHttpAndTelnet, kGraphiteLines, kGraphitePickle };

class Listener {
 public:
  // The context outlives the listener. The options have an address for the protocol.
  Listener(WebContext& context, PortProtocol protocol, boost::asio::any_io_executor executor,
           std::vector<boost::asio::any_io_executor> event_loops);
  ~Listener();

  [[nodiscard]] Result<void> start(StartupListener* before);  // see WebServer, also for the rest
  void stop();
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace halite::web
