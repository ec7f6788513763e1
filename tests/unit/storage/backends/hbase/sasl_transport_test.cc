// The handshake byte for byte, with a mechanism that writes what it does into its tokens.
#include "storage/backends/hbase/security/sasl_transport.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/hbase/rpc/security_options.h"
#include "tests/support/run_task.h"

namespace halite::storage::hbase {
namespace {

using test::run_task;
using testing::HasSubstr;
using namespace std::string_literals;

Bytes u32(std::uint32_t value) {
  Bytes bytes;
  append_be(bytes, value);
  return bytes;
}
Bytes framed(const Bytes& bytes) { return u32(static_cast<std::uint32_t>(bytes.size())) + bytes; }
Bytes reply(const Bytes& token) { return u32(0) + framed(token); }
Bytes refusal(const Bytes& name, const Bytes& text) { return u32(1) + framed(name) + framed(text); }

// A server whose whole speech is known before.
struct Wire {
  Bytes to_read;
  Bytes sent;
  std::size_t step_bytes = 7;  // of one read
  std::size_t writes = 0;
};

class WireTransport final : public Transport {
 public:
  explicit WireTransport(Wire& wire) : wire_(wire) {}
  Task<void> connect(Endpoint) override { co_return Result<void>(); }
  Task<std::size_t> read_some(boost::asio::mutable_buffer into) override {
    const std::size_t bytes = std::min({into.size(), wire_.to_read.size(), wire_.step_bytes});
    if (bytes == 0) co_return fail(Errc::kUnavailable, "closed by the server");
    std::memcpy(into.data(), wire_.to_read.data(), bytes);
    wire_.to_read.erase(0, bytes);
    co_return bytes;
  }
  Task<void> write(std::vector<boost::asio::const_buffer> buffers) override {
    ++wire_.writes;
    for (const auto& buffer : buffers) {
      wire_.sent.append(static_cast<const char*>(buffer.data()), buffer.size());
    }
    co_return Result<void>();
  }
  void close() override {}
  [[nodiscard]] std::string step() const override { return "TCP"; }

 private:
  Wire& wire_;
};

// Established by the token "yes"; wraps "x" to "i<x>", or "c<x>" encrypted.
class TellingContext final : public SecurityContext {
 public:
  Result<Bytes> step(BytesView token) override {
    if (token == "no") return fail(Errc::kUnavailable, "it said no");
    established_ = token == "yes";
    return established_ ? Bytes() : Bytes("again");
  }
  [[nodiscard]] bool established() const override { return established_; }
  Result<Bytes> wrap(BytesView bytes, bool encrypt) override {
    return (encrypt ? "c<" : "i<") + Bytes(bytes) + ">";
  }
  Result<Bytes> unwrap(BytesView token) override {
    if (token.size() < 3 || token[1] != '<') return fail(Errc::kUnavailable, "not wrapped");
    return Bytes(token.substr(2, token.size() - 3));
  }
  [[nodiscard]] std::size_t wrap_bytes_max(std::size_t token_bytes, bool) override {
    return token_bytes < 3 ? 0 : token_bytes - 3;
  }

