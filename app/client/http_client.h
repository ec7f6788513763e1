// One HTTP request to one server, on a connection of its own: what tools ask.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/ssl/context.hpp>

#include "app/client/server_url.h"
#include "common/task.h"

namespace halite::app {

// What a tool is told beside a server's URL.
struct PeerFiles {
  std::string token;  // its first line says who asks; empty = nobody does
  std::string ca;     // PEM, who may vouch for https; empty = whom this machine trusts
};

struct Peer {
  ServerUrl url;
  std::string token;                               // empty = none is sent
  std::shared_ptr<boost::asio::ssl::context> tls;  // null = http
};

// kInvalidArgument: no URL of a server, or `files.ca` is wrong. kNotFound: there is no token in
// `files.token`.
[[nodiscard]] Result<Peer> make_peer(std::string_view url, const PeerFiles& files);

struct HttpLimits {
  std::uint32_t timeout_ms = 60'000;          // from when its address is known to the last byte
  std::uint64_t body_bytes_max = 512U << 20;  // of an answer
};

struct HttpRequest {
  std::string target;
  std::string body;  // JSON; empty = a GET
};

struct HttpReply {
  unsigned status = 0;
  std::string body;
  std::uint32_t took_ms = 0;
};

// kUnavailable, kTimeout, kTooLarge: it did not answer, or is not who it should be.
[[nodiscard]] Task<HttpReply> send_http(Peer peer, HttpRequest asked, HttpLimits limits);

}  // namespace halite::app
