// An HTTP client: one request on its own connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include "app/client/server_url.h"
#include "common/threads/task.h"

namespace halite::app {

// The files that a tool takes besides a server's URL.
struct PeerFiles {
  std::string token;  // the first line is the token; empty = none
  std::string ca;     // PEM of trusted CAs for https; empty = the system's
};

struct Peer {
  ServerUrl url;
  std::string token;                               // empty = none is sent
  std::shared_ptr<boost::asio::ssl::context> tls;  // null = http
};

// kInvalidArgument: not a server URL, or `files.ca` is invalid. kNotFound: `files.token` contains
// no token.
[[nodiscard]] Result<Peer> make_peer(std::string_view url, const PeerFiles& files,
                                     UrlPorts ports = UrlPorts::kHalite);

struct HttpLimits {
  std::uint32_t timeout_ms = 60'000;          // from the resolved address to the last byte
  std::uint64_t body_bytes_max = 512U << 20;  // of an answer
};

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpRequest {
  std::string target;
  std::string body;  // empty = a GET
  std::string content_type = "application/json";
  std::vector<HttpHeader> headers = {};
};

struct HttpReply {
  unsigned status = 0;
  std::string body;
  std::uint32_t took_ms = 0;
  std::string retry_after = {};  // the header; empty: none
};

// kUnavailable, kTimeout, kTooLarge: no valid answer, or the certificate is not trusted.
[[nodiscard]] Task<HttpReply> send_http(Peer peer, HttpRequest asked, HttpLimits limits);

}  // namespace halite::app
