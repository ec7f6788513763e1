#include "web/request_trace.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/client.h"
#include "tests/support/log_capture.h"
#include "tests/support/soon.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"

namespace halite::web {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr std::string_view kParent =
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
constexpr std::string_view kNotSampled =
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\r\n";
constexpr std::string_view kQuery =
    "/api/query?start=1356998400&end=1356998500&m=sum:m%7Bhost=a%7D";
constexpr std::string_view kPromql = "/api/v1/query?query=sum(m)&time=1356998400";

class Kept final : public TraceSink {
 public:
  void add(Trace trace) override {
    const std::lock_guard lock(mutex_);
    traces_.push_back(std::move(trace));
  }
  [[nodiscard]] std::vector<Trace> traces() const {
    const std::lock_guard lock(mutex_);
    return traces_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Trace> traces_;
};

// "key=value" of each attribute.
std::vector<std::string> texts(const TraceSpan& span) {
  std::vector<std::string> all;
  for (const SpanAttribute& one : span.attributes) {
    const auto* const text = std::get_if<std::string>(&one.value);
    all.push_back(fmt::format("{}={}", one.key,
                              text ? *text : std::to_string(std::get<std::int64_t>(one.value))));
  }
  return all;
}

// Without those of shards, of which some stores read all.
std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> all;
  for (const TraceSpan& span : trace.spans) {
    if (span.name != "shard") all.push_back(span.name);
  }
  return all;
}

const TraceSpan& span_named(const Trace& trace, std::string_view name) {
  return *std::ranges::find(trace.spans, name, &TraceSpan::name);
}

class Traced : public testing::Test {
 protected:
  void start(double ratio = 0) {
    test::TestServerOptions options;
    options.traces = &kept_;
    options.web.traces.ratio = ratio;
    options.web.traces.query_bytes_max = 64;
    start(std::move(options));
  }
  void start(test::TestServerOptions options) {
    server_ = std::make_unique<test::TestServer>(std::move(options));
    test::Client writer(server_->port());
    EXPECT_TRUE(writer.send("put m 1356998400 1 host=a\nsync\n"));
    receive_until(writer, "synced\n");
  }

  std::string ask(std::string_view path, std::string_view headers,
                  std::string_view method = "GET") {
    test::Client client(server_->port());
    EXPECT_TRUE(client.send(fmt::format(
        "{} {} HTTP/1.1\r\nHost: tsd:4242\r\nConnection: close\r\n{}\r\n", method, path, headers)));
    return client.receive_all(kPatienceMs);
  }

  // The answer comes before the trace.
  std::vector<Trace> traces(std::size_t count) {
    EXPECT_TRUE(test::soon([&] { return kept_.traces().size() >= count; }));
    return kept_.traces();
  }

