// A parser for one HTTP/1.x request. No sockets: sessions and the fuzzer feed it.
//
//   HttpParser parser(limits);
//   while (!parser.done()) { consumed = parser.feed(bytes); ... }   feed unconsumed bytes again
//   Request request = parser.take();                                then make a new parser
//
//   Errors   after a failure() it parses nothing more. Close the connection, because the start of
//            the next request is unknown.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "common/result.h"
#include "web/http/http_message.h"

namespace halite::web {

struct HttpLimits {
  std::size_t header_bytes_max = 0;  // request line and headers
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
    bool need_more = false;  // the unconsumed bytes are incomplete
  };
  Fed feed(std::string_view bytes);

  // A buffer for the next bytes of the body, if only body can follow (no chunks). At most `most`
  // bytes; empty if bytes must be fed. Uninitialised; report the bytes read with body_filled().
  [[nodiscard]] std::span<char> body_space(std::size_t most);
  void body_filled(std::size_t count);

  [[nodiscard]] bool started() const;      // has seen a byte of the request
  [[nodiscard]] bool header_done() const;  // request line and headers are complete
  [[nodiscard]] bool done() const;

  [[nodiscard]] std::size_t body_bytes() const;  // received so far

  // The client waits for "100 Continue" before it sends the body. Requires header_done().
  [[nodiscard]] bool expects_continue() const;

  // Why the request is invalid: an HTTP status and a text that names the limit, if it is one.
  struct Failure {
    int status = 400;
    std::string message;
  };
  [[nodiscard]] const std::optional<Failure>& failure() const;

  [[nodiscard]] Request head() const;  // all but the body; requires header_done()
  [[nodiscard]] Request take();        // requires done()

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halite::web
