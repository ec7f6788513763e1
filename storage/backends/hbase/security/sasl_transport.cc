#include "storage/backends/hbase/security/sasl_transport.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/rpc/frame.h"
#include "storage/backends/hbase/rpc/security_options.h"

namespace halite::storage::hbase {
namespace {

using boost::asio::const_buffer;
using boost::asio::mutable_buffer;

constexpr std::uint32_t kSuccess = 0;
constexpr std::uint32_t kError = 1;
constexpr std::uint32_t kSwitchToSimple = static_cast<std::uint32_t>(-88);
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kHandshakeBytesMax = 64 << 10;  // of a token or text of the handshake
constexpr std::size_t kTextMax = 500;                 // of a server's message that is shown
// The longest token that we announce. HBase does not obey it: it wraps a whole answer at once.
constexpr std::uint32_t kAnnouncedBytes = 0xFFFFFF;
constexpr std::size_t kWrapBytesMax = 64 << 10;    // at most this into a token of ours
constexpr std::size_t kWriteBytesMax = 256 << 10;  // so much wrapped before it is written
constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kKeptBytesMax = 4 << 20;  // a longer buffer for tokens is freed

Bytes framed(BytesView token) {
  Bytes frame;
  append_be(frame, static_cast<std::uint32_t>(token.size()));
  frame += token;
  return frame;
}

std::unexpected<Error> broken(std::string_view why) {
  return fail(Errc::kUnavailable, fmt::format("SASL: {}", why));
}

class SaslTransport final : public Transport {
 public:
  SaslTransport(std::unique_ptr<Transport> under, SaslSetup setup)
      : under_(std::move(under)), setup_(std::move(setup)) {}

  Task<void> connect(Endpoint to) override {
    CO_TRY_VOID(co_await under_->connect(std::move(to)));
    if (closed_) co_return fail(Errc::kUnavailable, "closed");
    beginning_ = setup_.authenticator->begin(setup_.host);
    step_ = "a Kerberos ticket: does the KDC of /etc/krb5.conf answer?";
    CO_TRY_VOID(co_await beginning_->done.wait());
    context_ = std::move(beginning_->context);
    step_ = "the server's answer to the Kerberos handshake";
    const Bytes hello = preamble(Authentication::kKerberos) + framed(beginning_->token);
    CO_TRY_VOID(co_await send(hello));
    while (!context_->established()) {
      CO_TRY(const Bytes token, co_await read_reply());
      CO_TRY(const Bytes answer, context_->step(token));
      const Bytes frame = framed(answer);  // the server waits also for an empty one
      CO_TRY_VOID(co_await send(frame));
    }
    CO_TRY(const Bytes offer, co_await read_reply());
    CO_TRY(const Bytes choice, choose(offer));
    const Bytes frame = framed(choice);
    CO_TRY_VOID(co_await send(frame));
    if (protection_ != Protection::kAuthentication) received_.resize(kReadBytes);
    co_return Result<void>();
  }

  Task<std::size_t> read_some(mutable_buffer into) override {
    if (!heard_) CO_TRY_VOID(co_await read_first());
    while (plain_at_ == plain_.size()) {
      if (protection_ == Protection::kAuthentication) {
        co_return co_await under_->read_some(into);
      }
      CO_TRY_VOID(co_await read_token());
    }
    const std::size_t bytes = std::min(into.size(), plain_.size() - plain_at_);
    std::memcpy(into.data(), plain_.data() + plain_at_, bytes);
    plain_at_ += bytes;
    co_return bytes;
  }

  Task<void> write(std::vector<const_buffer> buffers) override {
    if (protection_ == Protection::kAuthentication) {
      co_return co_await under_->write(std::move(buffers));
    }
    Bytes plain;
    Bytes wrapped;
    for (const const_buffer& buffer : buffers) {
      BytesView rest(static_cast<const char*>(buffer.data()), buffer.size());
      while (!rest.empty()) {
        const BytesView part = rest.substr(0, wrap_bytes_ - plain.size());
        plain += part;
        rest.remove_prefix(part.size());
        if (plain.size() < wrap_bytes_) continue;
        CO_TRY_VOID(wrap(plain, wrapped));
        if (wrapped.size() < kWriteBytesMax) continue;
        CO_TRY_VOID(co_await send(wrapped));
        wrapped.clear();
      }
    }
    if (!plain.empty()) CO_TRY_VOID(wrap(plain, wrapped));
    if (wrapped.empty()) co_return Result<void>();
    co_return co_await send(wrapped);
  }

