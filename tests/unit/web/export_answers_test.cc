// Answers to remote_read and federate count in query.answers_bytes_max.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <snappy.h>

#include "query/engine/engine.h"
#include "query/engine/export_run.h"
#include "query/query_budget.h"
#include "query/selector/selector.h"
#include "tests/support/client.h"
#include "tests/support/run_task.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"
#include "web/server.h"

namespace halite::web {
namespace {

constexpr std::size_t kAnswersBytesMax = 200'000;

// Reads all series and keeps these bytes of each.
auto keep(query::QueryEngine& engine, std::int64_t bytes_of_series) {
  query::ExportQuestion wanted{.selectors = {query::parse_selector("m", {}).value()},
                               .range = {.begin = 0, .end = test::TestServerOptions().now_ms + 1}};
  const auto run = engine.export_points(std::move(wanted), {});
  return test::run_task(run->read_all(
      [run = run.get(), bytes_of_series](const storage::Series&, const storage::Block&) {
        return run->keep_bytes(bytes_of_series);
      }));
}

// The connection ends with the answer.
std::string post_once(std::string_view target, std::string_view body) {
  return fmt::format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", target, body.size(), body);
}

class ExportAnswers : public testing::Test {
 protected:
  ExportAnswers() : server_(limited()) {
    std::string lines;
    for (std::size_t i = 0; i < kSeries; ++i) {
      lines += fmt::format(
          R"({{"metric":{{"__name__":"m","a":"{:0>200}"}},"values":[1],"timestamps":[{}]}})"
          "\n",
          i, server_.clock().now_ms());
    }
    EXPECT_NE(answer(post_once("/api/v1/import", lines)).find("204 No Content"), std::string::npos);
  }

  std::string answer(const std::string& request) {
    test::Client client(server_.port());
    EXPECT_TRUE(client.send(request));
    return client.receive_all(kPatienceMs);
  }

  // Refused while other answers take the memory, but not afterwards.
  void expect_counted(const std::string& request) {
    auto others = keep(server_.services().engine, (kAnswersBytesMax - 1000) / kSeries);
    ASSERT_TRUE(others) << others.error().message;
    const std::string refused = answer(request);
    EXPECT_NE(refused.find(" 503 "), std::string::npos) << refused;
    EXPECT_NE(refused.find("query.answers_bytes_max"), std::string::npos) << refused;
    others->reset();
    EXPECT_NE(answer(request).find(" 200 "), std::string::npos);
  }

  static constexpr std::size_t kSeries = 500;  // more than AnswerMemory::kSmallBytes together

 private:
  static test::TestServerOptions limited() {
    test::TestServerOptions options;
    options.query.answers_bytes_max = kAnswersBytesMax;
    return options;
  }

  test::TestServer server_;
};

constexpr char kSamples = 0;
constexpr char kFrames = 1;

void append_varint(std::string& to, std::int64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

constexpr std::string_view kOfMetricM = "\x12\x08__name__\x1a\x01m";

// `count` times the same query.
std::string read_request(char accepted_type, std::string_view matcher = kOfMetricM, int count = 1,
                         std::int64_t begin_ms = 1, std::int64_t end_ms = (1LL << 42) - 1) {
  std::string query = "\x08";
  append_varint(query, begin_ms);
  query += "\x10";
  append_varint(query, end_ms);
  query += "\x1a";
  query += static_cast<char>(matcher.size());
  query += matcher;
  std::string message;
  for (int i = 0; i < count; ++i) {
    message += "\x0a";
    message += static_cast<char>(query.size());
    message += query;
  }
  message += "\x10";
  message += accepted_type;
  std::string packed;
  snappy::Compress(message.data(), message.size(), &packed);
  return post_once("/api/v1/read", packed);
}

TEST_F(ExportAnswers, OfFederateCount) {
  expect_counted("GET /federate?match[]=m HTTP/1.0\r\n\r\n");
}

TEST_F(ExportAnswers, OfRemoteReadCount) { expect_counted(read_request(kSamples)); }

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

// Frames of a metric are sent before the next one is read, if the series are in order then.
TEST(RemoteReadFrames, NeedTheMemoryOfOneMetric) {
  constexpr std::size_t kMetrics = 15;
  constexpr std::size_t kSeries = 100;
  test::TestServerOptions options;
  options.query.bytes_max = 250'000;
  test::TestServer server(std::move(options));
  const auto answer = [&server](const std::string& request) {
    test::Client client(server.port());
    EXPECT_TRUE(client.send(request));
    return client.receive_all(kPatienceMs);
  };
  const auto import = [&](std::string_view metric, std::string_view label) {
    std::string lines;
    for (std::size_t i = 0; i < kSeries; ++i) {
      lines += fmt::format(R"({{"metric":{{"__name__":"{}","{}":"{:0>200}"}},"values":[1],)"
                           R"("timestamps":[{}]}})"
                           "\n",
                           metric, label, i, server.clock().now_ms());
    }
    EXPECT_NE(answer(post_once("/api/v1/import", lines)).find("204 No Content"), std::string::npos);
  };
  for (std::size_t m = 0; m < kMetrics; ++m) import(fmt::format("m{:02}", m), "a");
  const auto read = [&server](char accepted_type, std::string_view matcher) {
    const std::int64_t now_ms = server.clock().now_ms();
    return read_request(accepted_type, matcher, 1, now_ms - 1000, now_ms + 1000);
  };
  const std::string all_metrics = "\x08\x02\x12\x08__name__\x1a\x03m.*";
  const std::string frames = answer(read(kFrames, all_metrics));
  EXPECT_NE(frames.find(" 200 "), std::string::npos);
  EXPECT_EQ(occurrences(frames, "__name__"), kMetrics * kSeries) << frames.substr(0, 300);
  EXPECT_LT(frames.find("m00"), frames.find("m01"));
  const std::string samples = answer(read(kSamples, all_metrics));
  EXPECT_NE(samples.find("query.bytes_max"), std::string::npos) << samples.substr(0, 300);
  // Series with this label are before all others.
  import("m99", "A");
  EXPECT_NE(answer(read(kFrames, all_metrics)).find("query.bytes_max"), std::string::npos);
  const std::string few = answer(read(kFrames, "\x08\x02\x12\x08__name__\x1a\x07m00|m99"));
  EXPECT_EQ(occurrences(few, "__name__"), 2 * kSeries);
  EXPECT_LT(few.find("m99"), few.find("m00"));
}

// Queries of one request run one after the other, in both forms of the answer.
TEST(RemoteReadQueries, BeginInTheirTurn) {
  test::TestServer server;
  const auto answer = [&server](const std::string& request) {
    test::Client client(server.port());
    EXPECT_TRUE(client.send(request));
    return client.receive_all(kPatienceMs);
  };
  constexpr int kQueries = 3;
  for (const char form : {kSamples, kFrames}) {
    EXPECT_NE(answer(read_request(form, kOfMetricM, kQueries)).find(" 200 "), std::string::npos);
  }
  const std::string log = answer("GET /api/stats/query HTTP/1.0\r\n\r\n");
  EXPECT_EQ(occurrences(log, R"("numRunningQueries":1,)"), 2u * kQueries) << log;
}

}  // namespace
}  // namespace halite::web
