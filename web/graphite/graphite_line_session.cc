#include "web/graphite/graphite_line_session.h"

#include <span>
#include <utility>

#include <fmt/format.h>

namespace halite::web {

namespace asio = boost::asio;

asio::awaitable<void> GraphiteLineSession::run() {
  bool more = true;
  while (more) {
    more = co_await read();
    co_await take_lines();
  }
  if (const std::string_view line = lines_.unfinished_line(); !line.empty()) {
    sink_.refuse("the connection ended before the line did", line);
  }
}

asio::awaitable<bool> GraphiteLineSession::read() {
  const std::int64_t deadline =
      ClientConnection::deadline_in(context_.options.telnet_idle_timeout_ms);
  Result<std::size_t> count = 0;
  if (lines_.release_if_idle()) {
    const Result<void> readable = co_await connection_.wait_readable(deadline, true);
    if (!readable) count = std::unexpected(readable.error());
  }
  if (count) {
    const std::span<char> space = lines_.space();
    count = co_await connection_.read_some(space.data(), space.size(), deadline, true);
  }
  if (!count && count.error().code == Errc::kTimeout) context_.metrics.timeouts.Increment();
  if (!count || *count == 0) co_return false;
  context_.metrics.bytes_read.Increment(static_cast<double>(*count));
  lines_.filled(*count);
  co_return true;
}

asio::awaitable<void> GraphiteLineSession::take_lines() {
  while (true) {
    // Lines that follow each other in the buffer.
    const char* begin = nullptr;
    const char* end = nullptr;
    std::string_view line;
    auto found = LineSplitter::Found::kNothing;
    for (std::size_t lines = 0; lines < sink_.lines_max(); ++lines) {
      found = lines_.next(line);
      if (found != LineSplitter::Found::kLine) break;
      if (begin == nullptr) begin = line.data();
      end = line.data() + line.size();
    }
    // The parser does not need the end of the last line.
    if (begin != nullptr) co_await sink_.put_lines({begin, end});
    if (found == LineSplitter::Found::kTooLong) {
      sink_.refuse(fmt::format("a line of more than {} bytes", kLineBytesMax), line);
    } else if (found == LineSplitter::Found::kNothing) {
      co_return;
    }
  }
}

}  // namespace halite::web
