// Sends one answer: status line and headers, then the body as it is, compressed or in chunks.
#pragma once

#include <string_view>

#include "common/clock.h"
#include "common/task.h"
#include "web/client_connection.h"
#include "web/http_message.h"
#include "web/options.h"

namespace halite::web {

// What the request says about how to answer it.
struct ResponseOptions {
  bool head = false;       // no body
  bool chunks = true;      // HTTP/1.1 knows them; before, the end of the stream ends the body
  bool keep_alive = true;  // false where a long answer has no chunks
  std::string_view accept_encoding;
};

// Long answers are made and sent piece by piece, each sent before the next is made. Returns how
// many bytes went out. All that is passed outlives the await.
Task<std::size_t> send_response(ClientConnection& link, const WebOptions& options, TimestampMs now,
                                ResponseOptions manner, Response response);

}  // namespace halite::web