  Kept kept_;
  std::unique_ptr<test::TestServer> server_;
};

TEST_F(Traced, a_query_of_a_sampled_trace) {
  start();
  EXPECT_THAT(
      ask(kQuery, fmt::format("{}tracestate: rojo=1,congo=2\r\nUser-Agent: shop\r\n", kParent)),
      HasSubstr(" 200 "));
  const std::vector<Trace> all = traces(1);
  ASSERT_EQ(all.size(), 1u);
  const Trace& trace = all[0];
  EXPECT_EQ(id_text(trace.id), kTraceId);
  EXPECT_EQ(trace.flags, 1);
  EXPECT_TRUE(trace.remote_parent);
  EXPECT_EQ(trace.state, "rojo=1,congo=2");
  EXPECT_THAT(names(trace), ElementsAre("GET /api/query", "parse", "plan", "scan", "merge",
                                        "annotations", "annotations", "write"));
  const TraceSpan& root = trace.spans[0];
  EXPECT_EQ(id_text(root.parent), "00f067aa0ba902b7");
  EXPECT_EQ(root.kind, SpanKind::kServer);
  EXPECT_FALSE(root.failed);
  const std::vector<std::string> said = texts(root);
  for (const char* const text :
       {"http.request.method=GET", "http.route=/api/query", "http.response.status_code=200",
        "url.scheme=http", "url.path=/api/query", "network.protocol.version=1.1",
        "server.address=tsd", "server.port=4242", "client.address=127.0.0.1",
        "user_agent.original=shop", "db.system.name=halite", "halite.series=1",
        "halite.points_read=1", "halite.points_out=1"}) {
    EXPECT_THAT(said, Contains(text));
  }
  EXPECT_THAT(said, Contains(StartsWith(R"(db.query.text={"start":"1356998400000")")));
  for (const std::string& text : said) {
    if (text.starts_with("db.query.text=")) EXPECT_EQ(text.size(), 14u + 64u);
  }
  for (const TraceSpan& span : trace.spans) {
    if (&span == &root) continue;
    EXPECT_EQ(span.kind, SpanKind::kInternal);
    EXPECT_GE(span.begin_ns, root.begin_ns);
    EXPECT_LE(span.end_ns, root.end_ns);
    EXPECT_EQ(span.parent, span.name == "shard" ? span_named(trace, "scan").id : root.id)
        << span.name;
  }
  std::vector<std::string> of_shards;
  for (const TraceSpan& span : trace.spans) {
    if (span.name == "shard") std::ranges::move(texts(span), std::back_inserter(of_shards));
  }
  EXPECT_THAT(of_shards, Contains("halite.points_read=1"));
}

TEST_F(Traced, one_in_promql) {
  start();
  EXPECT_THAT(ask(kPromql, kParent), HasSubstr(" 200 "));
  const std::vector<Trace> all = traces(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(names(all[0]),
              ElementsAre("GET /api/v1/query", "parse", "queue", "plan", "scan", "merge", "write"));
  EXPECT_THAT(texts(all[0].spans[0]), Contains("db.query.text=sum(m)"));
  EXPECT_THAT(texts(all[0].spans[0]), Contains("http.route=/api/v1/query"));
}

TEST_F(Traced, a_write_has_one_span) {
  start();
  const std::string body = R"({"metric":"m","timestamp":1356998401,"value":2,"tags":{"host":"a"}})";
  test::Client client(server_->port());
  EXPECT_TRUE(client.send(fmt::format(
      "POST /api/put HTTP/1.1\r\nHost: tsd\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n{}",
      kParent, body.size(), body)));
  EXPECT_THAT(client.receive_all(kPatienceMs), HasSubstr(" 204 "));
  const std::vector<Trace> all = traces(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(names(all[0]), ElementsAre("POST /api/put", "write"));
  EXPECT_THAT(texts(all[0].spans[0]), Not(Contains(HasSubstr("db."))));
}

TEST_F(Traced, an_error_is_said) {
  start();
  EXPECT_THAT(ask("/api/query?start=1&m=sum:nobody", kParent), HasSubstr(" 400 "));
  Trace trace = traces(1).back();
  EXPECT_FALSE(trace.spans[0].failed);  // a client's error is none of the server
  EXPECT_THAT(texts(trace.spans[0]), Contains("http.response.status_code=400"));
  EXPECT_THAT(texts(trace.spans[0]), Not(Contains(StartsWith("error.type="))));
}

TEST_F(Traced, names_in_paths_make_no_routes) {
  start();
  EXPECT_THAT(ask("/api/v1/label/host/values", kParent), HasSubstr(" 200 "));
  const Trace trace = traces(1).front();
  EXPECT_EQ(trace.spans[0].name, "GET /prometheus/label_values");
  EXPECT_THAT(texts(trace.spans[0]), Contains("url.path=/api/v1/label/host/values"));
}

TEST_F(Traced, texts_become_utf8_and_secrets_stay_out) {
  start();
  EXPECT_THAT(ask("/api/query/%ff?start=1356998400&end=1356998500&m=sum:m&token=secret",
                  fmt::format("{}User-Agent: a\xff\r\nAuthorization: Bearer secret\r\n", kParent)),
              HasSubstr(" 200 "));
  const std::vector<std::string> said = texts(traces(1).front().spans[0]);
  EXPECT_THAT(said, Contains("url.path=/api/query/\xEF\xBF\xBD"));
  EXPECT_THAT(said, Contains("user_agent.original=a\xEF\xBF\xBD"));
  EXPECT_THAT(said, Not(Contains(HasSubstr("secret"))));
}

TEST_F(Traced, what_is_not_sampled_is_not_traced) {
  start(1);
  EXPECT_THAT(ask(kQuery, kNotSampled), HasSubstr(" 200 "));
  EXPECT_THAT(ask("/api/version", ""), HasSubstr(" 200 "));
  EXPECT_THAT(ask("/nothing", kParent), HasSubstr(" 404 "));  // before its handler runs
  EXPECT_THAT(ask(kQuery, ""), HasSubstr(" 200 "));
  const std::vector<Trace> all = traces(1);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].remote_parent);
  EXPECT_EQ(all[0].flags, 3);
  EXPECT_EQ(all[0].spans[0].parent, SpanId{});
  EXPECT_NE(id_text(all[0].id), kTraceId);
}

TEST_F(Traced, strangers_are_not) {
  for (const bool open : {false, true}) {
    test::TestServerOptions options;
    options.traces = &kept_;
    options.web.access.anonymous = open ? "write" : "none";
    server_ = std::make_unique<test::TestServer>(std::move(options));
    for (const char* const path : {"/-/healthy", "/-/ready"}) {
      EXPECT_THAT(ask(path, kParent), HasSubstr(" 200 ")) << path;
    }
    server_->stop();  // all that was asked has its trace
    EXPECT_EQ(kept_.traces().size(), open ? 2u : 0u);
  }
}

TEST_F(Traced, a_wrong_traceparent_is_none) {
  start(1);
  const std::string wrong[] = {
      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1\r\n",
      fmt::format("{}{}", kParent, kParent), "tracestate: rojo=1\r\n"};
  for (const std::string& headers : wrong) EXPECT_THAT(ask(kQuery, headers), HasSubstr(" 200 "));
  const std::vector<Trace> all = traces(3);
  ASSERT_EQ(all.size(), 3u);
  for (const Trace& trace : all) {
    EXPECT_NE(id_text(trace.id), kTraceId);
    EXPECT_FALSE(trace.remote_parent);
    EXPECT_EQ(trace.state, "");
  }
  EXPECT_NE(all[0].id, all[1].id);
}

TEST_F(Traced, a_wrong_tracestate_is_dropped_and_several_are_one) {
  start();
  ask(kQuery, fmt::format("{}tracestate: =\r\n", kParent));
  ask(kQuery, fmt::format("{}tracestate: a=1\r\ntracestate: b=2\r\n", kParent));
  const std::vector<Trace> all = traces(2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].state, "");
  EXPECT_EQ(all[1].state, "a=1,b=2");
}

