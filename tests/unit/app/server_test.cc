// The whole server, while its disk does not do what it should. What it does otherwise: tests/e2e.
#include "app/server/server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <latch>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/server/logging.h"
#include "app/settings/memory_settings.h"
#include "tests/support/client.h"
#include "tests/support/faulty_files.h"
#include "tests/support/real_disk.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

using test::Client;
using test::kPatienceMs;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

std::string ask(std::uint16_t port, std::string_view request) {
  Client client(port);
  client.send(request);
  return client.receive_all(kPatienceMs);
}
std::string get(std::uint16_t port, std::string_view target) {
  return ask(port, fmt::format("GET {} HTTP/1.1\r\nConnection: close\r\n\r\n", target));
}
std::string put_text(int value) {
  const std::string body =
      fmt::format(R"({{"metric":"m","timestamp":{},"value":{},"tags":{{"host":"a"}}}})",
                  1356998400 + value, value);
  return fmt::format("POST /api/put HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
                     body.size(), body);
}

bool go_on(std::chrono::milliseconds) { return true; }

class ServerTest : public testing::Test {
 protected:
  static Options options_on(const std::string& data_dir) {
    Options options;
    Config config;
    declare_settings(config, options);
    options.data_dir = data_dir;
    options.listen = fmt::format("127.0.0.1:{}", free_port());
    options.threads = {.web = 2, .query = 1, .small_query = 1};
    options.self_metrics.enabled = false;
    const Result<void> settled = resolve_options(options);
    EXPECT_TRUE(settled) << settled.error().message;
    return options;
  }

  // A data directory as kill -9 leaves it: one point, which only the log has.
  [[nodiscard]] std::string killed_with_a_point() const {
    const std::string killed = dir_.path() + "/killed";
    Server server(options_on(dir_.path() + "/lived"), Config());
    const Result<void> started = server.start(go_on);
    EXPECT_TRUE(started) << started.error().message;
    EXPECT_THAT(ask(server.port(), put_text(1)), HasSubstr(" 204 "));
    std::filesystem::copy(dir_.path() + "/lived", killed, std::filesystem::copy_options::recursive);
    return killed;
  }

  static void expect_point(std::uint16_t port) {
    EXPECT_THAT(get(port, "/api/query?start=1356998400&end=1356998500&m=none:m"),
                HasSubstr(R"("dps":{"1356998401":1})"));
  }

  const test::TempDir dir_;
};

TEST_F(ServerTest, WhileTheLogIsReplayedItIsAliveAndSaysHowFarItIs) {
  const Options options = options_on(killed_with_a_point());
  const std::uint16_t port = options.web.port;
  Server server(options, Config());
  // Asked as soon as it is known how much there is to replay.
  std::atomic<bool> replaying = false;
  std::latch go(1);
  auto started = std::async(std::launch::async, [&] {
    return server.start([&](std::chrono::milliseconds) {
      replaying = true;
      go.wait();
      return true;
    });
  });
  ASSERT_TRUE(test::soon([&] { return replaying.load(); }));
  EXPECT_THAT(get(port, "/-/healthy"), StartsWith("HTTP/1.1 200 OK\r\n"));
  const auto how_far = testing::ContainsRegex(
      R"(the store is being opened: 0\.0 of [0-9.]+ MiB of the log replayed \(0 %\))");
  EXPECT_THAT(get(port, "/-/ready"), AllOf(StartsWith("HTTP/1.1 503 "), how_far));
  EXPECT_THAT(ask(port, put_text(2)),
              AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("Retry-After: "), how_far));
  EXPECT_THAT(ask(port, "put m 1356998402 2 host=a\n"),
              AllOf(StartsWith("put: not ready: "), how_far));
  go.count_down();
  const Result<void> outcome = started.get();
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(server.port(), port);
  EXPECT_THAT(get(port, "/-/ready"), StartsWith("HTTP/1.1 200 OK\r\n"));
  expect_point(port);
}

TEST_F(ServerTest, ToldToEndItReplaysNoFurtherAndLosesNothing) {
  const std::string killed = killed_with_a_point();
  const Options options = options_on(killed);
  {
    Server server(options, Config());
    const Result<void> started = server.start([](std::chrono::milliseconds) { return false; });
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Errc::kCancelled) << started.error().message;
  }
  Server server(options, Config());
  ASSERT_TRUE(server.start(go_on));
  expect_point(server.port());
}

TEST_F(ServerTest, SharesOfTheMemoryLimitAndTheirUseAreMetrics) {
  Options options = options_on(dir_.path() + "/shares");
  Options unused;
  Config config;
  declare_settings(config, unused);
  ASSERT_TRUE(config.apply_flag("--set", "memory.limit", "1GiB"));
  ASSERT_TRUE(config.apply_flag("--set", "engine.block_cache_bytes", "20MiB"));
  ASSERT_TRUE(resolve_memory(config, unused));
  options.memory = unused.memory;
  Server server(options, config);
  ASSERT_TRUE(server.start(go_on));
  EXPECT_THAT(ask(server.port(), put_text(1)), HasSubstr(" 204 "));
  const auto metrics = [&server] { return get(server.port(), "/metrics"); };
  const auto share = [](std::string_view setting, int mib) {
    return HasSubstr(fmt::format("\nhalite_memory_share_bytes{{setting=\"{}\"}} {}\n", setting,
                                 std::int64_t{mib} << 20));
  };
  EXPECT_THAT(metrics(),
              AllOf(HasSubstr("\nhalite_memory_limit_bytes 1073741824\n"),
                    share("storage.series_bytes_max", 512), share("engine.head_bytes_max", 256),
                    share("ingest.series_cache_bytes_max", 128),
                    share("engine.block_cache_bytes", 20), share("rocksdb.block_cache_bytes", 64),
                    share("query.bytes_max", 128), share("web.bodies_bytes_max", 256)));
  for (const std::string_view setting :
       {"storage.series_bytes_max", "engine.head_bytes_max", "ingest.series_cache_bytes_max"}) {
    const auto used = testing::ContainsRegex(
        fmt::format("\nhalite_memory_used_bytes\\{{setting=\"{}\"\\}} [1-9]", setting));
    EXPECT_TRUE(test::soon([&] { return testing::Value(metrics(), used); })) << setting;
  }
}