  void close() override {
    closed_ = true;
    if (beginning_ != nullptr) beginning_->done.finish(fail(Errc::kUnavailable, "closed"));
    under_->close();
  }

  [[nodiscard]] std::string step() const override {
    return step_ == nullptr ? under_->step() : step_;
  }

 private:
  // `bytes` must stay valid until the end.
  Task<void> send(BytesView bytes) {
    std::vector<const_buffer> buffers = {const_buffer(bytes.data(), bytes.size())};
    return under_->write(std::move(buffers));
  }

  Task<Bytes> read_exactly(std::size_t count) {
    Bytes bytes(count, '\0');
    std::size_t have = 0;
    while (have < count) {
      const mutable_buffer rest(bytes.data() + have, count - have);
      CO_TRY(const std::size_t got, co_await under_->read_some(rest));
      have += got;
    }
    co_return bytes;
  }

  Task<std::uint32_t> read_number() {
    CO_TRY(const Bytes bytes, co_await read_exactly(kLengthBytes));
    co_return load_be<std::uint32_t>(bytes.data());
  }

  Task<Bytes> read_text() {
    CO_TRY(const std::uint32_t length, co_await read_number());
    if (length > kHandshakeBytesMax) co_return broken(fmt::format("a text of {} bytes", length));
    co_return co_await read_exactly(length);
  }

  // An error of the server that follows its status. Never succeeds.
  Task<void> read_error() {
    CO_TRY(const Bytes name, co_await read_text());
    CO_TRY(const Bytes text, co_await read_text());
    co_return broken(fmt::format(
        "the server refuses {}: {}; its log has the reason, often a keytab that differs from the "
        "KDC's keys, a clock, or no rule in hadoop.security.auth_to_local",
        name, BytesView(text).substr(0, kTextMax)));
  }

  Task<Bytes> read_reply() {
    CO_TRY(const std::uint32_t status, co_await read_number());
    if (status == kError) CO_TRY_VOID(co_await read_error());
    if (status != kSuccess) {
      co_return broken(fmt::format("status {}: is this HBase, without TLS?", status));
    }
    CO_TRY(const std::uint32_t length, co_await read_number());
    if (length == kSwitchToSimple) {
      co_return broken("the server does not use Kerberos: set hbase.authentication = simple");
    }
    if (length > kHandshakeBytesMax) co_return broken(fmt::format("a token of {} bytes", length));
    co_return co_await read_exactly(length);
  }

  // The answer to the server's offer: one byte of protections, three of the longest token.
  Result<Bytes> choose(const Bytes& wrapped) {
    TRY(const Bytes offer, context_->unwrap(wrapped));
    if (offer.size() != kLengthBytes) return broken("an offer that is not 4 bytes long");
    const std::uint32_t fields = load_be<std::uint32_t>(offer.data());
    const std::uint8_t offered = static_cast<std::uint8_t>(fields >> 24) & kAnyProtection;
    const std::uint8_t common = offered & setup_.protections;
    if (common == 0) {
      return broken(fmt::format("the server offers {}; hbase.protection allows {}",
                                protections_text(offered), protections_text(setup_.protections)));
    }
    for (const Protection one :
         {Protection::kPrivacy, Protection::kIntegrity, Protection::kAuthentication}) {
      protection_ = one;
      if ((common & static_cast<std::uint8_t>(one)) != 0) break;
    }
    const bool plain = protection_ == Protection::kAuthentication;
    if (!plain) {
      wrap_bytes_ =
          std::min(kWrapBytesMax, context_->wrap_bytes_max(fields & 0xFFFFFF, encrypts()));
      if (wrap_bytes_ == 0) return broken("the server accepts no bytes");
    }
    Bytes choice;
    append_be(choice,
              (static_cast<std::uint32_t>(protection_) << 24) | (plain ? 0 : kAnnouncedBytes));
    return context_->wrap(choice, false);
  }

