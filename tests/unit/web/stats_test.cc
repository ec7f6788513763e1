#include "web/stats.h"

#include <regex>

#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/test_server.h"

namespace halite::web {
namespace {

std::string reply_to(test::TestServer& server, std::string_view request) {
  test::Client client(server.port());
  client.send(request);
  return client.receive_all(10'000);
}

TEST(Stats, EveryLineIsOneOpenTsdbUnderstands) {
  test::TestServer server;
  const std::string text = reply_to(server, "stats\nexit\n");
  const std::regex line(R"(tsd\.\S+ 1356998400 -?[0-9.]+ (\S+=\S+ )*host=localhost)");
  std::size_t at = 0;
  int lines = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_TRUE(std::regex_match(text.substr(at, end - at), line)) << text.substr(at, end - at);
    at = end + 1;
    ++lines;
  }
  EXPECT_GT(lines, 20);
  EXPECT_TRUE(text.starts_with("tsd.connectionmgr.connections 1356998400 1 type=open"));
}

TEST(Stats, TagsAsOpenTsdbsOptionsSay) {
  test::TestServerOptions options;
  options.web.stats_canonical = true;
  options.web.stats_with_port = true;
  test::TestServer server(options);
  const std::string text = reply_to(server, "stats\nexit\n");
  EXPECT_TRUE(text.starts_with(
      "tsd.connectionmgr.connections 1356998400 1 port=0 type=open fqdn=localhost\n"))
      << text;
}

TEST(Stats, TheSameByHttpInThreeShapes) {
  test::TestServer server;
  const std::string json = reply_to(server, "GET /api/stats HTTP/1.0\r\n\r\n");
  EXPECT_NE(json.find(R"([{"metric":"tsd.connectionmgr.connections","timestamp":1356998400,)"
                      R"("value":"1","tags":{"host":"localhost","type":"open"}},)"),
            std::string::npos)
      << json;
  EXPECT_NE(reply_to(server, "GET /stats HTTP/1.0\r\n\r\n")
                .find("\r\n\r\ntsd.connectionmgr.connections 1356998400 "),
            std::string::npos);
  EXPECT_NE(reply_to(server, "GET /stats?json HTTP/1.0\r\n\r\n")
                .find("\r\n\r\n[\"tsd.connectionmgr.connections 1356998400 "),
            std::string::npos);
}

TEST(Stats, PrometheusText) {
  test::TestServer server;
  reply_to(server, "GET /-/healthy HTTP/1.0\r\n\r\n");
  const std::string text = reply_to(server, "GET /metrics HTTP/1.0\r\n\r\n");
  EXPECT_NE(text.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nhalite_web_requests_total{endpoint=\"-\",status=\"200\"} 1\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace halite::web
