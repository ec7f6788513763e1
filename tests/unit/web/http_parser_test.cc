#include "web/http/http_parser.h"

#include <algorithm>
#include <span>
#include <string>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

constexpr HttpLimits kLimits{.header_bytes_max = 4096, .body_bytes_max = 1000};

// Feeds the text in steps of `step` bytes, keeping what was not consumed, as a session does.
HttpParser fed(std::string_view text, std::size_t step = SIZE_MAX, HttpLimits limits = kLimits) {
  HttpParser parser(limits);
  std::string waiting;
  while (!parser.done() && !parser.failure() && !text.empty()) {
    const std::string_view more = text.substr(0, step);
    text.remove_prefix(more.size());
    waiting += more;
    waiting.erase(0, parser.feed(waiting).consumed);
  }
  return parser;
}

int status_of(std::string_view text, HttpLimits limits = kLimits) {
  const HttpParser parser = fed(text, SIZE_MAX, limits);
  return parser.failure() ? parser.failure()->status : 0;
}

TEST(HttpParser, WholeAndByteByByte) {
  const std::string_view text =
      "POST /api/put?details HTTP/1.1\r\nHost: x\r\ncontent-length: 5\r\nX-A:  b \r\n\r\nhello";
  for (const std::size_t step : {SIZE_MAX, std::size_t{7}, std::size_t{1}}) {
    HttpParser parser = fed(text, step);
    ASSERT_TRUE(parser.done()) << step;
    const Request request = parser.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.target, "/api/put?details");
    EXPECT_EQ(request.headers.get("CONTENT-LENGTH"), "5");
    EXPECT_EQ(request.headers.get("x-a"), "b");
    EXPECT_EQ(request.body, "hello");
    EXPECT_TRUE(request.keep_alive);
    EXPECT_EQ(request.minor_version, 1);
  }
}

TEST(HttpParser, StopsAtTheEndOfTheRequest) {
  const std::string_view text = "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n";
  HttpParser parser(kLimits);
  const HttpParser::Fed first = parser.feed(text);
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(first.consumed, text.size() / 2);
}

// As a session reads a body: where it is to be, in pieces of any size.
TEST(HttpParser, BodiesAreReadInPlace) {
  const std::string body = "0123456789";
  for (const std::size_t fed_before : {0U, 1U, 9U}) {
    HttpParser parser(kLimits);
    EXPECT_TRUE(parser.body_space(100).empty());  // the header has not announced a body yet
    const std::string head = "POST /api/put HTTP/1.1\r\nContent-Length: 10\r\n\r\n";
    static_cast<void>(parser.feed(head + body.substr(0, fed_before)));
    for (std::size_t at = fed_before; at < body.size();) {
      ASSERT_FALSE(parser.done());
      EXPECT_EQ(parser.body_bytes(), at);
      const std::span<char> space = parser.body_space(4);
      ASSERT_EQ(space.size(), std::min<std::size_t>(4, body.size() - at));
      const std::size_t came = space.size() > 1 ? space.size() - 1 : 1;  // less than there is room
      std::copy_n(body.data() + at, came, space.data());
      parser.body_filled(came);
      at += came;
    }
    EXPECT_TRUE(parser.done());
    EXPECT_EQ(parser.take().body, body);
  }
  HttpParser chunked(kLimits);
  static_cast<void>(chunked.feed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab"));
  EXPECT_TRUE(chunked.body_space(100).empty());
}

TEST(HttpParser, Chunks) {
  const std::string_view text =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4;name=value\r\nabcd\r\n2\r\nef\r\n0\r\nTrailer: x\r\n\r\n";
  for (const std::size_t step : {SIZE_MAX, std::size_t{1}}) {
    HttpParser parser = fed(text, step);
    ASSERT_TRUE(parser.done()) << step;
    EXPECT_EQ(parser.take().body, "abcdef");
  }
}

TEST(HttpParser, ChunksInThreePiecesCutAnywhere) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& body :
       {std::string("0\r\n\r\n"), std::string("00\r\nA: b\r\n\r\n"),
        std::string("1\r\nx\r\n0\r\n\r\n"), std::string("2;a=b\r\nxy\r\n0;c\r\n\r\n")}) {
    for (std::size_t first = 1; first < body.size(); ++first) {
      for (std::size_t second = first + 1; second <= body.size(); ++second) {
        HttpParser parser(kLimits);
        std::string waiting = head;
        for (const std::string& piece :
             {body.substr(0, first), body.substr(first, second - first), body.substr(second)}) {
          waiting += piece;
          waiting.erase(0, parser.feed(waiting).consumed);
          waiting.erase(0, parser.feed(waiting).consumed);  // asked again with nothing new
        }
        EXPECT_TRUE(parser.done()) << body << " cut at " << first << " and " << second;
        EXPECT_FALSE(parser.failure());
      }
    }
  }
}

