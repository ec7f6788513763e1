// Bytes in, one HTTP/1.x request out. No sockets: sessions feed it, and so does the fuzzer.
//
//   HttpParser parser(limits);
//   while (!parser.done()) { consumed = parser.feed(bytes); ... }   feed again what was not
//   consumed Request request = parser.take();                                then make a new parser
//
//   Errors   after a failure() nothing more is parsed; the connection cannot go on, since where the
//            next request begins is unknown.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "common/result.h"
#include "web/http_message.h"

namespace halite::web {

struct HttpLimits {
  std::size_t header_bytes_max = 0;  // request line + headers
  std::size_t body_bytes_max = 0;
};

class HttpParser {
 public:
  explicit HttpParser(HttpLimits limits);
  ~HttpParser();
  HttpParser(HttpParser&&) noexcept;
  HttpParser& operator=(HttpParser&&) noexcept;

  struct Fed {
    std::size_t consumed = 0;
    bool need_more = false;  // what was not consumed makes sense only with bytes that follow it
  };
  Fed feed(std::string_view bytes);

  // Room to read the body's next bytes into, where nothing else can come: without chunks. At most
  // `most` bytes; empty where bytes are to be fed. Not initialised; body_filled() says how many
  // came.
  [[nodiscard]] std::span<char> body_space(std::size_t most);
  void body_filled(std::size_t count);

  [[nodiscard]] bool started() const;      // has seen a byte of the request
  [[nodiscard]] bool header_done() const;  // request line and headers are there
  [[nodiscard]] bool done() const;

  [[nodiscard]] std::size_t body_bytes() const;  // that have come

  // The client waits for "100 Continue" before it sends the body. header_done() holds.
  [[nodiscard]] bool expects_continue() const;

  // Why this is not a request: an HTTP status and a text that names the limit, if it is one.
  struct Failure {
    int status = 400;
    std::string message;
  };
  [[nodiscard]] const std::optional<Failure>& failure() const;

  [[nodiscard]] Request head() const;  // all but the body; header_done() holds
  [[nodiscard]] Request take();        // done() holds

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
