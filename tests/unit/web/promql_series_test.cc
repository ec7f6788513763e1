// The endpoints series, labels and values of Prometheus' API are queries like others: they are
// listed, cancelled and limited in time.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"

namespace halite::web {
namespace {

constexpr std::string_view kPaths[] = {"/api/v1/series?match[]=m", "/api/v1/labels?match[]=m",
                                       "/api/v1/label/host/values?match[]=m"};

class PromqlSeries : public testing::Test {
 protected:
  PromqlSeries() : server_(slow_series()) {
    test::Client writer(server_.port());
    EXPECT_TRUE(writer.send("put m 1356998400 1 host=a\nsync\n"));
    receive_until(writer, "synced\n");
  }

  // With a table of series that can be slow.
  static test::TestServerOptions slow_series() {
    test::TestServerOptions options;
    options.unruly_table = "halite-series";
    return options;
  }

  void send(test::Client& client, std::string_view method, std::string_view path) {
    EXPECT_TRUE(client.send(fmt::format("{} {} HTTP/1.0\r\n\r\n", method, path)));
  }

  std::string ask(std::string_view method, std::string_view path) {
    test::Client client(server_.port());
    send(client, method, path);
    return client.receive_all(kPatienceMs);
  }

  test::TestServer server_;
};

TEST_F(PromqlSeries, AreListedWithTheirCost) {
  for (const std::string_view path : kPaths) {
    EXPECT_NE(ask("GET", path).find(" 200 "), std::string::npos);
  }
  EXPECT_NE(ask("GET", "/api/v1/label/host/values").find(" 200 "), std::string::npos);
  EXPECT_NE(ask("GET", "/api/v1/series?match[]=m&start=2&end=1").find(" 200 "), std::string::npos);
  const std::string log = ask("GET", "/api/server/queries");
  std::size_t listed = 0;
  for (std::size_t at = 0; (at = log.find(R"("metric":"m")", at)) != std::string::npos; ++at) {
    ++listed;
  }
  EXPECT_EQ(listed, 4U) << log;
  EXPECT_NE(log.find(R"("metric":"{\"host\"!=\"\"}")"), std::string::npos) << log;
  EXPECT_NE(log.find(R"("series":1)"), std::string::npos) << log;
}

TEST_F(PromqlSeries, AreCancelled) {
  server_.tables().scan_delay_ms = 200;
  for (std::size_t i = 0; i < std::size(kPaths); ++i) {
    test::Client client(server_.port());
    send(client, "GET", kPaths[i]);
    ASSERT_TRUE(soon([&] { return server_.metric("halite_query_running") == 1; }));
    const std::string cancel = fmt::format("/api/server/queries/{}", i);
    EXPECT_NE(ask("DELETE", cancel).find(" 204 "), std::string::npos);
    const std::string answer = client.receive_all(kPatienceMs);
    EXPECT_NE(answer.find(" 499 "), std::string::npos) << answer;
  }
  EXPECT_NE(ask("GET", "/api/server/queries").find(R"("cancelled":true,"status":499)"),
            std::string::npos);
}

TEST_F(PromqlSeries, EndAfterTheirTime) {
  server_.tables().scan_delay_ms = 200;
  for (const std::string_view path : kPaths) {
    test::Client client(server_.port());
    send(client, "GET", path);
    ASSERT_TRUE(soon([&] { return server_.metric("halite_query_running") == 1; }));
    server_.clock().advance(query::QueryLimits().timeout_ms + 1);
    const std::string answer = client.receive_all(kPatienceMs);
    EXPECT_NE(answer.find(" 503 "), std::string::npos) << answer;
    EXPECT_NE(answer.find(R"("errorType":"timeout")"), std::string::npos) << answer;
  }
}

}  // namespace
}  // namespace halite::web
