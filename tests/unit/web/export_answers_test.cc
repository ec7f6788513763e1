// Answers to remote_read and federate count in query.answers_bytes_max.
#include <memory>
#include <string>
#include <string_view>

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
auto keep(query::QueryEngine& engine, std::size_t bytes_of_series) {
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

std::string read_request(char accepted_type) {
  std::string matcher = "\x12\x08__name__\x1a\x01m";
  std::string query = "\x08\x01\x10\xff\xff\xff\xff\xff\x7f\x1a";
  query += static_cast<char>(matcher.size());
  query += matcher;
  std::string message = "\x0a";
  message += static_cast<char>(query.size());
  message += query;
  message += "\x10";
  message += accepted_type;
  std::string packed;
  snappy::Compress(message.data(), message.size(), &packed);
  return post_once("/api/v1/read", packed);
}

TEST_F(ExportAnswers, OfFederateCount) {
  expect_counted("GET /federate?match[]=m HTTP/1.0\r\n\r\n");
}

TEST_F(ExportAnswers, OfRemoteReadCount) {
  expect_counted(read_request(0));
  expect_counted(read_request(1));
}

}  // namespace
}  // namespace halite::web
