// Values of other protocols that no point can hold are counted.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/test_server.h"

namespace halite::web {
namespace {

using test::Client;
using test::TestServer;

std::string post(const TestServer& server, std::string_view target, std::string_view body) {
  Client client(server.port());
  client.send(fmt::format("POST {} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                          target, body.size(), body));
  return client.receive_all(60'000);
}

TEST(Skipped, IsCountedByKind) {
  TestServer server;
  const auto skipped = [&](const std::string& what) {
    return server.metric("halite_ingest_skipped_total", "what", what);
  };
  EXPECT_TRUE(post(server, "/write?db=t&precision=s", "m a=\"x\",b=\"y\",c=1 1356998400\n")
                  .starts_with("HTTP/1.1 204"));
  EXPECT_EQ(skipped("a string"), 2);
  EXPECT_TRUE(post(server, "/api/v1/import",
                   R"({"metric":{"__name__":"v"},"values":[null,1],"timestamps":[1,2]})")
                  .starts_with("HTTP/1.1 204"));
  EXPECT_EQ(skipped("a null"), 1);
}

}  // namespace
}  // namespace halite::web
