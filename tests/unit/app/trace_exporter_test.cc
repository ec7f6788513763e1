#include "app/tracing/trace_exporter.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/proto_reader.h"
#include "tests/support/log_capture.h"
#include "tests/support/metric_value.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

constexpr std::string_view kHang = "hang";
constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

std::string status(int code, std::string_view headers = {}, std::string_view body = {}) {
  return fmt::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n{}", code, headers, body.size(),
                     body);
}

// Answers each request with the next text of a script, and then with 200. Reads one request a
// connection.
class Collector {
 public:
  explicit Collector(std::vector<std::string> script = {})
      : script_(std::move(script)),
        acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        thread_([this] { run(); }) {}
  ~Collector() {
    ending_ = true;
    boost::system::error_code error;
    tcp::socket knock(io_);
    knock.connect(acceptor_.local_endpoint(), error);
    thread_.join();
  }

  [[nodiscard]] std::string url(std::string_view path = "/v1/traces") const {
    return fmt::format("http://127.0.0.1:{}{}", acceptor_.local_endpoint().port(), path);
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  [[nodiscard]] std::string head(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return requests_.at(i).substr(0, requests_.at(i).find("\r\n\r\n"));
  }
  [[nodiscard]] std::string body(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return requests_.at(i).substr(requests_.at(i).find("\r\n\r\n") + 4);
  }
  [[nodiscard]] steady_clock::time_point time(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return times_.at(i);
  }

 private:
  void run() {
    std::vector<tcp::socket> hanging;
    for (;;) {
      tcp::socket socket(io_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      if (ending_) return;
      std::string request;
      read(socket, request);
      std::string reply(kOk);
      {
        const std::lock_guard lock(mutex_);
        if (requests_.size() < script_.size()) reply = script_[requests_.size()];
        requests_.push_back(std::move(request));
        times_.push_back(steady_clock::now());
      }
      if (reply == kHang) {
        hanging.push_back(std::move(socket));
      } else {
        asio::write(socket, asio::buffer(reply), error);
      }
    }
  }

  static void read(tcp::socket& socket, std::string& to) {
    boost::system::error_code error;
    const std::size_t head = asio::read_until(socket, asio::dynamic_buffer(to), "\r\n\r\n", error);
    const std::size_t at = to.find("Content-Length: ");
    if (error || at == std::string::npos) return;
    const std::size_t wanted = head + std::stoul(to.substr(at + 16));
    while (!error && to.size() < wanted) {
      char bytes[4096];
      const std::size_t came = socket.read_some(asio::buffer(bytes), error);
      to.append(bytes, came);
    }
  }

  const std::vector<std::string> script_;
  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::atomic<bool> ending_ = false;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::vector<steady_clock::time_point> times_;
  std::thread thread_;
};

Trace trace_of(std::size_t spans, std::uint8_t id = 1) {
  Trace trace;
  trace.id.fill(id);
  for (std::size_t i = 0; i < spans; ++i) {
    trace.spans.push_back({.id = {static_cast<std::uint8_t>(i + 1)}, .name = "step"});
  }
  return trace;
}

// How often a message of the field is in the only ScopeSpans.
std::size_t spans_in(const std::string& body) {
  std::size_t spans = 0;
  ProtoFault fault;
  ProtoReader request(body, fault);
  while (request.next()) {
    ProtoReader resource = request.message();
    while (resource.next()) {
      if (resource.field() != 2) continue;
      ProtoReader scope = resource.message();
      while (scope.next()) spans += scope.field() == 2 ? 1 : 0;
    }
  }
  EXPECT_FALSE(fault);
  return spans;
}

class Exporting : public testing::Test {
 protected:
  TracingOptions options(const std::string& url) const {
    TracingOptions options;
    options.endpoint = url;
    options.interval_ms = 5;
    options.timeout_ms = 2'000;
    options.backoff_min_ms = 20;
    options.backoff_max_ms = 50;
    return options;
  }
  std::unique_ptr<TraceExporter> open(TracingOptions options) {
    const TraceOrigin origin{.service = "shop", .version = "1", .instance = "here:1", .host = {}};
    auto opened = TraceExporter::open(std::move(options), origin, registry_);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? *std::move(opened) : nullptr;
  }
  double metric(const std::string& name) {
    return test::metric_value(registry_, "halite_tracing_" + name);
  }
  bool comes(const std::string& name, double value) {
    return test::soon([&] { return metric(name) == value; });
  }

  prometheus::Registry registry_;
};

TEST_F(Exporting, a_trace_arrives_with_headers_of_a_file) {
  const test::TempDir dir;
  std::ofstream(dir.path() + "/headers")
      << "# of Tempo\nAuthorization: Bearer secret\n\nX-Scope-OrgID:eu\n";
  const Collector collector;
  TracingOptions wanted = options(collector.url(""));
  wanted.headers_file = dir.path() + "/headers";
  const auto exporter = open(wanted);
  exporter->add(trace_of(3));
  ASSERT_TRUE(comes("sent_spans_total", 3));
  const std::string head = collector.head(0);
  EXPECT_THAT(head, HasSubstr("POST /v1/traces HTTP/1.1"));
  EXPECT_THAT(head, HasSubstr("Content-Type: application/x-protobuf"));
  EXPECT_THAT(head, HasSubstr("Authorization: Bearer secret"));
  EXPECT_THAT(head, HasSubstr("X-Scope-OrgID: eu"));
  EXPECT_EQ(spans_in(collector.body(0)), 3u);
  EXPECT_THAT(collector.body(0), HasSubstr("shop"));
}

TEST_F(Exporting, a_path_is_used_as_it_is) {
  const Collector collector;
  const auto exporter = open(options(collector.url("/otlp/traces")));
  exporter->add(trace_of(1));
  ASSERT_TRUE(comes("sent_spans_total", 1));
  EXPECT_THAT(collector.head(0), HasSubstr("POST /otlp/traces HTTP/1.1"));
}

TEST_F(Exporting, traces_are_sent_in_batches_and_none_is_cut) {
  const Collector collector;
  TracingOptions wanted = options(collector.url());
  wanted.interval_ms = 60'000;
  wanted.batch_spans_max = 10;
  const auto exporter = open(wanted);
  for (const std::size_t spans : {4u, 4u, 4u, 25u}) exporter->add(trace_of(spans));
  ASSERT_TRUE(comes("sent_spans_total", 37));
  ASSERT_EQ(collector.count(), 3u);
  EXPECT_EQ(spans_in(collector.body(0)), 8u);
  EXPECT_EQ(spans_in(collector.body(1)), 4u);
  EXPECT_EQ(spans_in(collector.body(2)), 25u);
}

TEST_F(Exporting, what_says_try_later_is_tried_again) {
  const Collector collector({status(429), status(502), status(503), status(504)});
  const auto exporter = open(options(collector.url()));
  exporter->add(trace_of(2));
  ASSERT_TRUE(comes("sent_spans_total", 2));
  EXPECT_EQ(collector.count(), 5u);
  EXPECT_EQ(metric("retries_total"), 4);
  for (std::size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(collector.body(i), collector.body(0));
    EXPECT_GE(collector.time(i) - collector.time(i - 1), milliseconds(10)) << i;
  }
}

TEST_F(Exporting, a_collector_says_when_to_come_again) {
  const Collector collector({status(429, "Retry-After: 1\r\n")});
  const auto exporter = open(options(collector.url()));
  exporter->add(trace_of(1));
  ASSERT_TRUE(comes("sent_spans_total", 1));
  EXPECT_GE(collector.time(1) - collector.time(0), milliseconds(950));
}

TEST_F(Exporting, what_comes_again_too_late_is_lost) {
  const Collector collector({status(503, "Retry-After: 3600\r\n")});
  const auto exporter = open(options(collector.url()));
  exporter->add(trace_of(2));
  ASSERT_TRUE(comes("lost_spans_total", 2));
  exporter->add(trace_of(1));
  ASSERT_TRUE(comes("sent_spans_total", 1));
  EXPECT_EQ(metric("retries_total"), 0);
}

TEST_F(Exporting, other_errors_lose_the_batch) {
  for (const int code : {400, 401, 404, 500, 501}) {
    const Collector collector({status(code)});
    const auto exporter = open(options(collector.url()));
    const double lost = metric("lost_spans_total");
    exporter->add(trace_of(2));
    ASSERT_TRUE(comes("lost_spans_total", lost + 2)) << code;
    EXPECT_EQ(collector.count(), 1u) << code;
  }
}

TEST_F(Exporting, one_that_hangs_or_closes_is_asked_again) {
  const Collector collector({std::string(kHang), std::string(), "HTTP/1.1 2"});
  TracingOptions wanted = options(collector.url());
  wanted.timeout_ms = 100;
  const auto exporter = open(wanted);
  exporter->add(trace_of(1));
  ASSERT_TRUE(comes("sent_spans_total", 1));
  EXPECT_EQ(collector.count(), 4u);
}

TEST_F(Exporting, nobody_listens) {
  test::LogCapture log;
  TracingOptions wanted;
  {
    const Collector gone;
    wanted = options(gone.url());
  }
  wanted.retry_ms = 200;
  const auto exporter = open(wanted);
  exporter->add(trace_of(2));
  ASSERT_TRUE(comes("lost_spans_total", 2));
  EXPECT_GE(metric("retries_total"), 2);
  EXPECT_THAT(log.text(), HasSubstr("traces are not sent to " + wanted.endpoint));
}

TEST_F(Exporting, a_full_queue_drops_and_never_waits) {
  const Collector collector({std::string(kHang)});
  TracingOptions wanted = options(collector.url());
  wanted.queue_spans_max = 10;
  wanted.flush_ms = 0;
  const auto exporter = open(wanted);
  exporter->add(trace_of(10));
  ASSERT_TRUE(test::soon([&] { return collector.count() == 1; }));  // the first batch is away
  const auto begin = steady_clock::now();
  for (int i = 0; i < 100; ++i) exporter->add(trace_of(5));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500));
  EXPECT_EQ(metric("dropped_spans_total"), 490);
  EXPECT_EQ(metric("waiting_spans"), 10);
}

