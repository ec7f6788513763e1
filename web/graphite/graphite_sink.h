// Where the sessions of Graphite put points. Nothing is ever answered, so it counts and logs what
// is refused, and keeps what the store cannot take now.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "common/result.h"
#include "ingest/bodies/body_writer.h"
#include "web/connection/client_connection.h"
#include "web/context.h"

namespace halite::web {

class GraphiteSink {
 public:
  static constexpr std::size_t kLinesMax = 10'000;  // in one batch

  // Both outlive the sink.
  GraphiteSink(ClientConnection& connection, WebContext& context)
      : connection_(connection), context_(context), bodies_(context.services.writer) {}

  // Both return when the points are durable. While the store is out of reach they try again, until
  // the server stops: meanwhile the session does not read, and the sender waits. `text` and
  // `message` outlive the task.
  boost::asio::awaitable<void> put_lines(std::string_view text);
  // An error: it is no message of the protocol.
  Task<void> put_pickle(std::string_view message);

  // How many lines put_lines() takes at most.
  [[nodiscard]] std::size_t lines_max() const {
    return std::min(kLinesMax, bodies_.limits().points_per_request_max);
  }

  // Counts what never became a point.
  void refuse(std::string reason, std::string_view beginning);

  [[nodiscard]] std::string sender() const;  // for the log

 private:
  [[nodiscard]] ingest::FormatOptions format() const;
  // Whether to put the points again, after a pause.
  boost::asio::awaitable<bool> must_repeat(const Result<ingest::BodyOutcome>& put);

  ClientConnection& connection_;
  WebContext& context_;
  ingest::BodyWriter bodies_;
  std::int64_t pause_ms_ = 0;  // before the next repetition
};

}  // namespace halite::web
