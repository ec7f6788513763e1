// When points sent by telnet and HTTP are said to be durable, and who waits for that.
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"
#include "web/server.h"

namespace halite::web {
namespace {

using test::Client;
using test::TestServer;
using test::TestServerOptions;

TEST(Durability, TelnetClosesWhenEverythingIsDurable) {
  TestServer server;
  server.tables().hold();
  Client client(server.port());
  ASSERT_TRUE(client.send("put m 1356998400 1 host=a\n"));
  client.half_close();
  ASSERT_TRUE(soon([&] { return server.tables().writes > 0; }));
  EXPECT_EQ(client.receive(50), std::nullopt);
  server.tables().release();
  EXPECT_EQ(client.receive(kPatienceMs), "");
}

TEST(Durability, SyncAnswersWhenEverythingIsDurable) {
  TestServer server;
  server.tables().hold();
  Client client(server.port());
  ASSERT_TRUE(client.send("put m 1356998400 1 host=a\nsync\nput m 1356998401 1 host=a\n"));
  ASSERT_TRUE(soon([&] { return server.tables().writes > 0; }));
  EXPECT_EQ(client.receive(50), std::nullopt);
  server.tables().release();
  EXPECT_EQ(receive_until(client, "\n"), "synced\n");
}

// A telnet client whose points do not become durable: one line a time, each a batch of its own.
class SlowDisk {
 public:
  SlowDisk(std::size_t flushes_max, std::int64_t durable_ms)
      : server_(options(flushes_max, durable_ms)), client_(server_.port()) {
    server_.tables().hold();
  }
  void put() {
    ASSERT_TRUE(client_.send(fmt::format("put m {} 1 host=a\n", 1356998400 + lines_++)));
    ASSERT_TRUE(soon([&] { return server_.metric("halite_web_telnet_lines_total") == lines_; }));
  }
  // One more line, long after the first was to be durable. Whether the session was reading by then,
  // and waits behind this line, or was held up and waits before it, is the scheduler's choice.
  void put_when_late() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(client_.send(fmt::format("put m {} 1 host=a\n", 1356998400 + lines_++)));
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (server_.metric("halite_web_telnet_lines_total") != lines_ &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  [[nodiscard]] bool begun(int writes) {
    return soon([&] { return server_.tables().writes == writes; });
  }
  // Another line is not even read.
  [[nodiscard]] bool waits() {
    const int writes = server_.tables().writes;
    client_.send("version\n");
    return client_.receive(50) == std::nullopt && server_.tables().writes == writes;
  }
  [[nodiscard]] bool goes_on() {
    server_.tables().release();
    client_.send("sync\n");
    return receive_until(client_, "synced\n").ends_with("synced\n") && begun(lines_);
  }

 private:
  static TestServerOptions options(std::size_t flushes_max, std::int64_t durable_ms) {
    TestServerOptions made;
    made.web.telnet_flushes_max = flushes_max;
    made.web.telnet_durable_ms = durable_ms;
    return made;
  }
  TestServer server_;
  Client client_;
  int lines_ = 0;
};

TEST(Durability, TelnetBatchesThatAreNotDurableHaveAMaximum) {
  SlowDisk disk(2, 3'600'000);
  disk.put();
  disk.put();
  EXPECT_TRUE(disk.begun(2));  // the maximum
  disk.put();                  // one more is read, and waits
  EXPECT_TRUE(disk.waits());
  EXPECT_TRUE(disk.goes_on());
}

TEST(Durability, TelnetReadsNoMoreWhenABatchIsNotDurableInTime) {
  SlowDisk disk(100, 1);
  disk.put();
  EXPECT_TRUE(disk.begun(1));
  disk.put_when_late();
  EXPECT_TRUE(disk.waits());
  EXPECT_TRUE(disk.goes_on());
}

TEST(Durability, WhatDidNotBecomeDurableIsSaid) {
  TestServer server;
  server.tables().fail = true;
  Client client(server.port());
  ASSERT_TRUE(client.send("put m 1356998400 1 host=a\nsync\n"));
  const std::string replies = receive_until(client, "sync: ");
  EXPECT_TRUE(
      replies.starts_with("put: storage error: 1 points may not be stored: the disk is full\n"))
      << replies;
  EXPECT_EQ(replies.find("synced"), std::string::npos) << replies;

  Client http(server.port());
  ASSERT_TRUE(http.send(post("/api/put", kPoint)));
  const std::string answer = receive_until(http, "}}");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;  // agents send it again
  EXPECT_NE(answer.find(R"("message":"the disk is full","details":"1 points may be stored or not: )"
                        R"(send them again")"),
            std::string::npos)
      << answer;
  ASSERT_TRUE(http.send(post("/api/put?summary", kPoint)));
  const std::string summary = receive_until(http, "}");
  EXPECT_TRUE(summary.starts_with("HTTP/1.1 503 ")) << summary;
  EXPECT_TRUE(summary.ends_with(R"({"success":0,"failed":1})")) << summary;
  ASSERT_TRUE(http.send(post("/api/put?details", kPoint)));
  const std::string details = receive_until(http, "]}");
  EXPECT_TRUE(details.starts_with("HTTP/1.1 503 ")) << details;
  EXPECT_NE(details.find(R"({"success":0,"failed":1,"errors":[{"datapoint":{"metric":"m",)"),
            std::string::npos)
      << details;
  EXPECT_TRUE(details.ends_with(
      R"("error":"Storage exception: the disk is full; it may be stored or not: send it again"}]})"))
      << details;
  EXPECT_EQ(server.metric("halite_ingest_points_unknown_total", "protocol", "telnet"), 1);
  EXPECT_EQ(server.metric("halite_ingest_points_unknown_total", "protocol", "http"), 3);