 private:
  bool established_ = false;
};

class TellingAuthenticator final : public Authenticator {
 public:
  std::shared_ptr<Beginning> begin(std::string host) override {
    auto beginning = std::make_shared<Beginning>();
    if (host == "unknown") {
      beginning->done.finish(fail(Errc::kUnavailable, "no ticket"));
      return beginning;
    }
    beginning->context = std::make_unique<TellingContext>();
    beginning->token = "for " + host;
    if (host != "slow") beginning->done.finish({});
    last = beginning;
    return beginning;
  }
  std::shared_ptr<Beginning> last;
};

class SaslTest : public testing::Test {
 protected:
  std::unique_ptr<Transport> transport(std::uint8_t allowed = kAnyProtection,
                                       std::string host = "rs1") {
    return sasl_transport(std::make_unique<WireTransport>(wire_), {.host = std::move(host),
                                                                   .authenticator = authenticator_,
                                                                   .protections = allowed,
                                                                   .token_bytes_max = 100'000});
  }
  // A handshake in which the server offers these protections, and tokens up to 65536 bytes.
  void offer(std::uint8_t mask) {
    wire_.to_read = reply("yes") + reply("i<"s + static_cast<char>(mask) + "\x01\x00\x00>"s);
  }
  std::string connect_error(Transport& transport) {
    const Result<void> connected = run_task(transport.connect({"rs1", 1}));
    return connected ? "" : connected.error().message;
  }
  // What was sent after the handshake so far.
  Bytes take_sent() { return std::exchange(wire_.sent, {}); }
  static Bytes read_all(Transport& transport, std::size_t bytes) {
    Bytes all;
    while (all.size() < bytes) {
      Bytes part(5, '\0');
      const Result<std::size_t> got = run_task(transport.read_some(boost::asio::buffer(part)));
      if (!got) return all + " then: " + got.error().message;
      all += part.substr(0, *got);
    }
    return all;
  }

  Wire wire_;
  std::shared_ptr<TellingAuthenticator> authenticator_ = std::make_shared<TellingAuthenticator>();
};

// The empty frame is not left out: the server waits for it.
TEST_F(SaslTest, SendsThePreambleEveryTokenAndTheChoice) {
  offer(1);
  const auto sasl = transport();
  EXPECT_EQ(connect_error(*sasl), "");
  EXPECT_EQ(wire_.sent,
            "HBas\0\x51"s + framed("for rs1") + framed("") + framed("i<\x01\x00\x00\x00>"s));
}

TEST_F(SaslTest, GoesOnUntilBothSidesAreSatisfied) {
  wire_.to_read = reply("more") + reply("even more");
  const auto sasl = transport();
  EXPECT_EQ(connect_error(*sasl), "closed by the server");
  EXPECT_EQ(wire_.sent, "HBas\0\x51"s + framed("for rs1") + framed("again") + framed("again"));
}

TEST_F(SaslTest, WithoutProtectionBytesPassUnchanged) {
  offer(1);
  wire_.to_read += framed("an answer");
  const auto sasl = transport();
  ASSERT_EQ(connect_error(*sasl), "");
  take_sent();
  EXPECT_EQ(read_all(*sasl, 13), framed("an answer"));
  const Bytes request = "a request";
  EXPECT_TRUE(run_task(sasl->write({boost::asio::buffer(request)})));
  EXPECT_EQ(take_sent(), request);
}

TEST_F(SaslTest, TheStrongestCommonProtectionIsChosen) {
  const auto chosen = [this](std::uint8_t offered, std::uint8_t allowed) {
    offer(offered);
    const auto sasl = transport(allowed);
    EXPECT_EQ(connect_error(*sasl), "");
    const Bytes sent = take_sent();
    EXPECT_EQ(sent.substr(sent.size() - 4, 3),
              sent[sent.size() - 5] == 1 ? "\0\0\0"s : "\xff\xff\xff");
    return static_cast<int>(sent[sent.size() - 5]);
  };
  EXPECT_EQ(chosen(7, 7), 4);
  EXPECT_EQ(chosen(3, 7), 2);
  EXPECT_EQ(chosen(7, 3), 2);
  EXPECT_EQ(chosen(7, 1), 1);
  EXPECT_EQ(chosen(5, 3), 1);
}

TEST_F(SaslTest, SaysWhatIsOfferedAndWhatIsAllowed) {
  offer(4);
  const auto sasl = transport(3);
  EXPECT_EQ(connect_error(*sasl),
            "SASL: the server offers auth-conf (hbase.rpc.protection = privacy); hbase.protection "
            "allows auth (hbase.rpc.protection = authentication), auth-int (hbase.rpc.protection = "
            "integrity)");
}

TEST_F(SaslTest, WrapsAllBytesInBothDirections) {
  offer(4);
  // Tokens are cut as the server likes, and may be empty.
  wire_.to_read += framed("c<ab>") + framed("c<>") + framed("c<cdefghijklmnop>");
  const auto sasl = transport();
  ASSERT_EQ(connect_error(*sasl), "");
  take_sent();
  EXPECT_EQ(read_all(*sasl, 16), "abcdefghijklmnop");
  const Bytes one = "one";
  const Bytes two = "two";
  EXPECT_TRUE(run_task(sasl->write({boost::asio::buffer(one), boost::asio::buffer(two)})));
  EXPECT_EQ(take_sent(), framed("c<onetwo>"));
}

TEST_F(SaslTest, TokensHaveAtMostTheSizeThatTheServerTakes) {
  offer(2);
  const auto sasl = transport();
  ASSERT_EQ(connect_error(*sasl), "");
  take_sent();
  const Bytes much(200'000, 'm');
  EXPECT_TRUE(run_task(sasl->write({boost::asio::buffer(much)})));
  Bytes plain;
  const Bytes sent = take_sent();
  for (std::size_t at = 0; at < sent.size();) {
    const std::size_t length = load_be<std::uint32_t>(sent.data() + at);
    EXPECT_LE(length, 65'536U);
    plain += sent.substr(at + 6, length - 3);
    at += 4 + length;
  }
  EXPECT_EQ(plain, much);
}

TEST_F(SaslTest, ReadsATokenOfAnyLengthUpToTheLimit) {
  offer(2);
  const Bytes much(99'000, 'm');
  wire_.to_read += framed("i<" + much + ">") + framed("i<end>");
  wire_.to_read += u32(100'001);
  wire_.step_bytes = 10'000;
  const auto sasl = transport();
  ASSERT_EQ(connect_error(*sasl), "");
  EXPECT_EQ(read_all(*sasl, much.size() + 3), much + "end");
  EXPECT_THAT(read_all(*sasl, 1), HasSubstr("a token of 100001 bytes, 100000 are allowed"));
}

TEST_F(SaslTest, SaysThatTheServerDoesNotUseKerberos) {
  wire_.to_read = u32(0) + u32(static_cast<std::uint32_t>(-88));
  EXPECT_EQ(connect_error(*transport()),
            "SASL: the server does not use Kerberos: set hbase.authentication = simple");
}

TEST_F(SaslTest, PassesOnWhatTheServerSays) {
  wire_.to_read = refusal("javax.security.sasl.SaslException", "GSS initiate failed");
  EXPECT_THAT(connect_error(*transport()),
              HasSubstr("the server refuses javax.security.sasl.SaslException: GSS initiate "
                        "failed; its log has the reason"));
  // Also after the last token, where no answer is due.
  for (const std::uint8_t protection : {1, 4}) {
    offer(protection);
    wire_.to_read += refusal("IOException", "no rules applied");
    const auto sasl = transport();
    ASSERT_EQ(connect_error(*sasl), "");
    EXPECT_THAT(read_all(*sasl, 1), HasSubstr("IOException: no rules applied"));
  }
}

TEST_F(SaslTest, BytesThatAreNoHandshakeEndIt) {
  wire_.to_read = "HTTP/1.1 400 Bad Request";
  EXPECT_THAT(connect_error(*transport()), HasSubstr("SASL: status 1213486160"));
  wire_.to_read = u32(0) + u32(70'000);
  EXPECT_EQ(connect_error(*transport()), "SASL: a token of 70000 bytes");
  wire_.to_read = u32(1) + u32(70'000);
  EXPECT_EQ(connect_error(*transport()), "SASL: a text of 70000 bytes");
  wire_.to_read = reply("no");
  EXPECT_EQ(connect_error(*transport()), "it said no");
  wire_.to_read = reply("yes") + reply("i<123>");
  EXPECT_EQ(connect_error(*transport()), "SASL: an offer that is not 4 bytes long");
  wire_.to_read = reply("yes") + reply("i<\x04\x00\x00\x02>"s);
  EXPECT_EQ(connect_error(*transport()), "SASL: the server accepts no bytes");
}

TEST_F(SaslTest, SendsNothingWithoutATicket) {
  EXPECT_EQ(connect_error(*transport(kAnyProtection, "unknown")), "no ticket");
  EXPECT_EQ(wire_.sent, "");
}

TEST_F(SaslTest, ClosingEndsTheWaitForATicket) {
  const auto sasl = transport(kAnyProtection, "slow");
  const auto connect = [&]() -> Task<void> {
    boost::asio::post(co_await boost::asio::this_coro::executor, [&] {
      EXPECT_THAT(sasl->step(), HasSubstr("KDC"));
      sasl->close();
    });
    co_return co_await sasl->connect({"rs1", 1});
  };
  const Result<void> connected = run_task(connect());
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().message, "closed");
  EXPECT_TRUE(authenticator_->last->done.finished());
}

}  // namespace
}  // namespace halite::storage::hbase
