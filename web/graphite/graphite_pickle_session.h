// Graphite's pickle protocol on one connection: messages with their length before them. Nothing is
// answered.
//
// Nothing more is read until the points of a message are durable. A message that is no pickle, or
// too long, ends the connection: what follows it cannot be trusted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "web/connection/client_connection.h"
#include "web/context.h"
#include "web/graphite/graphite_sink.h"

namespace halite::web {

class GraphitePickleSession {
 public:
  // Both outlive the session.
  GraphitePickleSession(ClientConnection& connection, WebContext& context)
      : connection_(connection), context_(context), sink_(connection, context) {}

  boost::asio::awaitable<void> run();  // until the connection ends

 private:
  // Reads until the buffer has so many bytes. False: end of input.
  boost::asio::awaitable<bool> fill(std::size_t bytes);
  boost::asio::awaitable<bool> take_message();  // false: the connection has to end
  void end_with(std::string_view why);          // logs it

  ClientConnection& connection_;
  WebContext& context_;
  GraphiteSink sink_;
  std::string buffer_;
  std::size_t filled_ = 0;  // bytes of the buffer that were read
};

}  // namespace halite::web
