// One HTTP request to one server, on a connection of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/compare/asked.h"
#include "common/task.h"

namespace halite::app {

// "http://host:4242/prefix"
struct ServerUrl {
  std::string host;
  std::string port;
  std::string prefix;  // before every path; empty, or begins with '/'
  std::string token;   // that says who asks; empty = nobody
};

[[nodiscard]] Result<ServerUrl> parse_server_url(std::string_view text);

// The token is the first line of `token_file`; empty = there is none. kNotFound: it cannot be read.
[[nodiscard]] Result<ServerUrl> server_with_token(std::string_view url,
                                                  const std::string& token_file);

struct HttpLimits {
  std::uint32_t timeout_ms = 60'000;          // from the first look for its name to the last byte
  std::uint64_t body_bytes_max = 512U << 20;  // of an answer
};

struct HttpReply {
  unsigned status = 0;
  std::string body;
  std::uint32_t took_ms = 0;
};

// kUnavailable, kTimeout, kTooLarge: it did not answer.
[[nodiscard]] Task<HttpReply> ask_http(ServerUrl server, Asked asked, HttpLimits limits);

}  // namespace halite::app