  [[nodiscard]] bool encrypts() const { return protection_ == Protection::kPrivacy; }

  // Moves the plain bytes into a token at the end of `wrapped`.
  Result<void> wrap(Bytes& plain, Bytes& wrapped) {
    TRY(const Bytes token, context_->wrap(plain, encrypts()));
    append_be(wrapped, static_cast<std::uint32_t>(token.size()));
    wrapped += token;
    plain.clear();
    return {};
  }

  // After the handshake a server says nothing, or that it refuses after all: a status, where the
  // length of an answer or of a token would be longer.
  Task<void> read_first() {
    CO_TRY(Bytes begin, co_await read_exactly(kLengthBytes));
    heard_ = true;
    if (load_be<std::uint32_t>(begin.data()) == kError) CO_TRY_VOID(co_await read_error());
    if (protection_ == Protection::kAuthentication) {
      plain_ = std::move(begin);
      co_return Result<void>();
    }
    std::memcpy(received_.data(), begin.data(), begin.size());
    have_ = begin.size();
    co_return Result<void>();
  }

  // Reads one token into plain_, and perhaps a part of the next one ahead.
  Task<void> read_token() {
    for (;;) {
      std::size_t wanted = kLengthBytes;
      if (have_ - at_ >= kLengthBytes) {
        const std::size_t length = load_be<std::uint32_t>(received_.data() + at_);
        if (length > setup_.token_bytes_max) {
          co_return broken(
              fmt::format("a token of {} bytes, {} are allowed", length, setup_.token_bytes_max));
        }
        wanted += length;
        if (have_ - at_ >= wanted) {
          CO_TRY(plain_, context_->unwrap(BytesView(received_).substr(at_ + kLengthBytes, length)));
          plain_at_ = 0;
          at_ += wanted;
          co_return Result<void>();
        }
      }
      make_room(wanted);
      const mutable_buffer rest(received_.data() + have_, received_.size() - have_);
      CO_TRY(const std::size_t got, co_await under_->read_some(rest));
      have_ += got;
    }
  }

  // So that a token of this size fits. After a long one the buffer shrinks again.
  void make_room(std::size_t bytes) {
    std::memmove(received_.data(), received_.data() + at_, have_ - at_);
    have_ -= at_;
    at_ = 0;
    const std::size_t size = std::max(bytes, kReadBytes);
    if (received_.size() < size) {
      received_.resize(size);
    } else if (received_.size() > kKeptBytesMax && have_ <= size) {
      received_.resize(size);
      received_.shrink_to_fit();
    }
  }

  const std::unique_ptr<Transport> under_;
  const SaslSetup setup_;
  std::shared_ptr<Beginning> beginning_;
  std::unique_ptr<SecurityContext> context_;
  Protection protection_ = Protection::kAuthentication;
  std::size_t wrap_bytes_ = 0;  // plain bytes in one token
  const char* step_ = nullptr;  // null: that of under_
  bool closed_ = false;

  bool heard_ = false;  // anything after the handshake
  Bytes received_;      // [at_, have_) is not yet unwrapped
  std::size_t at_ = 0;
  std::size_t have_ = 0;
  Bytes plain_;  // from plain_at_ on not yet read
  std::size_t plain_at_ = 0;
};

}  // namespace

std::string protections_text(std::uint8_t protections) {
  struct Words {
    Protection protection;
    std::string_view sasl;
    std::string_view hbase;
  };
  constexpr auto kWords = std::to_array<Words>({
      {Protection::kAuthentication, "auth", "authentication"},
      {Protection::kIntegrity, "auth-int", "integrity"},
      {Protection::kPrivacy, "auth-conf", "privacy"},
  });
  std::string text;
  for (const Words& words : kWords) {
    if ((protections & static_cast<std::uint8_t>(words.protection)) == 0) continue;
    text += fmt::format("{}{} (hbase.rpc.protection = {})", text.empty() ? "" : ", ", words.sasl,
                        words.hbase);
  }
  return text.empty() ? "nothing" : text;
}

std::unique_ptr<Transport> sasl_transport(std::unique_ptr<Transport> under, SaslSetup setup) {
  return std::make_unique<SaslTransport>(std::move(under), std::move(setup));
}

}  // namespace halite::storage::hbase
