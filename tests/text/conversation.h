// A conversation with the server, as a text file says it. The format: tests/text/web_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "tests/support/test_server.h"

namespace halite::test {

enum class StepKind : std::uint8_t {
  kComment,       // also empty lines: kept when the file is rewritten
  kSetting,       // what the server starts with
  kSend,          // "> line"
  kSendRaw,       // ">> text without an end"
  kSendGzip,      // "gzip>> text"
  kSendProto,     // "proto>> text", as tests/support/proto_text.h has it
  kSendSnappy,    // "snappy>> text", the same compressed
  kSendChunk,     // "chunk> text"
  kExpect,        // "< line"
  kExpectRaw,     // "<< text without an end"
  kExpectLike,    // "<~ regular expression of a line"
  kExpectGzip,    // "gunzip<< text"
  kExpectChunks,  // "chunks<< text"
  kSplit,         // "split n": sends go n bytes at a time
  kPause,         // "pause ms"
  kClock,         // "clock ms"
  kConnect,       // "connect": a new connection
  kHalfClose,     // "half-close"
  kClosed,        // "closed": the server ends the stream
  kSilence,       // "silence ms": nothing comes
};

struct Step {
  StepKind kind = StepKind::kComment;
  std::string text;  // without the mark, unescaped for sends and expectations
  std::string line;  // as it stands in the file
  std::size_t number = 0;
};

struct Conversation {
  std::string path;
  bool http = true;  // lines end "\r\n"; in a .telnet file "\n"
  TestServerOptions options;
  std::vector<Step> steps;
};

[[nodiscard]] Result<Conversation> read_conversation(const std::string& path);

// "\r", "\n", "\t", "\\", "\xHH" and "\x{HH}*count" for long runs.
[[nodiscard]] Result<std::string> unescape(std::string_view text);
[[nodiscard]] std::string escape(std::string_view bytes);

}  // namespace halite::test
