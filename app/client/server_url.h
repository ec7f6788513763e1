// A server's address as users write it: http://HOST[:PORT][/PREFIX], or https.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::app {

struct ServerUrl {
  bool secure = false;  // https
  std::string host;
  std::string port;    // 4242 by default
  std::string prefix;  // before every path; empty, or starts with '/'
};

// kInvalidArgument: anything else, or a URL with a user or password.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace halite::app
