// Builds all parts of a server in order, and destroys them in reverse order.
//
//   Threads  call start() and stop() from one thread, which does no other work of the server.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "app/settings/options.h"

namespace halite::app {

// Sleeps for that time, or returns at once for 0. False when the server must stop.
using Pause = std::function<bool(std::chrono::milliseconds)>;

class Server {
 public:
  // Reads the config only here.
  Server(const Options& options, const Config& config);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Answers everything with 503 and the progress until the store is open: during replay, and while
  // a remote store is unavailable. It retries the latter after `pause`. After an error nothing is
  // left running. kConflict: another server uses the data directory. kCancelled: `pause` returned
  // false; it is also called on other threads.
  Result<void> start(const Pause& pause);

  // Applies changes of the file's rules for counters and views from now on; after start().
  void follow(SettingsFile file);

  // Refuses connections, finishes running requests, makes everything durable and closes files.
  // Continues after errors and returns the first one. Ends the process if that takes longer than
  // web.stop_timeout_ms plus web.abandon_timeout_ms, and then storage.close_timeout_ms.
  Result<void> stop();

  [[nodiscard]] std::uint16_t port() const;  // after start()

 private:
  struct Components;
  std::unique_ptr<Components> components_;
};

}  // namespace halite::app
