// HTTP on one connection: requests one after the other, each answered before the next is handled.
//
// Keep-alive and pipelining, chunked and compressed requests, "100 Continue", compressed and
// chunked answers. A request that cannot be read is answered with the reason, then the connection
// ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/client_connection.h"
#include "web/context.h"
#include "web/http_parser.h"
#include "web/router.h"

namespace halite::web {

class HttpSession {
 public:
  // The link and the context outlive the session. `early` was read already.
  HttpSession(ClientConnection& link, WebContext& context, std::string early);

  boost::asio::awaitable<void> run();  // until the connection is over

 private:
  // The next request; nothing when the connection is over.
  boost::asio::awaitable<std::optional<Request>> receive();
  // Lets the parser have what is there. False: the connection is over, the reason was sent.
  boost::asio::awaitable<bool> parse(HttpParser& parser);
  // Whether the request may go on to its body; else the refusal was sent and the connection is
  // over.
  boost::asio::awaitable<bool> admit(Request head);
  // Always false: the connection is over.
  boost::asio::awaitable<bool> refuse_early(Response refusal);
  // Who asks, and what they sent, unpacked. The answer, if it is a refusal.
  boost::asio::awaitable<std::optional<Response>> prepare(RoutedRequest& routed);
  // Undoes Content-Encoding and the charset of Content-Type. The answer, if that fails.
  std::optional<Response> unpack(Request& request);
  // Puts what make(bytes_max) gives in place of the body. The answer, if that fails.
  template <class Make>
  std::optional<Response> replace_body(Request& request, std::size_t bytes_max, Make make);
  boost::asio::awaitable<bool> read_more(HttpParser& parser, std::int64_t deadline);
  boost::asio::awaitable<bool> note_read(const HttpParser& parser, Result<std::size_t> count);

  // Always false: the connection is over. Says so where somebody waits for an answer.
  boost::asio::awaitable<bool> give_up(const HttpParser& parser, Error error);
  boost::asio::awaitable<bool> serve(Request request);  // true: another request may follow
  boost::asio::awaitable<void> refuse_and_end(int status, std::string_view message);

  ClientConnection& connection_;
  WebContext& context_;
  std::string in_;            // read, not parsed
  std::size_t at_ = 0;        // parsed up to here
  const std::string remote_;  // who sends, as Java writes it
  std::uint64_t served_ = 0;
  ByteBudget::Share body_share_;  // of the request being received or served
};

}  // namespace halite::web