// Beast would wait for the quote, and take the chunk's size off the body's limit at each try.
TEST(HttpParser, AnExtensionEndsWithItsLine) {
  const std::string head = "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::size_t step : {SIZE_MAX, std::size_t{1}}) {
    for (const std::string_view line : {"A4;x=\"open\r\n", "3\r\nabc\r\nA4;x=\"open\r\n"}) {
      const HttpParser open = fed(head + std::string(line) + std::string(200, '.'), step);
      ASSERT_TRUE(open.failure()) << step << line;
      EXPECT_EQ(open.failure()->status, 400);
      EXPECT_NE(open.failure()->message.find("extension"), std::string::npos);
    }
    HttpParser closed = fed(head + "3;x=\"a b\"\r\nabc\r\n0;y=\"z\"\r\n\r\n", step);
    ASSERT_TRUE(closed.done()) << step;
    EXPECT_EQ(closed.take().body, "abc");
  }
}

TEST(HttpParser, KeepAlive) {
  EXPECT_FALSE(fed("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").take().keep_alive);
  EXPECT_FALSE(fed("GET / HTTP/1.0\r\n\r\n").take().keep_alive);
  EXPECT_TRUE(fed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").take().keep_alive);
  EXPECT_EQ(fed("GET / HTTP/1.0\r\n\r\n").take().minor_version, 0);
}

TEST(HttpParser, ExpectContinue) {
  const HttpParser parser =
      fed("POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_TRUE(parser.header_done());
  EXPECT_FALSE(parser.done());
  EXPECT_TRUE(parser.expects_continue());
}

TEST(HttpParser, BodyAtAndOverTheMaximum) {
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: ";
  EXPECT_EQ(fed(head + "1000\r\n\r\n" + std::string(1000, 'x')).take().body.size(), 1000u);
  const HttpParser over = fed(head + "1001\r\n\r\n");  // refused before a byte of it was sent
  ASSERT_TRUE(over.failure());
  EXPECT_EQ(over.failure()->status, 413);
  EXPECT_EQ(over.failure()->message, "The body is longer than 1000 bytes (web.body_bytes_max)");
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "3e8\r\n" + std::string(1000, 'x') + "\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(status_of(chunked + "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\nx\r\n0\r\n\r\n"),
            413);
}

TEST(HttpParser, HeadersAtAndOverTheMaximum) {
  const std::string line = "GET / HTTP/1.1\r\nX: ";
  const auto request_of = [&](std::size_t bytes) {
    return line + std::string(bytes - line.size() - 4, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(request_of(4096)), 0);
  EXPECT_EQ(status_of(request_of(4097)), 431);
  const HttpParser endless = fed(line + std::string(10'000, 'x'), 100);
  ASSERT_TRUE(endless.failure());
  EXPECT_EQ(endless.failure()->status, 431);
  EXPECT_NE(endless.failure()->message.find("web.header_bytes_max"), std::string::npos);
}

TEST(HttpParser, EndlessChunkHeadersAndTrailers) {
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(fed(chunked + "1;x=" + std::string(10'000, 'y'), 100).failure());
  std::string trailers = chunked + "0\r\n";
  for (int i = 0; i < 2'000; ++i) trailers += "T: xxxxxxxxxx\r\n";
  EXPECT_TRUE(fed(trailers, 100).failure());
}

TEST(HttpParser, WhatIsNoRequest) {
  EXPECT_EQ(status_of("GET\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / FTP/1.1\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nno colon\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(status_of(std::string("GET /\0 HTTP/1.1\r\n\r\n", 19)), 400);
}

TEST(HttpParser, AWrongFirstLineIsNotWaitedWith) {
  for (const std::size_t step : {SIZE_MAX, std::size_t{1}}) {
    EXPECT_TRUE(fed("GARBAGE\n", step).failure());
    EXPECT_TRUE(fed("GARBAGE\r\n", step).failure());
    EXPECT_TRUE(fed("GET / HTTP/2.0\r\n", step).failure());
    EXPECT_FALSE(fed("GET / HTTP/1.1\r\n", step).failure());
    EXPECT_FALSE(fed("GET  / HTTP/1.1 \n", step).failure());
    EXPECT_FALSE(fed("GARBAGE", step).failure());
  }
}

TEST(HttpParser, WhatLooksLikeAWrongVersionIsToldApart) {
  const auto message_of = [](std::string_view text) {
    const HttpParser parser = fed(text);
    return parser.failure() ? parser.failure()->message : "";
  };
  EXPECT_EQ(status_of("GET /a b HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(message_of("GET /a b HTTP/1.1\r\n\r\n"),
            "Not an HTTP request: write a space in the target as %20");
  EXPECT_EQ(status_of("GET /a b HTTP/1.7\r\n\r\n"), 505);
}

TEST(HttpParser, BareLineFeedsAndSpareBlanks) {
  const std::string_view text =
      "POST  /api/put \tHTTP/1.1 \nHost: x\nContent-Length: 5\n\na\r\nb\nGET / HTTP/1.0\n\n";
  for (const std::size_t step : {SIZE_MAX, std::size_t{7}, std::size_t{1}}) {
    HttpParser parser = fed(text, step);
    ASSERT_TRUE(parser.done()) << step;
    const Request request = parser.take();
    EXPECT_EQ(request.target, "/api/put");
    EXPECT_EQ(request.headers.get("Host"), "x");
    EXPECT_EQ(request.body, "a\r\nb\n");
    EXPECT_TRUE(request.keep_alive);
  }
  EXPECT_FALSE(fed("GET / HTTP/1.1\r\nHost: x\r\n\n").take().keep_alive);  // see request_head.h
}

// Where two readers may differ about where a request ends, there is no second opinion here.
TEST(HttpParser, WhatOthersMayReadOtherwiseIsRefused) {
  const std::string chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  // To who ends lines at LF, a chunk of 8 bytes and one of 0x2a, in which the second request is.
  std::string hidden = "0\r\n\r\nGET /x HTTP/1.1\r\nA: ";
  hidden.resize(0x2a, 'a');
  hidden = "8;a=\"\nx\"\r\nABCD\r\n2a\r\n" + hidden + "\r\n0\r\n\r\n";
  for (const std::size_t step : {SIZE_MAX, std::size_t{1}}) {
    for (const std::string& text : {
             std::string("GET / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n\r\nhello"),
             std::string("GET / HTTP/1.1\nA: b\r\nContent-Length: 5\n\nhello"),
             std::string("POST / HTTP/1.1\r\nContent-Length : 5\r\n\r\nhello"),
             std::string("POST / HTTP/1.1\nTransfer-Encoding : chunked\n\n0\r\n\r\n"),
             chunked + "3\nabc\n0\n\n",
             chunked + "3\nabc\r\n0\r\n\r\n",
             chunked + "3\r\nabc\n0\r\n\r\n",
             chunked + "3\r\nabc\r\n0\n\r\n",
             chunked + "3\r\nabc\r\n0\r\n\n",
             chunked + "3;a=b\nabc\r\n0\r\n\r\n",
             chunked + "3;a=\"\nb\"\r\nabc\r\n0\r\n\r\n",
             chunked + "3;a=\"\\\nb\"\r\nabc\r\n0\r\n\r\n",
             chunked + "3;a=\"\x01\"\r\nabc\r\n0\r\n\r\n",
             chunked + "3;a=\"\x7F\"\r\nabc\r\n0\r\n\r\n",
             chunked + "3\r\nabc\r\n0;a=\"\nb\"\r\n\r\n",
             chunked + hidden,
             chunked + "0\r\nA: b\nC: d\r\n\r\n",
         }) {
      const HttpParser parser = fed(text + "more and more", step);
      ASSERT_TRUE(parser.failure()) << step << text;
      EXPECT_EQ(parser.failure()->status, 400) << step << text;
    }
  }
}

TEST(HttpParser, ChunkExtensionsMayBeQuoted) {
  for (const std::size_t step : {SIZE_MAX, std::size_t{1}}) {
    HttpParser parser =
        fed("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;a=\"b\t\\\"c\xE9\"\r\nabc\r\n0;d=\"e f\"\r\n\r\n",
            step);
    ASSERT_TRUE(parser.done()) << step;
    EXPECT_EQ(parser.take().body, "abc");
  }
}

TEST(HttpParser, OtherTransferCodingsAreRefused) {
  for (const char* coding : {"gzip", "gzip, chunked", "chunked, gzip", "identity", "x"}) {
    const std::string text =
        "POST / HTTP/1.1\r\nTransfer-Encoding: " + std::string(coding) + "\r\n\r\nGET / HTTP/1.1";
    EXPECT_EQ(status_of(text), 501) << coding;
  }
  const std::string chunked = "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  EXPECT_EQ(status_of("POST / HTTP/1.1" + chunked), 0);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(status_of("POST / HTTP/1.0" + chunked), 400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked" + chunked), 400);
}

// Two ways to say how long a body is, and a proxy in front may believe the other one.
TEST(HttpParser, AmbiguousLengthsAreRefused) {
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
            400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"),
            400);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), 400);
}

}  // namespace
}  // namespace halite::web