  server.tables().fail = false;
  ASSERT_TRUE(client.send("put m 1356998400 1 host=a\nsync\n"));
  EXPECT_NE(receive_until(client, "synced\n").find("synced\n"), std::string::npos);
}

// Senders of OTLP repeat a 503 and drop a 500.
TEST(Durability, AnOtlpRequestThatDidNotBecomeDurableIsSentAgain) {
  TestServer server;
  const std::string body =
      R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[)"
      R"({"timeUnixNano":"1356998400000000000","asInt":"1"}]}}]}]}]})";
  const std::string request = fmt::format(
      "POST /v1/metrics HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
      body.size(), body);
  server.tables().fail = true;
  Client client(server.port());
  ASSERT_TRUE(client.send(request));
  const std::string refused = receive_until(client, "}");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
  EXPECT_NE(refused.find("\r\nRetry-After: "), std::string::npos) << refused;
  EXPECT_NE(refused.find(R"({"code":14,"message":"the disk is full)"), std::string::npos)
      << refused;
  server.tables().fail = false;
  ASSERT_TRUE(client.send(request));
  const std::string stored = receive_until(client, "{}");
  EXPECT_TRUE(stored.starts_with("HTTP/1.1 200 ")) << stored;
}

TEST(Durability, SyncTimeoutGivesUpWaiting) {
  TestServer server;
  server.tables().hold();
  Client client(server.port());
  ASSERT_TRUE(client.send(post("/api/put?details&sync&sync_timeout=30", kPoint)));
  const std::string answer = receive_until(client, "}");
  EXPECT_NE(answer.find(R"({"success":0,"failed":0,"timeouts":1,"errors":[]})"), std::string::npos)
      << answer;
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 "));
  ASSERT_TRUE(client.send(post("/api/put?sync&sync_timeout=30", kPoint)));
  EXPECT_NE(receive_until(client, "}")
                .find("The put call has timedout with 0 successful writes, 0 "
                      "failed writes and 1 timed out writes."),
            std::string::npos);
  server.tables().release();
}

}  // namespace
}  // namespace halite::web
