// A server's address as users write it: http://HOST[:PORT][/PREFIX], or https.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::app {

struct ServerUrl {
  bool secure = false;  // https
  std::string host;
  std::string port;
  std::string prefix;  // before every path; empty, or starts with '/'
};

// The port of a URL without one.
enum class UrlPorts : std::uint8_t {
  kHalite,    // 4242
  kOfScheme,  // 80 or 443
};

// kInvalidArgument: anything else, or a URL with a user or password.
[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text,
                                                 UrlPorts ports = UrlPorts::kHalite);

// Whether both are one server, as far as the names say: two names of this machine count as equal,
// but names are not resolved.
[[nodiscard]] bool is_same_server(const ServerUrl& one, const ServerUrl& other);

// "HOST:PORT", as in the Host header.
[[nodiscard]] std::string authority(const ServerUrl& url);
// "http://HOST:PORT/PREFIX", for messages.
[[nodiscard]] std::string url_text(const ServerUrl& url);

}  // namespace halite::app
