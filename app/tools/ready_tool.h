// `halite ready`: asks a server for /-/ready, for health checks without curl.
#pragma once

#include <cstdint>
#include <string>

#include "app/client/http_client.h"

namespace halite::app {

struct ReadyFlags {
  std::string url = "http://127.0.0.1:4242";
  PeerFiles files;
  std::uint32_t timeout_ms = 5000;
};

// What a ready server answers. kUnavailable, kTimeout: it is not ready, or does not answer.
[[nodiscard]] Result<std::string> ask_ready(const ReadyFlags& flags);

}  // namespace halite::app
