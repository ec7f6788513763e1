// Encodes requests and parses answers of a connection. Pure functions; docs/formats/hbase.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/bytes/bytes.h"

namespace halite::storage::hbase {

// An error in an answer, with the server's text.
struct RemoteException {
  std::string class_name;  // with package
  std::string text;        // first line of the stack trace: "class: message"
  std::string host;        // the new server of a region; empty = not given
  std::uint16_t port = 0;
  bool do_not_retry = false;
  bool overloaded = false;
};

// How a connection authenticates: the last byte of its preamble.
enum class Authentication : std::uint8_t { kSimple = 0x50, kKerberos = 0x51 };

// The first six bytes of a connection. The server does not answer them.
[[nodiscard]] Bytes preamble(Authentication authentication);
// The header that follows the preamble and the handshake of Kerberos. An empty user is omitted: it
// is the one that Kerberos authenticated.
[[nodiscard]] Bytes connection_header(std::string_view service, std::string_view user);

struct RequestHead {
  std::uint32_t call_id = 0;
  std::string_view method;
  std::uint32_t timeout_ms = 0;           // the server drops the request after this time; 0 = never
  std::optional<std::uint32_t> priority;  // nothing = the server's choice
  std::size_t cellblock_bytes = 0;        // size of the cellblock after the message
};

// A request without its cellblock, but with its length.
[[nodiscard]] Bytes request_frame(const RequestHead& head, BytesView message);

inline constexpr std::uint32_t kConnectionCallId = 0xFFFFFFFF;  // for the whole connection

// One answer. The views point into the parsed frame.
struct RpcResponse {
  std::uint32_t call_id = 0;
  std::optional<RemoteException> exception;
  BytesView message;
  BytesView cellblock;
};

// `frame` is what follows the length. kCorruption: it is inconsistent, and the connection cannot be
// used further.
[[nodiscard]] Result<RpcResponse> parse_answer(BytesView frame);

// Parses the NameBytesPair of one action: the class, and "class: message\n\tat ...".
[[nodiscard]] RemoteException exception_from_text(std::string class_name, BytesView text);

}  // namespace halite::storage::hbase
