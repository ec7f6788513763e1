// /api/query/last among others on one event loop.
#include <cstddef>
#include <functional>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "tests/support/client.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"
#include "web/handlers/handlers.h"
#include "web/metrics.h"
#include "web/server.h"

namespace halite::web {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> answer(Call& call, int& status, bool& done) {
  const Response response = co_await handle_query_last(call);
  status = response.status;
  done = true;
}

// Counts how often another's work came in between while `call` was answered on one loop.
std::size_t turns_of_others(Call& call, int& status) {
  asio::io_context loop;
  bool done = false;
  std::size_t turns = 0;
  std::function<void()> take_turn = [&] {
    if (done) return;
    ++turns;
    asio::post(loop, take_turn);
  };
  asio::co_spawn(loop, answer(call, status, done), asio::detached);
  asio::post(loop, take_turn);
  loop.run();
  return turns;
}

TEST(QueryLast, OthersHaveTheirTurnBetweenSubQueries) {
  constexpr std::size_t kSubs = 200;
  test::TestServer server;
  test::Client client(server.port());
  ASSERT_TRUE(client.send(post("/api/put", kPoint)));
  ASSERT_NE(receive_until(client, "\r\n\r\n").find("204"), std::string::npos);

  WebOptions options;
  options.last_whole_history = false;  // so that names alone are looked up, which are in memory
  prometheus::Registry registry;
  WebMetrics metrics(registry);
  Call call{.options = options,
            .services = server.services(),
            .metrics = metrics,
            .request = {},
            .target = {},
            .stop = {}};
  call.request.method = "GET";
  for (std::size_t i = 0; i < kSubs; ++i) call.target.parameters.emplace_back("timeseries", "m");
  int status = 0;
  turns_of_others(call, status);  // everything is in memory afterwards
  EXPECT_GE(turns_of_others(call, status), kSubs - 1);
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace halite::web
