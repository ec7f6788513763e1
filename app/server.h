// Everything a server is made of, put together in order and taken apart in reverse.
//
//   Threads  start() and stop() from one thread, which runs none of the server's work.
#pragma once

#include <cstdint>
#include <memory>

#include "app/options.h"
#include "app/wait_for_store.h"

namespace halite::app {

class Server {
 public:
  // The config is read only here.
  Server(const Options& options, const Config& config);
  ~Server();  // stops what runs
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // First it listens and answers everything with 503 and how far it is: while the store replays its
  // log, and while a store that is elsewhere is away, for which it tries again after `pause`. When
  // it fails nothing is left running. kConflict: another server has the data directory. kCancelled:
  // `pause` said so, which is asked on other threads, too.
  Result<void> start(const Pause& pause);

  // No new connections, the running requests finish, everything becomes durable, files close.
  // The first error is returned, but all is stopped nevertheless. Ends the process when that takes
  // longer than web.stop_timeout_ms and web.abandon_timeout_ms, and then storage.close_timeout_ms.
  Result<void> stop();

  [[nodiscard]] std::uint16_t port() const;  // after start()

 private:
  struct Components;
  std::unique_ptr<Components> components_;
};

}  // namespace halite::app