TEST_F(ServerTest, ReadinessAndSpaceOfTheDiskAreMetrics) {
  Options options = options_on(dir_.path() + "/disk");
  const auto files = std::make_shared<test::FaultyFiles>(1);
  files->keep_on(std::make_shared<test::RealDisk>(options.data_dir));
  files->set_capacity(std::uint64_t{1} << 40);
  options.environment.files = files;
  options.self_metrics.interval_ms = 100;
  Server server(options, Config());
  ASSERT_TRUE(server.start(go_on));
  const auto metrics = [&server] { return get(server.port(), "/metrics"); };
  EXPECT_THAT(metrics(), AllOf(HasSubstr("\nhalite_process_ready 1\n"),
                               HasSubstr("\nhalite_disk_bytes 1099511627776\n"),
                               testing::ContainsRegex("\nhalite_disk_free_bytes [1-9]")));
  files->set_capacity(0);
  EXPECT_TRUE(test::soon(
      [&] { return metrics().find("\nhalite_disk_free_bytes 0\n") != std::string::npos; }));
  EXPECT_THAT(ask(server.port(), put_text(1)), HasSubstr(" 503 "));
  EXPECT_TRUE(test::soon(
      [&] { return metrics().find("\nhalite_process_ready 0\n") != std::string::npos; }));
  files->heal();
}

TEST_F(ServerTest, TheNewestBackupIsAMetricAlsoAfterARestart) {
  Options options = options_on(dir_.path() + "/backed-up");
  options.care.backup_dir = dir_.path() + "/backups";
  const testing::Matcher<std::string> known =
      testing::ContainsRegex("\nhalite_backup_newest_time_seconds [1-9]");
  {
    Server server(options, Config());
    ASSERT_TRUE(server.start(go_on));
    const auto metrics = [&server] { return get(server.port(), "/metrics"); };
    EXPECT_THAT(metrics(), AllOf(HasSubstr("\nhalite_backup_newest_time_seconds 0\n"),
                                 HasSubstr("\nhalite_backup_failures_total 0\n")));
    EXPECT_THAT(ask(server.port(),
                    "POST /api/admin/backup HTTP/1.1\r\nConnection: close\r\n"
                    "Content-Length: 0\r\n\r\n"),
                HasSubstr(" 202 "));
    EXPECT_TRUE(test::soon([&] { return testing::Value(metrics(), known); }));
  }
  Server server(options, Config());
  ASSERT_TRUE(server.start(go_on));
  EXPECT_THAT(get(server.port(), "/metrics"), known);
}

TEST_F(ServerTest, WrongSettingsAreToldBeforeItListens) {
  Options options = options_on(dir_.path() + "/never");
  options.web.tls.certificate = "/nowhere/certificate.pem";
  Server server(options, Config());
  const Result<void> started = server.start(go_on);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(options.data_dir));
}

TEST_F(ServerTest, BackupsInTheDataDirectoryAreRefusedBeforeItIsCreated) {
  Options options = options_on(dir_.path() + "/never");
  options.care.backup_dir = options.data_dir + "/../never/backups";
  Server server(options, Config());
  const Result<void> started = server.start(go_on);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::kInvalidArgument);
  EXPECT_THAT(started.error().message,
              AllOf(StartsWith("engine.backup_dir = "), HasSubstr("is inside the data directory")));
  EXPECT_FALSE(std::filesystem::exists(options.data_dir));
}

// One point is acknowledged; another waits for a disk that does not come back.
void stop_while_the_disk_hangs(Options options) {
  const LoggingScope log(options.log);
  const auto files = std::make_shared<test::FaultyFiles>(1);
  files->keep_on(std::make_shared<test::RealDisk>(options.data_dir));
  options.environment.files = files;
  options.web.stop_timeout_ms = 100;
  options.web.abandon_timeout_ms = 100;
  Server server(options, Config());
  if (!server.start(go_on)) return;
  if (ask(server.port(), put_text(1)).find(" 204 ") == std::string::npos) return;
  files->set_sync_time(std::chrono::hours(1));
  Client client(server.port());
  client.send(put_text(2));
  const bool taken = test::soon([&] {
    return get(server.port(), "/metrics")
               .find("\nhalite_ingest_points_total{protocol=\"http\"} 2\n") != std::string::npos;
  });
  if (taken) std::ignore = server.stop();
}

TEST_F(ServerTest, AStoreThatHangsDoesNotHoldUpAStopForEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The same directory in the process that runs the statement, which begins the test anew.
  const std::string data_dir = HALITE_BINARY_DIR "/server-test-hangs";
  std::filesystem::remove_all(data_dir);
  Options options = options_on(data_dir);
  EXPECT_EXIT(
      stop_while_the_disk_hangs(options), testing::ExitedWithCode(EXIT_FAILURE),
      "waiting for: 1 connections that wait for the store. Acknowledged points are durable");
  std::filesystem::remove_all(data_dir + "/.files");  // the numbers of RealDisk
  Server server(options, Config());
  const Result<void> started = server.start(go_on);
  ASSERT_TRUE(started) << started.error().message;
  expect_point(server.port());
  ASSERT_TRUE(server.stop());
  std::filesystem::remove_all(data_dir);
}

}  // namespace
}  // namespace halite::app
