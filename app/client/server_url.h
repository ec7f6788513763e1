// Where a server is, as its user writes it: http://HOST[:PORT][/PREFIX], or https.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::app {

struct ServerUrl {
  bool secure = false;  // https
  std::string host;
  std::string port;    // 4242 where none is said
  std::string prefix;  // before every path; empty, or begins with '/'
};

// kInvalidArgument: it is something else, or has a user or password in it.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text);

}  // namespace halite::app
