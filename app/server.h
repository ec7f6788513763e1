// Everything a server is made of, put together in order and taken apart in reverse.
//
//   Threads  start() and stop() from one thread, which runs none of the server's work.
#pragma once

#include <cstdint>
#include <memory>

#include "app/await_store.h"
#include "app/options.h"

namespace halite::app {

class Server {
 public:
  // The config is read only here.
  Server(const Options& options, const Config& config);
  ~Server();  // stops what runs
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // While its store is elsewhere and away, it listens, refuses all with the reason, and tries again
  // after `pause`. When it fails nothing is left running. kConflict: another server has the data
  // directory. kCancelled: `pause` said so.
  Result<void> start(const Pause& pause);

  // No new connections, the running requests finish, everything becomes durable, files close.
  // The first error is returned, but all is stopped nevertheless.
  Result<void> stop();

  [[nodiscard]] std::uint16_t port() const;  // after start()

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace halite::app
