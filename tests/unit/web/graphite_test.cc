// Graphite's ports: connections of both protocols, from bytes to stored points.
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/formats/graphite_templates.h"
#include "tests/support/client.h"
#include "tests/support/log_capture.h"
#include "tests/support/test_server.h"
#include "tests/unit/web/patience.h"
#include "web/graphite/graphite_line_session.h"
#include "web/server.h"

namespace halite::web {
namespace {

using namespace std::string_literals;
using test::Client;
using test::TestServer;
using test::TestServerOptions;
using testing::HasSubstr;

TestServerOptions with_graphite() {
  TestServerOptions options;
  options.now_ms = 1'700'000'100'000;
  options.web.graphite = ListenAddress{.address = "127.0.0.1", .port = 0};
  options.web.graphite_pickle = ListenAddress{.address = "127.0.0.1", .port = 0};
  return options;
}

double taken(const TestServer& server) {
  return server.metric("halite_ingest_points_total", "protocol", "graphite");
}
double refused(const TestServer& server) {
  return server.metric("halite_ingest_points_refused_total", "protocol", "graphite");
}

// The answer's points of all series of a metric.
std::string points_of(const TestServer& server, std::string_view metric) {
  Client client(server.port());
  client.send(
      fmt::format("GET /api/query?start=1699999000&end=1700001000&ms=true&m=none:{} HTTP/1.1\r\n"
                  "Connection: close\r\n\r\n",
                  metric));
  return client.receive_all(kPatienceMs);
}

// [("a.b", (1700000000, 1.5))] with its length.
std::string frame(std::string_view pickle) {
  std::string framed(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) {
    framed[3 - i] = static_cast<char>(pickle.size() >> (8 * i) & 0xFF);
  }
  return framed.append(pickle);
}
std::string pickled(std::string_view path, int time, int value) {
  return frame(fmt::format("(lp0\n(V{}\np1\n(I{}\nI{}\ntp2\ntp3\na.", path, time, value));
}

TEST(Graphite, LinesAreStored) {
  TestServer server(with_graphite());
  Client client(server.graphite_port());
  ASSERT_TRUE(
      client.send("a.b 1.5 1700000000\na.b;host=x;dc=y 2 1700000001\r\na.b 3 -1\na.b 4 N\n"));
  ASSERT_TRUE(soon([&] { return taken(server) == 4; }));
  const std::string answer = points_of(server, "a.b");
  EXPECT_THAT(answer, HasSubstr("\"tags\":{\"dc\":\"y\",\"host\":\"x\"}"));
  EXPECT_THAT(answer, HasSubstr("\"1700000000000\":1.5"));
  EXPECT_THAT(answer, HasSubstr("\"1700000001000\":2"));
  EXPECT_THAT(answer, HasSubstr("\"1700000100000\":4")) << "the time of arrival; the last one wins";
  EXPECT_EQ(refused(server), 0);
  EXPECT_FALSE(client.receive(0)) << "nothing is answered";
}

TEST(Graphite, RefusedLinesAreCountedAndTheConnectionLives) {
  const test::LogCapture log;
  TestServer server(with_graphite());
  Client client(server.graphite_port());
  ASSERT_TRUE(client.send("a.b nan 1700000000\na.b 1\n\na.b;k= 1 1700000000\n\xFF 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return refused(server) == 4; }));
  const std::string line = std::string(70'000, 'x');
  ASSERT_TRUE(client.send(line));
  ASSERT_TRUE(soon([&] { return refused(server) == 5; }));
  ASSERT_TRUE(client.send("yy\na.b 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  EXPECT_EQ(refused(server), 5);
  const auto samples = server.services().writer.refused_samples();
  ASSERT_EQ(samples.size(), 5U);
  EXPECT_EQ(samples[0].protocol, ingest::Protocol::kGraphite);
  EXPECT_EQ(samples[0].error, "column 5: NaN is no value in Graphite");
  EXPECT_EQ(samples[0].point, "a.b nan 1700000000");
  EXPECT_EQ(samples[4].error, "a line of more than 65536 bytes");
  EXPECT_THAT(log.text(), HasSubstr("graphite: point refused: \"column 5: NaN is no value in "
                                    "Graphite\" in \"a.b nan 1700000000\""));
}

TEST(Graphite, TheLongestLine) {
  TestServer server(with_graphite());
  Client client(server.graphite_port());
  const std::string blanks(GraphiteLineSession::kLineBytesMax - 15, ' ');
  ASSERT_TRUE(client.send("a.b" + blanks + "1 1700000000\n"));  // 64 KiB
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  ASSERT_TRUE(client.send("a.b" + blanks + " 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return refused(server) == 1; }));
  EXPECT_EQ(taken(server), 1);
}

TEST(Graphite, ALineInThreePacketsAndOneWithoutAnEnd) {
  TestServer server(with_graphite());
  Client client(server.graphite_port());
  const auto read = [&](double bytes) {
    return soon([&] { return server.metric("halite_web_read_bytes_total") == bytes; });
  };
  ASSERT_TRUE(client.send("a."));
  ASSERT_TRUE(read(2));
  ASSERT_TRUE(client.send("b 1.5 17000"));
  ASSERT_TRUE(read(13));
  ASSERT_TRUE(client.send("00000\na.b 2 17000"));
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  client.half_close();
  EXPECT_EQ(client.receive_all(kPatienceMs), "");
  EXPECT_EQ(taken(server), 1);
  EXPECT_EQ(refused(server), 1);
  EXPECT_EQ(server.services().writer.refused_samples().at(0).point, "a.b 2 17000");
}

TEST(Graphite, ManyLines) {
  TestServer server(with_graphite());
  Client client(server.graphite_port());
  constexpr int kLines = 50'000;
  std::string lines;
  for (int i = 0; i < kLines; ++i) lines += fmt::format("m.{} {} 1700000000\n", i % 100, i);
  ASSERT_TRUE(client.send(lines));
  ASSERT_TRUE(soon([&] { return taken(server) == kLines; }));
  EXPECT_EQ(refused(server), 0);
  EXPECT_THAT(points_of(server, "m.99"), HasSubstr("\"1700000000000\":49999"));
}

TEST(Graphite, Templates) {
  TestServerOptions options = with_graphite();
  options.web.graphite_format.graphite_templates =
      std::make_shared<const ingest::GraphiteTemplates>(
          ingest::GraphiteTemplates::parse("servers.* .host.measurement*").value());
  TestServer server(std::move(options));
  Client lines(server.graphite_port());
  ASSERT_TRUE(lines.send("servers.a.load 1 1700000000\n"));
  Client pickles(server.graphite_pickle_port());
  ASSERT_TRUE(pickles.send(pickled("servers.b.load", 1'700'000'000, 2)));
  ASSERT_TRUE(soon([&] { return taken(server) == 2; }));
  const std::string answer = points_of(server, "load");
  EXPECT_THAT(answer, HasSubstr("\"tags\":{\"host\":\"a\"}"));
  EXPECT_THAT(answer, HasSubstr("\"tags\":{\"host\":\"b\"}"));
}

TEST(Graphite, PicklesAreStored) {
  TestServer server(with_graphite());
  Client client(server.graphite_pickle_port());
  const std::string first = pickled("a.b", 1'700'000'000, 1);
  ASSERT_TRUE(client.send(first.substr(0, 2)));
  ASSERT_TRUE(soon([&] { return server.metric("halite_web_read_bytes_total") == 2; }));
  ASSERT_TRUE(client.send(first.substr(2, 20)));
  ASSERT_TRUE(soon([&] { return server.metric("halite_web_read_bytes_total") == 22; }));
  std::string rest = first.substr(22);
  for (int i = 1; i <= 100; ++i) rest += pickled("a.b", 1'700'000'000 + i, i);
  ASSERT_TRUE(client.send(rest));
  ASSERT_TRUE(soon([&] { return taken(server) == 101; }));
  const std::string answer = points_of(server, "a.b");
  EXPECT_THAT(answer, HasSubstr("\"1700000000000\":1"));
  EXPECT_THAT(answer, HasSubstr("\"1700000100000\":100"));
  // A bad entry is refused, the others are taken.
  ASSERT_TRUE(client.send(frame("(I5\n(Vc\n(I1700000000\nI1\ntt(Vd\n(I1700000000\nNttl.")));
  ASSERT_TRUE(soon([&] { return taken(server) == 102 && refused(server) == 2; }));
  EXPECT_THAT(points_of(server, "c"), HasSubstr("\"1700000000000\":1"));
}

TEST(Graphite, BrokenPicklesEndTheConnection) {
  for (const auto& [bytes, why] : std::vector<std::pair<std::string, std::string>>{
           {frame("cos\nsystem\n(S'true'\ntR."), "the opcode 0x63"},
           {"\0\x10\0\x01"s, "a message of 1048577 bytes, at most 1048576 are allowed"},
           {"GET / HTTP/1.1\r\n\r\n", "a message of 1195725856 bytes"},
           {frame("]g7\n."), "nothing has the number 7 in the memo"},
           {frame(""), "it ends without STOP"},
           {frame("I1\n."), "the pickle is not a list of points"}}) {
    SCOPED_TRACE(why);
    const test::LogCapture log;
    TestServer server(with_graphite());
    Client client(server.graphite_pickle_port());
    ASSERT_TRUE(client.send(bytes + pickled("a.b", 1'700'000'000, 1)));
    client.receive_all(kPatienceMs);
    EXPECT_EQ(taken(server), 0) << "nothing after it is read";
    EXPECT_EQ(refused(server), 1);
    server.stop();
    const std::string text = log.text();
    const std::size_t said = text.find("graphite: the connection from 127.0.0.1 ends: ");
    ASSERT_NE(said, std::string::npos) << text;
    EXPECT_THAT(text.substr(said), HasSubstr(why));
    EXPECT_EQ(text.find("graphite: the connection", said + 1), std::string::npos) << "once";
  }
}

TEST(Graphite, TheLongestPickleAndOneWithoutAnEnd) {
  TestServer server(with_graphite());
  Client client(server.graphite_pickle_port());
  const std::string begin = "(I1700000000\nI1\ntp1\n0(";
  const std::string end = "(Va.b\ng1\ntl.";
  // A text that is dropped fills it.
  const std::string text((1 << 20) - begin.size() - end.size() - 6, 'x');
  ASSERT_TRUE(client.send(frame(begin + "X\xD8\xFF\x0F\0"s + text + "0" + end)));
  client.half_close();
  EXPECT_EQ(client.receive_all(kPatienceMs), "");
  EXPECT_EQ(taken(server), 1);
  Client other(server.graphite_pickle_port());
  ASSERT_TRUE(other.send(pickled("a.b", 1'700'000'000, 1).substr(0, 30)));
  other.half_close();
  EXPECT_EQ(other.receive_all(kPatienceMs), "");
  EXPECT_EQ(taken(server), 1);
  EXPECT_EQ(refused(server), 1);
}

TEST(Graphite, ASenderWaitsWhileTheStoreDoes) {
  TestServer server(with_graphite());
  Client warm(server.graphite_port());
  ASSERT_TRUE(warm.send("a.b 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  server.tables().hold();
  const int before = server.tables().writes;
  Client client(server.graphite_port());
  ASSERT_TRUE(client.send("a.b 2 1700000001\n"));
  ASSERT_TRUE(soon([&] { return server.tables().writes > before; }));
  const double read = server.metric("halite_web_read_bytes_total");
  ASSERT_TRUE(client.send("a.b 3 1700000002\n"));
  EXPECT_FALSE(client.receive(50)) << "it is not closed";
  EXPECT_EQ(server.metric("halite_web_read_bytes_total"), read) << "nor read";
  server.tables().release();
  ASSERT_TRUE(soon([&] { return taken(server) == 3; }));
  EXPECT_THAT(points_of(server, "a.b"), HasSubstr("\"1700000002000\":3"));
}

TEST(Graphite, PointsWaitForAStoreThatFails) {
  const test::LogCapture log;
  TestServer server(with_graphite());
  Client lines(server.graphite_port());
  Client pickles(server.graphite_pickle_port());
  ASSERT_TRUE(lines.send("a.b 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  server.tables().fail = true;
  ASSERT_TRUE(lines.send("a.b 2 1700000001\n"));
  ASSERT_TRUE(pickles.send(pickled("a.b", 1'700'000'002, 3)));
  ASSERT_TRUE(
      soon([&] { return log.text().find("and so does their sender") != std::string::npos; }));
  EXPECT_FALSE(lines.receive(50));
  EXPECT_FALSE(pickles.receive(50));
  server.tables().fail = false;
  ASSERT_TRUE(soon([&] {
    const std::string answer = points_of(server, "a.b");
    return answer.contains("\"1700000001000\":2") && answer.contains("\"1700000002000\":3");
  }));
}

TEST(Graphite, AStopDoesNotWaitForSenders) {
  auto server = std::make_unique<TestServer>(with_graphite());
  Client lines(server->graphite_port());
  Client pickles(server->graphite_pickle_port());
  ASSERT_TRUE(lines.send("a.b 1 1700000000\na.b"));
  ASSERT_TRUE(pickles.send(pickled("a.b", 1'700'000'001, 1) + "\0\0"s));
  ASSERT_TRUE(soon([&] { return taken(*server) == 2; }));
  const auto begin = std::chrono::steady_clock::now();
  server->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  EXPECT_EQ(lines.receive_all(kPatienceMs), "");
  EXPECT_EQ(pickles.receive_all(kPatienceMs), "");
  EXPECT_EQ(refused(*server), 2) << "what they had begun";
  EXPECT_EQ(server->metric("halite_web_connections"), 0);
}

TEST(Graphite, AStopEndsTheWaitForAStoreThatFails) {
  const test::LogCapture log;
  TestServer server(with_graphite());
  server.tables().fail = true;
  Client lines(server.graphite_port());
  ASSERT_TRUE(lines.send("a.b 1 1700000000\n"));
  ASSERT_TRUE(
      soon([&] { return log.text().find("and so does their sender") != std::string::npos; }));
  const auto begin = std::chrono::steady_clock::now();
  server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_THAT(log.text(), HasSubstr("are lost, as the server stops"));
}

TEST(Graphite, SilentSendersTimeOut) {
  TestServerOptions options = with_graphite();
  options.web.telnet_idle_timeout_ms = 100;
  options.web.request_timeout_ms = 100;
  TestServer server(std::move(options));
  Client lines(server.graphite_port());
  Client pickles(server.graphite_pickle_port());
  ASSERT_TRUE(pickles.send("\0\0\1"s));
  EXPECT_EQ(lines.receive_all(kPatienceMs), "");
  EXPECT_EQ(pickles.receive_all(kPatienceMs), "");
  EXPECT_EQ(server.metric("halite_web_timeouts_total"), 2);
}

TEST(Graphite, ConnectionsAreLimited) {
  TestServerOptions options = with_graphite();
  options.web.connections_per_address_max = 1;
  TestServer server(std::move(options));
  Client first(server.graphite_port());
  ASSERT_TRUE(first.send("a.b 1 1700000000\n"));
  ASSERT_TRUE(soon([&] { return taken(server) == 1; }));
  Client second(server.graphite_port());
  EXPECT_EQ(second.receive_all(kPatienceMs), "");
  EXPECT_EQ(server.metric("halite_web_connections_rejected_total"), 1);
}

TEST(Graphite, NeedsTheRoleOfAllWriters) {
  boost::asio::io_context io;
  WebOptions options;
  options.port = 0;
  options.graphite = ListenAddress{.address = "127.0.0.1", .port = 0};
  EXPECT_TRUE(check_listen(options, io.get_executor()));
  options.access.anonymous = "read";
  const Result<void> checked = check_listen(options, io.get_executor());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            "graphite.listen lets any sender write, as Graphite has no login, but auth.anonymous "
            "does not: add \"write\" to it, or unset graphite.listen");
  options.access.anonymous = "write";
  EXPECT_TRUE(check_listen(options, io.get_executor()));
  options.access.anonymous = "auto";
  options.graphite_pickle = ListenAddress{.address = "0.0.0.0", .port = 0};
  const Result<void> open = check_listen(options, io.get_executor());
  ASSERT_FALSE(open);
  EXPECT_THAT(open.error().message,
              HasSubstr("cannot listen on 0.0.0.0: any host on the network could read"));
  options.graphite_pickle = ListenAddress{.address = "not an address", .port = 0};
  EXPECT_FALSE(check_listen(options, io.get_executor()));
}

}  // namespace
}  // namespace halite::web
