#include "storage/backends/hbase/rpc/zookeeper.h"

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kGetData = 4;
constexpr std::uint32_t kCloseSession = static_cast<std::uint32_t>(-11);
constexpr std::uint32_t kNoNode = static_cast<std::uint32_t>(-101);
constexpr std::uint32_t kSessionMs = 10'000;  // longer than any use
constexpr std::size_t kPasswordBytes = 16;
constexpr std::size_t kPacketBytesMax = 2 << 20;  // a node holds at most 1 MiB

// Closes the transport when the time limit is reached. Use it on the strand.
class TimeLimit {
 public:
  TimeLimit(const boost::asio::any_io_executor& strand, std::shared_ptr<Transport> transport,
            std::uint32_t ms)
      : timer_(strand, std::chrono::milliseconds(ms)) {
    timer_.async_wait([transport = std::move(transport)](const boost::system::error_code& problem) {
      if (!problem) transport->close();
    });
  }

 private:
  boost::asio::steady_timer timer_;
};

Bytes packet(const Bytes& body) {
  Bytes bytes;
  append_be(bytes, static_cast<std::uint32_t>(body.size()));
  return bytes + body;
}

Bytes connect_packet() {
  Bytes body;
  append_be<std::uint32_t>(body, 0);  // protocol version
  append_be<std::uint64_t>(body, 0);  // last transaction seen
  append_be(body, kSessionMs);
  append_be<std::uint64_t>(body, 0);  // a new session
  append_be(body, static_cast<std::uint32_t>(kPasswordBytes));
  body.append(kPasswordBytes, '\0');
  body.push_back('\0');  // no read-only server: old ones do not know the flag
  return packet(body);
}

Bytes get_packet(const std::string& path) {
  Bytes body;
  append_be<std::uint32_t>(body, 1);  // request number
  append_be(body, kGetData);
  append_be(body, static_cast<std::uint32_t>(path.size()));
  body += path;
  body.push_back('\0');  // no watch
  return packet(body);
}

Bytes close_packet() {
  Bytes body;
  append_be<std::uint32_t>(body, 2);
  append_be(body, kCloseSession);
  return packet(body);
}

Task<void> read_all(Transport& transport, Bytes& into) {
  std::size_t have = 0;
  while (have < into.size()) {
    const boost::asio::mutable_buffer rest(into.data() + have, into.size() - have);
    CO_TRY(const std::size_t got, co_await transport.read_some(rest));
    have += got;
  }
  co_return Result<void>();
}

Task<Bytes> read_packet(Transport& transport) {
  Bytes length(4, '\0');
  CO_TRY_VOID(co_await read_all(transport, length));
  const std::size_t bytes = load_be<std::uint32_t>(length.data());
  if (bytes > kPacketBytesMax) {
    co_return fail(Errc::kUnavailable, fmt::format("an answer of {} bytes", bytes));
  }
  Bytes body(bytes, '\0');
  CO_TRY_VOID(co_await read_all(transport, body));
  co_return body;
}

Task<void> write_packet(Transport& transport, const Bytes& bytes) {
  std::vector<boost::asio::const_buffer> buffers = {boost::asio::buffer(bytes)};
  Task<void> writing = transport.write(std::move(buffers));
  co_return co_await std::move(writing);
}

// An answer to getData: number, transaction, error, then the value after its length.
Result<std::optional<Bytes>> value_in(const Bytes& answer) {
  constexpr std::size_t kHead = 4 + 8 + 4;
  if (answer.size() < kHead) return fail(Errc::kUnavailable, "a truncated answer");
  const auto problem = load_be<std::uint32_t>(answer.data() + 12);
  if (problem == kNoNode) return std::optional<Bytes>();
  if (problem != 0) {
    return fail(Errc::kUnavailable, fmt::format("error {}", static_cast<std::int32_t>(problem)));
  }
  if (answer.size() < kHead + 4) return fail(Errc::kUnavailable, "a truncated answer");
  const std::size_t bytes = load_be<std::uint32_t>(answer.data() + kHead);
  if (bytes == 0xFFFFFFFF) return std::optional<Bytes>(Bytes());  // no value
  if (bytes > answer.size() - kHead - 4) return fail(Errc::kUnavailable, "a truncated answer");
  return std::optional<Bytes>(answer.substr(kHead + 4, bytes));
}

Task<std::optional<Bytes>> visit(Transport& transport, Endpoint host, const std::string& path) {
  CO_TRY_VOID(co_await transport.connect(std::move(host)));
  const Bytes hello = connect_packet();
  CO_TRY_VOID(co_await write_packet(transport, hello));
  CO_TRY(const Bytes session, co_await read_packet(transport));
  if (session.size() < 8 || load_be<std::uint32_t>(session.data() + 4) == 0) {
    co_return fail(Errc::kUnavailable, "it did not open a session");
  }
  const Bytes question = get_packet(path);
  CO_TRY_VOID(co_await write_packet(transport, question));
  for (;;) {
    CO_TRY(const Bytes answer, co_await read_packet(transport));
    if (answer.size() >= 4 && load_be<std::uint32_t>(answer.data()) != 1) continue;  // not this
    CO_TRY(std::optional<Bytes> value, value_in(answer));
    const Bytes bye = close_packet();
    const Result<void> said = co_await write_packet(transport, bye);
    static_cast<void>(said);  // a session that is not closed expires
    co_return value;
  }
}

}  // namespace

Task<std::optional<Bytes>> read_node(boost::asio::any_io_executor strand,
                                     const ClientOptions& options, std::string path) {
  Result<std::optional<Bytes>> outcome =
      fail(Errc::kInvalidArgument, "no ZooKeeper host is configured");
  for (const Endpoint& host : options.quorum) {
    const std::shared_ptr<Transport> carrier = tcp_transport(strand);
    const TimeLimit limit(strand, carrier, options.connect_ms_max);
    Task<std::optional<Bytes>> visiting = visit(*carrier, host, path);
    outcome = co_await std::move(visiting);
    carrier->close();
    if (outcome) co_return outcome;
    Error& error = outcome.error();
    error.message = fmt::format("ZooKeeper {}, node {}: {}", to_text(host), path, error.message);
  }
  co_return outcome;
}

Result<BytesView> message_in_node(BytesView value) {
  constexpr std::uint8_t kMagic = 0xFF;
  constexpr std::uint32_t kIdBytesMax = 65000;
  constexpr BytesView kMark = "PBUF";
  if (!value.empty() && static_cast<std::uint8_t>(value.front()) == kMagic) {
    if (value.size() < 5) return fail(Errc::kCorruption, "a truncated node value");
    const auto id_bytes = load_be<std::uint32_t>(value.data() + 1);
    if (id_bytes == 0 || id_bytes > kIdBytesMax || id_bytes > value.size() - 5) {
      return fail(Errc::kCorruption,
                  fmt::format("a node value with a writer name of {} bytes", id_bytes));
    }
    value.remove_prefix(5 + id_bytes);
  }
  if (!value.starts_with(kMark)) {
    return fail(Errc::kCorruption, "a node value without \"PBUF\": is hbase.root right?");
  }
  return value.substr(kMark.size());
}

}  // namespace halite::storage::hbase
