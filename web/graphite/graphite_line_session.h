// Graphite's plain text on one connection: lines "path value time". Nothing is answered.
//
// The lines of one read go to the store together, and nothing more is read until they are durable.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/connection/client_connection.h"
#include "web/context.h"
#include "web/graphite/graphite_sink.h"
#include "web/telnet/line_splitter.h"

namespace halite::web {

class GraphiteLineSession {
 public:
  static constexpr std::size_t kLineBytesMax = 64 << 10;  // a longer line is refused

  // Both outlive the session.
  GraphiteLineSession(ClientConnection& connection, WebContext& context)
      : connection_(connection),
        context_(context),
        lines_(kLineBytesMax, context.options.read_bytes),
        sink_(connection, context) {}

  boost::asio::awaitable<void> run();  // until the connection ends

 private:
  boost::asio::awaitable<bool> read();        // false: end of input
  boost::asio::awaitable<void> take_lines();  // all that were read

  ClientConnection& connection_;
  WebContext& context_;
  LineSplitter lines_;
  GraphiteSink sink_;
};

}  // namespace halite::web
