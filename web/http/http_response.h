// Sends one answer: status line and headers, then the body, plain, compressed or in chunks.
#pragma once

#include <string_view>

#include "common/clock.h"
#include "common/threads/task.h"
#include "web/connection/client_connection.h"
#include "web/http/http_message.h"
#include "web/options.h"

namespace halite::web {

// The request's properties that affect the answer.
struct ResponseOptions {
  bool head = false;       // no body
  bool chunks = true;      // HTTP/1.1; otherwise the end of the stream ends the body
  bool keep_alive = true;  // false if a long answer has no chunks
  std::string_view accept_encoding;
};

// Produces and sends long answers in pieces, one at a time. Returns the number of bytes sent. All
// arguments outlive the task.
Task<std::size_t> send_response(ClientConnection& link, const WebOptions& options, TimestampMs now,
                                ResponseOptions manner, Response response);

}  // namespace halite::web
