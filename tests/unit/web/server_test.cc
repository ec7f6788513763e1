// Connections as they live and die: what text conversations cannot say.
#include "web/server.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/log_capture.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"
#include "web/connection/connection_quota.h"
#include "web/http/content_coding.h"

namespace halite::web {
namespace {

using test::Client;
using test::TestServer;
using test::TestServerOptions;

constexpr std::string_view kAskAll = "/api/query?start=1356998400&end=1357084799&m=none:m";

// A day of points, one a second, of `hosts` series: long answers.
void fill(TestServer& server, int hosts) {
  Client client(server.port());
  for (int host = 0; host < hosts; ++host) {
    std::string lines;
    for (int i = 0; i < 86'400; ++i) {
      lines += fmt::format("put m {} {} host=h{}\n", 1356998400 + i, i, host);
    }
    ASSERT_TRUE(client.send(lines));
  }
  ASSERT_TRUE(client.send("sync\n"));
  ASSERT_EQ(receive_until(client, "\n"), "synced\n");
}

TEST(Server, StopsAtOnceWhenNothingRuns) {
  TestServer server;
  Client silent(server.port());
  Client http(server.port());
  Client telnet(server.port());
  ASSERT_TRUE(http.send("GET /-/healthy HTTP/1.1\r\n\r\n"));
  ASSERT_NE(receive_until(http, "ok\n").find("200 OK"), std::string::npos);
  ASSERT_TRUE(telnet.send("version\n"));
  receive_until(telnet, "Built");
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(silent.receive_all(kPatienceMs), "");
  EXPECT_EQ(http.receive_all(kPatienceMs), "");
  telnet.receive_all(kPatienceMs);
  EXPECT_EQ(server.metric("halite_web_connections"), 0);
  server.stop();  // again
}

TEST(Server, StopLetsWhatRunsFinish) {
  TestServer server;
  server.tables().hold();
  Client idle(server.port());
  Client client(server.port());
  ASSERT_TRUE(client.send(post("/api/put", kPoint)));
  ASSERT_TRUE(soon([&] { return server.tables().writes > 0; }));
  auto stopped = std::async(std::launch::async, [&] { server.stop(); });
  EXPECT_EQ(idle.receive(kPatienceMs), "");  // all were told
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  server.tables().release();
  const std::string answer = client.receive_all(kPatienceMs);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 204 No Content")) << answer;
  EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
  stopped.get();
}

TEST(Server, StopDoesNotWaitForClientsThatDoNotRead) {
  TestServerOptions options;
  options.web.stop_timeout_ms = 100;
  TestServer server(options);
  fill(server, 4);
  Client client(server.port(), 4 << 10);
  ASSERT_TRUE(client.send(fmt::format("GET {} HTTP/1.1\r\n\r\n", kAskAll)));
  ASSERT_TRUE(soon([&] { return server.metric("halite_query_points_out_total") > 0; }));
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Server, ASessionThatThrowsIsNoLongerCountedAndTheLogSaysWhy) {
  const test::LogCapture log;
  TestServerOptions options;
  options.drop_caches = [] { throw std::runtime_error("out of order"); };
  TestServer server(options);
  for (const std::string_view request : {"GET /api/dropcaches HTTP/1.1\r\n\r\n", "dropcaches\n"}) {
    Client client(server.port());
    ASSERT_TRUE(client.send(request));
    EXPECT_EQ(client.receive_all(kPatienceMs), "");
  }
  server.stop();
  EXPECT_EQ(server.metric("halite_web_connections"), 0);
  EXPECT_THAT(log.text(),
              testing::HasSubstr("an exception ended a session; its connection is closed: "
                                 "out of order"));
}

// Where it never ends, the process does: tests/unit/app/server_test.cc.
TEST(Server, AStopThatWaitsForTheStoreSaysHowManyDo) {
  const test::LogCapture log;
  TestServerOptions options;
  options.web.stop_timeout_ms = 1;
  TestServer server(options);
  server.tables().hold();
  Client client(server.port());
  ASSERT_TRUE(client.send(post("/api/put", kPoint)));
  ASSERT_TRUE(soon([&] { return server.tables().writes > 0; }));
  auto stopped = std::async(std::launch::async, [&] { server.stop(); });
  EXPECT_EQ(client.receive_all(kPatienceMs), "");  // it was cut off
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(1'200)), std::future_status::timeout);
  server.tables().release();
  stopped.get();
  EXPECT_THAT(log.text(), testing::HasSubstr("stopping: 1 connections still wait for the store"));
}

TEST(Server, OneConnectionTooMany) {
  TestServerOptions options;
  options.web.connections_max = 2;
  TestServer server(options);
  {
    Client first(server.port());
    Client second(server.port());
    ASSERT_TRUE(soon([&] { return server.metric("halite_web_connections_total") == 2; }));
    Client third(server.port());
    EXPECT_EQ(third.receive(kPatienceMs), "");
    EXPECT_EQ(server.metric("halite_web_connections_rejected_total"), 1);
    ASSERT_TRUE(second.send("version\n"));  // the others are not harmed
    EXPECT_FALSE(receive_until(second, "\n").empty());
  }
  EXPECT_TRUE(soon([&] {
    Client next(server.port());
    next.send("help\n");
    const std::optional<std::string> reply = next.receive(kPatienceMs);
    return reply && !reply->empty();
  }));
}

TEST(Server, AnAddressHasSoManyConnections) {
  TestServerOptions options;
  options.web.connections_per_address_max = 1;
  TestServer server(options);
  {
    Client first(server.port());
    ASSERT_TRUE(soon([&] { return server.metric("halite_web_connections_total") == 1; }));
    Client second(server.port());
    EXPECT_EQ(second.receive(kPatienceMs), "");
    EXPECT_EQ(server.metric("halite_web_connections_rejected_total"), 1);
  }
  EXPECT_TRUE(soon([&] {
    Client next(server.port());
    next.send("help\n");
    const std::optional<std::string> reply = next.receive(kPatienceMs);
    return reply && !reply->empty();
  }));
}

TEST(ConnectionQuota, CountsByAddress) {
  const auto a = boost::asio::ip::make_address("10.0.0.1");
  const auto b = boost::asio::ip::make_address("10.0.0.2");
  ConnectionQuota quota({.all = 3, .of_address = 2});
  EXPECT_TRUE(quota.take(a));
  EXPECT_TRUE(quota.take(a));
  EXPECT_FALSE(quota.take(a));
  EXPECT_TRUE(quota.take(b));
  EXPECT_FALSE(quota.take(b));
  quota.give_back(a);
  EXPECT_TRUE(quota.take(b));
  quota.give_back(b);
  quota.give_back(b);
  EXPECT_TRUE(quota.take(a));
}

TEST(Server, AClientThatReadsNoRepliesLosesOnlyReplies) {
  TestServerOptions options;
  options.web.telnet_reply_bytes_max = 4 << 10;
  TestServer server(options);
  Client client(server.port(), 4 << 10);
  std::string lines;
  constexpr int kLines = 20'000;
  for (int i = 0; i < kLines; ++i) {
    lines += fmt::format("nosuchcommand\nput m {} {} host=a\n", 1356998400 + i, i);
  }
  ASSERT_TRUE(client.send(lines));
  EXPECT_TRUE(soon(
      [&] { return server.metric("halite_ingest_points_total", "protocol", "telnet") == kLines; }));
  EXPECT_GT(server.metric("halite_web_telnet_replies_dropped_total"), 0);
  // What does come is whole lines.
  client.half_close();
  const std::string replies = client.receive_all(kPatienceMs);
  EXPECT_TRUE(replies.starts_with("unknown command: nosuchcommand.  Try `help'.\nunknown"));
  EXPECT_EQ(
      replies.size() % std::string_view("unknown command: nosuchcommand.  Try `help'.\n").size(),
      0u);
}

// Stops the server while replies wait for their reader; returns what the client still gets.
std::string replies_at_stop(TestServer& server, int lines) {
  Client client(server.port(), 4 << 10);
  std::string bad;
  for (int i = 0; i < lines; ++i) bad += "put\n";
  client.send(bad);
  EXPECT_TRUE(soon([&] { return server.metric("halite_web_telnet_lines_total") == lines; }));
  Client silent(server.port());
  EXPECT_TRUE(soon([&] { return server.metric("halite_web_connections_total") == 2; }));
  auto stopped = std::async(std::launch::async, [&] { server.stop(); });
  EXPECT_EQ(silent.receive(kPatienceMs), "");  // all were told
  EXPECT_TRUE(client.send("put\n"));           // nobody reads it any more
  std::string replies = client.receive_all(kPatienceMs);
  stopped.get();
  return replies;
}

TEST(Server, RepliesThatWaitAreSentBeforeAStop) {
  TestServerOptions options;
  options.web.telnet_reply_bytes_max = 64 << 20;
  options.web.linger_timeout_ms = kPatienceMs;
  TestServer server(options);
  constexpr int kLines = 200'000;  // more than the sockets hold
  const std::string replies = replies_at_stop(server, kLines);
  // The line that was sent while it stopped may have been read, too.
  EXPECT_THAT(std::ranges::count(replies, '\n'), testing::AnyOf(kLines, kLines + 1));
}

TEST(Server, AReaderThatIsTooLateDoesNotHoldUpAStop) {
  TestServerOptions options;
  options.web.telnet_reply_bytes_max = 64 << 20;
  options.web.linger_timeout_ms = 20;
  options.web.stop_timeout_ms = 3'600'000;
  TestServer server(options);
  Client client(server.port(), 4 << 10);
  std::string bad;
  for (int i = 0; i < 200'000; ++i) bad += "put\n";
  client.send(bad);
  EXPECT_TRUE(soon([&] { return server.metric("halite_web_telnet_lines_total") == 200'000; }));
  server.stop();
  EXPECT_EQ(server.metric("halite_web_connections"), 0);
}

TEST(Server, LongAnswersAreStreamed) {
  TestServer server;
  fill(server, 2);
  const auto ask = [&](std::string_view version, std::string_view headers) {
    Client client(server.port());
    client.send(
        fmt::format("GET {} HTTP/{}\r\n{}Connection: close\r\n\r\n", kAskAll, version, headers));
    return client.receive_all(kPatienceMs);
  };
  const auto body_of = [](const std::string& answer) {
    return answer.substr(answer.find("\r\n\r\n") + 4);
  };
  const auto unchunk = [](const std::string& body) {
    std::string text;
    std::size_t at = 0;
    while (true) {
      const std::size_t size = std::stoul(body.substr(at), nullptr, 16);
      const std::size_t begin = body.find("\r\n", at) + 2;
      if (size == 0) return text;
      text += body.substr(begin, size);
      at = begin + size + 2;
    }
  };
  const std::string old = ask("1.0", "");
  EXPECT_EQ(old.find("Content-Length"), std::string::npos);
  EXPECT_EQ(old.find("chunked"), std::string::npos);
  const std::string text = body_of(old);
  EXPECT_GT(text.size(), 2'000'000u);
  EXPECT_TRUE(text.ends_with(R"("1357084799":86399}}])")) << text.substr(text.size() - 40);

  const std::string chunked = ask("1.1", "");
  EXPECT_NE(chunked.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(unchunk(body_of(chunked)), text);

  const std::string packed = ask("1.1", "Accept-Encoding: gzip\r\n");
  EXPECT_NE(packed.find("Content-Encoding: gzip\r\n"), std::string::npos);
  EXPECT_LT(packed.size(), text.size() / 3);
  const Result<std::string> inflated =
      inflate_body(unchunk(body_of(packed)), Coding::kGzip, text.size());
  ASSERT_TRUE(inflated) << inflated.error().message;
  EXPECT_TRUE(*inflated == text);
}

TEST(Server, AClientThatDoesNotReadItsAnswerIsLeft) {
  TestServerOptions options;
  options.web.write_timeout_ms = 100;
  TestServer server(options);
  fill(server, 4);
  Client client(server.port(), 4 << 10);
  ASSERT_TRUE(client.send(fmt::format("GET {} HTTP/1.1\r\n\r\n", kAskAll)));
  EXPECT_TRUE(soon([&] { return server.metric("halite_web_timeouts_total") == 1; }));
  EXPECT_TRUE(soon([&] { return server.metric("halite_web_connections") == 0; }));
}

// Returns when the question runs; reading each part of the answer takes a while. The connection
// ends with the answer.
void ask_what_takes_long(TestServer& server, Client& client) {
  Client writer(server.port());
  ASSERT_TRUE(writer.send("put m 1356998400 1 host=a\nsync\n"));
  receive_until(writer, "synced\n");
  server.tables().scan_delay_ms = 200;
  ASSERT_TRUE(client.send(fmt::format("GET {} HTTP/1.1\r\nConnection: close\r\n\r\n", kAskAll)));
  ASSERT_TRUE(soon([&] { return server.metric("halite_query_running") == 1; }));
}

TEST(Server, AQueryIsStoppedWhenItsClientLeaves) {
  TestServer server;
  Client client(server.port());
  ASSERT_NO_FATAL_FAILURE(ask_what_takes_long(server, client));
  client.reset();
  EXPECT_TRUE(
      soon([&] { return server.metric("halite_query_runs_total", "outcome", "cancelled") == 1; }));
}

TEST(Server, AQueryIsStoppedByWhoLooks) {
  TestServer server;
  Client client(server.port());
  ASSERT_NO_FATAL_FAILURE(ask_what_takes_long(server, client));
  const auto ask = [&](std::string_view method, std::string_view path) {
    Client other(server.port());
    other.send(fmt::format("{} {} HTTP/1.0\r\n\r\n", method, path));
    return other.receive_all(kPatienceMs);
  };
  EXPECT_NE(ask("GET", "/api/server/queries").find(R"({"running":[{"id":0,"query":)"),
            std::string::npos);
  EXPECT_NE(ask("DELETE", "/api/server/queries/0").find(" 204 "), std::string::npos);
  const std::string answer = client.receive_all(kPatienceMs);
  EXPECT_NE(answer.find(" 503 "), std::string::npos);
  EXPECT_NE(answer.find("The query was cancelled"), std::string::npos);
  EXPECT_NE(ask("GET", "/api/server/queries").find(R"("cancelled":true,"status":503)"),
            std::string::npos);
}

TEST(Server, PointsOfManyConnectionsAtOnce) {
  TestServer server;
  constexpr int kClients = 50;
  constexpr int kLines = 200;
  std::vector<std::jthread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&server, c] {
      Client client(server.port());
      std::string lines;
      for (int i = 0; i < kLines; ++i) {
        lines += fmt::format("put m {} {} host=h{}\n", 1356998400 + i, i, c);
      }
      client.send(lines + "sync\n");
      EXPECT_EQ(receive_until(client, "\n"), "synced\n");
    });
  }
  threads.clear();
  Client client(server.port());
  ASSERT_TRUE(client.send(
      "GET /api/query?start=1356998400&end=1356998800&m=count:0all-count:m HTTP/1.1\r\n\r\n"));
  EXPECT_NE(receive_until(client, "}}]").find(":50.0}}]"), std::string::npos);
  ASSERT_TRUE(client.send(
      "GET /api/query?start=1356998400&end=1356998800&m=sum:0all-count:m HTTP/1.1\r\n\r\n"));
  EXPECT_NE(receive_until(client, "}}]").find(":10000.0}}]"), std::string::npos);
}

TEST(Server, DropcachesForgetsSeries) {
  TestServer server;
  const auto misses = [&] {
    return server.metric("halite_ingest_series_cache_lookups_total", "result", "miss");
  };
  Client client(server.port());
  const auto put = [&](std::string_view before) {
    client.send(fmt::format("{}put m 1356998400 1 host=a\nsync\n", before));
    receive_until(client, "synced\n");
  };
  put("");
  put("");
  EXPECT_EQ(misses(), 1);
  put("dropcaches\n");
  EXPECT_EQ(misses(), 2);
  Client http(server.port());
  ASSERT_TRUE(http.send("GET /api/dropcaches HTTP/1.1\r\n\r\n"));
  receive_until(http, "}");
  put("");
  EXPECT_EQ(misses(), 3);
}

Result<void> listens_on(const std::string& address, std::uint16_t port, WebOptions options = {}) {
  boost::asio::io_context io;
  options.address = address;
  options.port = port;
  return check_listen(options, io.get_executor());
}

TEST(Server, ListensOnNamesToo) {
  const Result<void> local = listens_on("localhost", 0);
  EXPECT_TRUE(local) << local.error().message;
  WebOptions told;
  told.access.anonymous = "read";
  EXPECT_TRUE(listens_on("0.0.0.0", 0, told));
}

TEST(Server, DoesNotListenToOthersUntoldWhatTheyMay) {
  for (const char* address : {"0.0.0.0", "::"}) {
    const Result<void> untold = listens_on(address, 0);
    ASSERT_FALSE(untold);
    EXPECT_EQ(untold.error().code, Errc::kInvalidArgument);
    EXPECT_TRUE(untold.error().message.starts_with(
        fmt::format("cannot listen on {}: any host on the network could read", address)))
        << untold.error().message;
  }
}

TEST(Server, SaysWhyItCannotListen) {
  TestServer server;
  EXPECT_EQ(
      listens_on("127.0.0.1", server.port()).error().message,
      fmt::format("cannot listen on 127.0.0.1 port {}: Address already in use", server.port()));
  const Result<void> nowhere = listens_on("no such host", 1);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, Errc::kUnavailable);
  EXPECT_TRUE(nowhere.error().message.starts_with(
      "cannot listen on \"no such host\": it is not an address and not a host name ("))
      << nowhere.error().message;
}

}  // namespace
}  // namespace halite::web
