#include "web/http/request_head.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

std::string tidied(std::string_view head) {
  const Result<RequestHead> tidy = tidy_head(head);
  if (!tidy) return "refused: " + tidy.error().message;
  return (tidy->last ? "last: " : "") + (tidy->text.empty() ? "as it is" : tidy->text);
}

TEST(RequestHead, EndsWithItsEmptyLineHoweverItComes) {
  for (const std::string_view head :
       {"GET / HTTP/1.1\r\nA: b\r\n\r\n", "GET / HTTP/1.0\n\n", "GET / HTTP/1.0\nA: b\n\r\n",
        "GET / HTTP/1.0\r\n\n", "\n\n", "\r\n\r\n", "\n\r\n"}) {
    const std::string bytes = std::string(head) + "body\n\n";
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
      HeadEnd end;
      std::size_t found = std::string_view::npos;
      for (std::size_t came = step; found == std::string_view::npos && came < bytes.size() + step;
           came += step) {
        found = end.find(std::string_view(bytes).substr(0, came));
      }
      EXPECT_EQ(found, head.size()) << step << " " << head;
    }
  }
  HeadEnd none;
  EXPECT_EQ(none.find("GET / HTTP/1.1\r\nA: b\r\n \r\n\t\n\r"), std::string_view::npos);
}

TEST(RequestHead, AUsualOneIsNotCopied) {
  EXPECT_EQ(tidied("GET / HTTP/1.1\r\nA:  b \r\n\r\n"), "as it is");
  EXPECT_EQ(tidied("GET / HTTP/1.1\r\n\r\n"), "as it is");
}

TEST(RequestHead, BareLineFeeds) {
  EXPECT_EQ(tidied("GET / HTTP/1.0\n\n"), "GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(tidied("GET / HTTP/1.0\nA: b\nC: d\n\n"), "GET / HTTP/1.0\r\nA: b\r\nC: d\r\n\r\n");
}

TEST(RequestHead, Blanks) {
  for (const std::string_view line :
       {"GET  / HTTP/1.0", "GET /  HTTP/1.0", "GET / HTTP/1.0 ", " GET\t/ \t HTTP/1.0\t"}) {
    EXPECT_EQ(tidied(std::string(line) + "\r\nA : b\r\n\r\n"), "GET / HTTP/1.0\r\nA : b\r\n\r\n")
        << line;
  }
}

TEST(RequestHead, EndsOfTwoKindsAreRefused) {
  for (const std::string_view head :
       {"GET / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n\r\n", "GET / HTTP/1.1\nA: b\r\n\n",
        "GET / HTTP/1.1\nA: b\r\n\r\n", "GET / HTTP/1.1\r\nA: b\n\n"}) {
    EXPECT_EQ(tidied(head), "refused: its lines must all end in CR LF, or all in LF") << head;
  }
  EXPECT_EQ(tidied("GET / HTTP/1.0\r\n\n"), "last: GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(tidied("GET / HTTP/1.0\n\r\n"), "last: GET / HTTP/1.0\r\n\r\n");
}

TEST(RequestHead, OtherBytesStay) {
  EXPECT_EQ(tidied("GET / HTTP/1.0\nA: b\rc\n  d\n\n"), "GET / HTTP/1.0\r\nA: b\rc\r\n  d\r\n\r\n");
}

}  // namespace
}  // namespace halite::web
