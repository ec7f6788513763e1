// Whole conversations with the server, byte for byte: tests/text/web/*.http and *.telnet.
//
//   # a comment
//   option web.line_bytes_max 40      a setting of this file's server (tests/text/conversation.cc)
//   > GET /api/version HTTP/1.1       sends the line and its end: "\r\n" in .http, "\n" in .telnet
//   >> {"metric":"m"}                 sends without an end; also as gzip>> compressed, as
//                                     chunk> framed as a chunk (empty: the last one)
//   proto>> 1: {1: "up"}              sends a message (tests/support/proto_text.h); as snappy>> in
//                                     a block of snappy
//   > Content-Length: *               the length of the next of these but chunk>
//   < HTTP/1.1 200 OK                 this line must come
//   << [1,2]                          these bytes must come, no line end after them
//   <~ tsd\.\S+ \d+ .*                a line like this regular expression must come
//   gunzip<< text, chunks<< text      a compressed, a chunked body must come
//   split 3                           sends go 3 bytes at a time from here on (0 = at once)
//   pause 20, silence 50              wait so many ms; nothing may come meanwhile
//   clock 1356998400000               the server's time in ms; at first it is this one
//   connect, half-close, closed       a new connection; end ours; the server ended its
//
// Bytes: \r \n \t \\ \xHH, and \x{HH}*1000 for a thousand times the same. Sends that follow each
// other go out in one piece. After the last line our half is closed, and nothing more may come.
//
// HALITE_UPDATE=1 writes what came into the files, also after sends that expect nothing yet; review
// that diff like code.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/text/conversation.h"
#include "tests/text/player.h"

namespace halite::test {
namespace {

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(HALITE_SOURCE_DIR "/tests/text/web")) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".http" || ending == ".telnet") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).filename().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

class WebText : public testing::TestWithParam<std::string> {};

TEST_P(WebText, IsSaidByteForByte) {
  const bool update = std::getenv("HALITE_UPDATE") != nullptr;
  const Result<Conversation> conversation = read_conversation(GetParam());
  ASSERT_TRUE(conversation) << GetParam() << ": " << conversation.error().message;
  Player player(*conversation, update);
  const std::string fault = player.play();
  EXPECT_EQ(fault, "");
  if (update && fault.empty()) std::ofstream(GetParam()) << player.rewritten();
}

INSTANTIATE_TEST_SUITE_P(Files, WebText, testing::ValuesIn(all_files()), test_name);

TEST(WebTextFormat, EscapesGoBothWays) {
  const std::string bytes = std::string("a\r\n\t\\\x01\x7f", 7) + "é";
  EXPECT_EQ(*unescape(escape(bytes)), bytes);
  EXPECT_EQ(*unescape("\\x{61}*3b\\x00"), std::string("aaab\0", 5));
  EXPECT_FALSE(unescape("\\q"));
  EXPECT_FALSE(unescape("\\x{61}"));
  EXPECT_FALSE(unescape("\\xg0"));
}

}  // namespace
}  // namespace halite::test
