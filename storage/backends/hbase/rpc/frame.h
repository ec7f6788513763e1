// The bytes of a connection: greeting, requests, answers. Pure functions; docs/formats/hbase.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/bytes.h"

namespace halite::storage::hbase {

// What an answer says went wrong, in the server's words.
struct RemoteException {
  std::string class_name;  // with package
  std::string text;        // first line of the stack trace: "class: message"
  std::string host;        // where a region moved to; empty = not said
  std::uint16_t port = 0;
  bool do_not_retry = false;
  bool overloaded = false;
};

// The preamble and the header that a connection begins with. The server answers nothing.
[[nodiscard]] Bytes preamble(std::string_view service, std::string_view user);

struct RequestHead {
  std::uint32_t call_id = 0;
  std::string_view method;
  std::uint32_t timeout_ms = 0;           // then the server drops it unanswered; 0 = never
  std::optional<std::uint32_t> priority;  // nothing = the server's choice
  std::size_t cellblock_bytes = 0;        // that follow the frame's head
};

// A request but for its cellblock, its length included.
[[nodiscard]] Bytes request_frame(const RequestHead& head, BytesView message);

inline constexpr std::uint32_t kConnectionCallId = 0xFFFFFFFF;  // an answer to the whole connection

// One answer. The views are into the frame that was parsed.
struct RpcResponse {
  std::uint32_t call_id = 0;
  std::optional<RemoteException> exception;
  BytesView message;
  BytesView cellblock;
};

// `frame`: what follows the length. kCorruption where it contradicts itself: the connection cannot
// be used any more.
[[nodiscard]] Result<RpcResponse> parse_answer(BytesView frame);

// As NameBytesPair has it for one action of many: the class, and "class: message\n\tat ...".
[[nodiscard]] RemoteException exception_from_text(std::string class_name, BytesView text);

}  // namespace halite::storage::hbase