std::string length_of(std::string_view bytes) {  // in two bytes, as a varint
  return {static_cast<char>(bytes.size() | 0x80), static_cast<char>(bytes.size() >> 7)};
}

// An answer with partial_success {rejected_spans: `spans`, error_message: `message`}.
std::string partial_success(char spans, std::string_view message) {
  const std::string said = fmt::format("\x08{}\x12{}{}", spans, length_of(message), message);
  return status(200, {}, fmt::format("\x0a{}{}", length_of(said), said));
}

TEST_F(Exporting, a_part_may_be_rejected) {
  const Collector collector({partial_success('\x02', "old")});
  test::LogCapture log;
  const auto exporter = open(options(collector.url()));
  exporter->add(trace_of(3));
  ASSERT_TRUE(comes("sent_spans_total", 1));
  EXPECT_EQ(metric("rejected_spans_total"), 2);
  EXPECT_THAT(log.text(), HasSubstr("it refused 2 spans: old"));
}

TEST_F(Exporting, a_collector_that_rejects_is_logged_once) {
  const std::string rejects = partial_success('\x01', "bad\nERROR " + std::string(4'000, 'x'));
  const Collector collector({rejects, rejects, rejects});
  test::LogCapture log;
  const auto exporter = open(options(collector.url()));
  for (const double sent : {1, 2, 3, 5}) {
    exporter->add(trace_of(2));
    ASSERT_TRUE(comes("sent_spans_total", sent));
  }
  const std::string text = log.text();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_THAT(text, HasSubstr("not all traces are accepted by " + collector.url() +
                              ": it refused 1 spans: bad ERROR xxx"));
  EXPECT_THAT(text, HasSubstr("xxx...\n"));
  EXPECT_THAT(text, HasSubstr("traces are sent to " + collector.url() + " again"));
  EXPECT_LT(text.size(), 1'000u);
}

TEST_F(Exporting, a_stop_sends_what_waits) {
  const Collector collector;
  TracingOptions wanted = options(collector.url());
  wanted.interval_ms = 60'000;
  auto exporter = open(wanted);
  exporter->add(trace_of(3));
  exporter->begin_stop();
  exporter.reset();
  EXPECT_EQ(metric("sent_spans_total"), 3);
  ASSERT_EQ(collector.count(), 1u);
}

TEST_F(Exporting, a_stop_waits_no_longer_than_flush_ms) {
  const Collector collector({std::string(kHang)});
  TracingOptions wanted = options(collector.url());
  wanted.timeout_ms = 60'000;
  wanted.flush_ms = 200;
  auto exporter = open(wanted);
  exporter->add(trace_of(3));
  ASSERT_TRUE(test::soon([&] { return collector.count() == 1; }));
  const auto begin = steady_clock::now();
  exporter.reset();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1'500));
  EXPECT_EQ(metric("lost_spans_total"), 3);
}

TEST_F(Exporting, a_stop_does_not_wait_for_a_retry) {
  const Collector collector({status(503, "Retry-After: 30\r\n")});
  auto exporter = open(options(collector.url()));
  exporter->add(trace_of(3));
  ASSERT_TRUE(test::soon([&] { return collector.count() == 1; }));
  const auto begin = steady_clock::now();
  exporter.reset();
  EXPECT_LT(steady_clock::now() - begin, milliseconds(1'500));
  EXPECT_EQ(metric("lost_spans_total"), 3);
}

TEST_F(Exporting, wrong_settings_are_refused) {
  const test::TempDir dir;
  const std::string headers = dir.path() + "/headers";
  const auto refusal = [this](TracingOptions wanted) {
    const auto opened = TraceExporter::open(std::move(wanted), {}, registry_);
    return opened ? std::string() : opened.error().message;
  };
  TracingOptions wanted;
  wanted.endpoint = "tempo:4318";
  EXPECT_THAT(refusal(wanted), HasSubstr("tracing.endpoint: bad URL"));
  wanted.endpoint = "http://tempo:4318";
  wanted.headers_file = headers;
  EXPECT_THAT(refusal(wanted), HasSubstr("cannot read " + headers));
  for (const char* const line : {"Authorization", ": x", "a b: c", "a: \x01"}) {
    std::ofstream(headers) << "X-One: 1\n" << line << "\n";
    const std::string text = refusal(wanted);
    EXPECT_THAT(text, HasSubstr("headers:2: expected Name: value")) << line;
    EXPECT_FALSE(text.contains("Authorization")) << text;
  }
  std::ofstream(headers) << "content-length: 5\n";
  EXPECT_THAT(refusal(wanted), HasSubstr("headers:1: Halite sets content-length itself"));
}

TEST(SampleRatio, is_from_0_to_1) {
  for (const auto& [text, value] : {std::pair("0", 0.0), std::pair("1", 1.0),
                                    std::pair("0.25", 0.25), std::pair("1e-3", 0.001)}) {
    const auto ratio = parse_sample_ratio(text);
    ASSERT_TRUE(ratio) << text;
    EXPECT_EQ(*ratio, value);
  }
  for (const char* const text : {"", "2", "-0.1", "nan", "1%", "half"}) {
    EXPECT_FALSE(parse_sample_ratio(text)) << text;
  }
}

}  // namespace
}  // namespace halite::app
