// An HTTP request and its answer as handlers see them: text, without sockets.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/threads/task.h"

namespace halite::web {

inline constexpr std::string_view kJsonType = "application/json; charset=UTF-8";
inline constexpr std::string_view kHtmlType = "text/html; charset=UTF-8";
inline constexpr std::string_view kTextType = "text/plain; charset=UTF-8";

struct Header {
  std::string name;
  std::string value;
};

// Headers in order of arrival. Names are case-insensitive.
class Headers {
 public:
  void add(std::string name, std::string value) {
    list_.push_back({std::move(name), std::move(value)});
  }
  // The first with that name; empty if there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] const std::vector<Header>& list() const { return list_; }

 private:
  std::vector<Header> list_;
};

struct Request {
  std::string method;     // as sent: "GET"
  std::string target;     // as sent: "/api/query?start=1h-ago"
  std::string remote;     // the sender in Java's format: "/127.0.0.1:50123"; may be empty
  int minor_version = 1;  // of HTTP/1.x
  bool keep_alive = true;
  Headers headers;
  std::string body;  // without transfer and content encodings
};

// Produces a long answer in pieces, so that it is never in memory as a whole.
class BodySource {
 public:
  virtual ~BodySource() = default;
  // Appends the next piece (about 64 KiB). Returns false at the end.
  virtual bool next(std::string& to) = 0;
};

// The same for an answer whose pieces have to be waited for. An error closes the connection without
// the end of the body: with chunks, the client sees that it is not complete.
class AsyncBodySource {
 public:
  virtual ~AsyncBodySource() = default;
  // Appends the next piece to `to`, which outlives the task. Returns false at the end.
  virtual Task<bool> next(std::string& to) = 0;
};

struct Response {
  int status = 200;
  std::string content_type{kJsonType};  // empty = no such header
  Headers headers;
  std::string body;
  std::unique_ptr<BodySource> source;             // instead of body
  std::unique_ptr<AsyncBodySource> async_source;  // instead of body and source
  bool close = false;                             // close the connection after this answer
};

// Whether the Content-Type is this one, with any parameters.
[[nodiscard]] bool has_media_type(const Request& request, std::string_view type);

[[nodiscard]] Response text_response(int status, std::string body,
                                     std::string_view content_type = kTextType);
[[nodiscard]] Response json_response(int status, std::string body);

[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace halite::web