TEST_F(Traced, a_part_is_sampled) {
  start(0.5);
  constexpr int kCount = 200;
  test::Client client(server_->port());
  for (int i = 0; i < kCount; ++i) EXPECT_THAT(ask(kPromql, ""), HasSubstr(" 200 "));
  EXPECT_TRUE(test::soon([&] { return kept_.traces().size() > 40; }));
  EXPECT_LT(kept_.traces().size(), 160u);  // both are 8 standard deviations away
}

TEST_F(Traced, the_status_page_has_the_steps) {
  for (const bool tracing : {false, true}) {
    test::TestServerOptions options;
    options.traces = tracing ? &kept_ : nullptr;
    start(std::move(options));
    ask(kPromql, kParent);
    boost::json::value done;
    std::vector<std::string> steps;
    EXPECT_TRUE(test::soon([&] {
      const std::string answer = ask("/api/server/queries", "");
      done = boost::json::parse(answer.substr(answer.find("\r\n\r\n") + 4)).at("completed").at(0);
      steps.clear();
      for (const boost::json::value& span : done.at("spans").as_array()) {
        const std::string name(span.at("name").as_string());
        if (name != "shard") steps.push_back(name);
      }
      return steps.back() == "write";
    }));
    EXPECT_THAT(steps, ElementsAre("parse", "queue", "plan", "scan", "merge", "write"));
    EXPECT_EQ(done.at("spansLeftOut").as_int64(), 0);
    EXPECT_EQ(done.as_object().contains("traceId"), tracing);
    if (tracing) EXPECT_EQ(done.at("traceId").as_string(), kTraceId);
    server_.reset();
  }
}

TEST_F(Traced, the_audit_log_has_the_id) {
  start();
  const test::LogCapture log;
  ask("/api/dropcaches", kParent);
  server_->stop();
  EXPECT_THAT(log.text(), HasSubstr(fmt::format("/api/dropcaches -> 200, trace {}\n", kTraceId)));
}

TEST(SpanLog, has_limits) {
  const FakeClock clock(5);
  SpanLog log(clock);
  for (std::uint32_t i = 0; i < 100; ++i) {
    log.add({.name = "scan"});
    log.add({.name = "shard", .shard = i});
  }
  EXPECT_EQ(log.spans().size(), SpanLog::kStepsMax + SpanLog::kShardsMax);
  EXPECT_EQ(log.left_out(), 200 - log.spans().size());
  const SpanLog::Timed unlogged(nullptr, "scan");
}

}  // namespace
}  // namespace halite::web
