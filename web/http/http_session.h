// HTTP on one connection: one request at a time.
//
// Supports keep-alive, pipelining, "100 Continue", and chunked or compressed requests and answers.
// An invalid request gets an answer with the reason, then the connection closes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/connection/client_connection.h"
#include "web/context.h"
#include "web/http/http_parser.h"
#include "web/router.h"

namespace halite::web {

class HttpSession {
 public:
  // `link` and `context` outlive the session. `early` holds bytes already read.
  HttpSession(ClientConnection& link, WebContext& context, std::string early);

  boost::asio::awaitable<void> run();  // until the connection ends

 private:
  // The next request; nullopt when the connection has ended.
  boost::asio::awaitable<std::optional<Request>> receive();
  // Parses what was read. False: the connection has ended, and the reason was sent.
  boost::asio::awaitable<bool> parse(HttpParser& parser);
  // Decides whether to read the request's body. False: the refusal was sent, and the connection
  // ends.
  boost::asio::awaitable<bool> admit(Request head);
  // Always false: the connection ends.
  boost::asio::awaitable<bool> refuse_early(Response refusal);
  // Authenticates the caller and decodes the body. Returns the refusal, if any.
  boost::asio::awaitable<std::optional<Response>> prepare(RoutedRequest& routed);
  // Decodes the body as its form says. Returns the answer to an error, if any.
  std::optional<Response> unpack(Call& call, BodyForm form);
  // Replaces the body with the result of make(bytes_max). Returns the answer to an error, if any.
  template <class Make>
  std::optional<Response> replace_body(Call& call, std::size_t bytes_max, Make make);
  boost::asio::awaitable<bool> read_more(HttpParser& parser, std::int64_t deadline);
  boost::asio::awaitable<bool> note_read(const HttpParser& parser, Result<std::size_t> count);

  // Always false: the connection ends. Sends the reason if a client waits for an answer.
  boost::asio::awaitable<bool> give_up(const HttpParser& parser, Error error);
  boost::asio::awaitable<bool> serve(Request request);  // true: another request may follow
  boost::asio::awaitable<void> refuse_and_end(int status, std::string_view message);

  ClientConnection& connection_;
  WebContext& context_;
  std::string in_;            // read, not parsed
  std::size_t at_ = 0;        // parsed up to here
  const std::string remote_;  // the sender, in Java's format
  std::uint64_t served_ = 0;
  ByteBudget::Share body_share_;  // of the request being received or served
};

}  // namespace halite::web
