#include "web/graphite/graphite_pickle_session.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "common/log.h"
#include "ingest/graphite/pickle.h"

namespace halite::web {

namespace asio = boost::asio;

using ingest::kPickleBytesMax;
using ingest::kPickleLengthBytes;

namespace {

constexpr std::size_t kBufferBytesMin = 4 << 10;

std::size_t length_of(std::string_view bytes) {
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, kPickleLengthBytes)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

}  // namespace

asio::awaitable<void> GraphitePickleSession::run() {
  bool more = true;
  while (more) more = co_await take_message();
}

asio::awaitable<bool> GraphitePickleSession::take_message() {
  bool there = co_await fill(kPickleLengthBytes);
  if (there) {
    const std::size_t length = length_of(buffer_);
    if (length > kPickleBytesMax) {
      const std::string why =
          fmt::format("a message of {} bytes, at most {} are allowed", length, kPickleBytesMax);
      sink_.refuse(why, {});
      end_with(why);
      co_return false;
    }
    there = co_await fill(kPickleLengthBytes + length);
    if (there) {
      const std::string_view message(buffer_.data() + kPickleLengthBytes, length);
      const Result<void> put = co_await sink_.put_pickle(message);
      if (!put) {
        sink_.refuse(put.error().message, {});
        end_with(put.error().message);
        co_return false;
      }
      filled_ -= kPickleLengthBytes + length;
      std::memmove(buffer_.data(), buffer_.data() + kPickleLengthBytes + length, filled_);
      if (filled_ == 0) buffer_ = std::string();  // an idle connection needs none
      co_return true;
    }
  }
  if (filled_ != 0) sink_.refuse("the connection ended before the message did", {});
  co_return false;
}

asio::awaitable<bool> GraphitePickleSession::fill(std::size_t bytes) {
  const WebOptions& options = context_.options;
  while (filled_ < bytes) {
    const std::int64_t deadline = ClientConnection::deadline_in(
        filled_ == 0 ? options.telnet_idle_timeout_ms : options.request_timeout_ms);
    Result<std::size_t> count = 0;
    if (filled_ == 0) {
      const Result<void> readable = co_await connection_.wait_readable(deadline, true);
      if (!readable) count = std::unexpected(readable.error());
    }
    if (count) {
      // Grows with what comes, not with what a length promises.
      buffer_.resize(
          std::min(std::max(bytes, kBufferBytesMin), std::max(2 * filled_, kBufferBytesMin)));
      count = co_await connection_.read_some(buffer_.data() + filled_, buffer_.size() - filled_,
                                             deadline, true);
    }
    if (!count && count.error().code == Errc::kTimeout) context_.metrics.timeouts.Increment();
    if (!count || *count == 0) co_return false;
    context_.metrics.bytes_read.Increment(static_cast<double>(*count));
    filled_ += *count;
  }
  co_return true;
}

void GraphitePickleSession::end_with(std::string_view why) {
  log::warn("graphite: the connection from {} ends: {}", sink_.sender(), why);
}

}  // namespace halite::web
