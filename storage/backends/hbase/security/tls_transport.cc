#include "storage/backends/hbase/security/tls_transport.h"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "common/bytes/bytes.h"
#include "common/tls/certificate_files.h"

namespace halite::storage::hbase {
namespace {

using boost::asio::const_buffer;
using boost::asio::mutable_buffer;

constexpr std::size_t kRecordBytes = 16 << 10;         // of one TLS record
constexpr std::size_t kEncryptedBytesMax = 256 << 10;  // so much encrypted before it is written
constexpr std::size_t kReceiveBytes = 64 << 10;

bool is_address(const std::string& host) {
  boost::system::error_code no_address;
  boost::asio::ip::make_address(host, no_address);
  return !no_address;
}

// The names in a certificate, for an error message.
std::string names_in(const X509* certificate) {
  std::string names;
  auto* const found = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(found); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(found, i);
    if (name->type != GEN_DNS) continue;
    const auto* const text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
    names += names.empty() ? "" : ", ";
    names.append(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(found);
  return names.empty() ? "no host name" : names;
}

std::string_view advice(int reason) {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
      return "; the server does not speak TLS: set hbase.tls = false, or "
             "hbase.server.netty.tls.enabled in HBase";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "; the server needs TLS 1.2 or 1.3 (hbase.rpc.tls.enabledProtocols)";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "; the server requires a client certificate that it trusts "
             "(hbase.server.netty.tls.client.auth.mode): check hbase.tls_certificate and its "
             "truststore";
    default:
      return "";
  }
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(std::unique_ptr<Transport> under, std::shared_ptr<TlsContext> context,
               std::string host)
      : under_(std::move(under)), context_(std::move(context)), host_(std::move(host)) {}

  Task<void> connect(Endpoint to) override {
    CO_TRY_VOID(co_await under_->connect(std::move(to)));
    CO_TRY_VOID(prepare());
    shaking_hands_ = true;
    for (;;) {
      ERR_clear_error();
      const int done = SSL_do_handshake(ssl_.get());
      const int what = SSL_get_error(ssl_.get(), done);
      const Result<void> failed = done == 1 || what == SSL_ERROR_WANT_READ ? Result<void>() : why();
      const Result<void> sent = co_await flush();  // also what tells the server of the failure
      CO_TRY_VOID(failed);
      CO_TRY_VOID(sent);
      if (done == 1) break;
      CO_TRY_VOID(co_await receive());
    }
    shaking_hands_ = false;
    co_return Result<void>();
  }

  Task<std::size_t> read_some(mutable_buffer into) override {
    for (;;) {
      ERR_clear_error();
      std::size_t bytes = 0;
      if (SSL_read_ex(ssl_.get(), into.data(), into.size(), &bytes) == 1) co_return bytes;
      const int what = SSL_get_error(ssl_.get(), 0);
      if (what == SSL_ERROR_ZERO_RETURN) {
        co_return fail(Errc::kUnavailable, "closed by the server");
      }
      if (what != SSL_ERROR_WANT_READ) CO_TRY_VOID(why());
      CO_TRY_VOID(co_await receive());
    }
  }

  Task<void> write(std::vector<const_buffer> buffers) override {
    Bytes record;  // small buffers share records
    for (const const_buffer& buffer : buffers) {
      BytesView rest(static_cast<const char*>(buffer.data()), buffer.size());
      while (!rest.empty()) {
        const BytesView part = rest.substr(0, kRecordBytes - record.size());
        rest.remove_prefix(part.size());
        if (record.empty() && part.size() == kRecordBytes) {
          CO_TRY_VOID(encrypt(part));
        } else {
          record += part;
          if (record.size() < kRecordBytes) continue;
          CO_TRY_VOID(encrypt(record));
          record.clear();
        }
        if (BIO_ctrl_pending(outgoing_) >= kEncryptedBytesMax) CO_TRY_VOID(co_await flush());
      }
    }
    if (!record.empty()) CO_TRY_VOID(encrypt(record));
    co_return co_await flush();
  }

  void close() override { under_->close(); }

  [[nodiscard]] std::string step() const override {
    if (!shaking_hands_) return under_->step();
    return "the TLS handshake: does the server speak TLS?";
  }

 private:
  Result<void> prepare() {
    TRY(const std::shared_ptr<SSL_CTX> settings, context_->current());
    ssl_.reset(SSL_new(settings.get()));
    incoming_ = BIO_new(BIO_s_mem());
    outgoing_ = BIO_new(BIO_s_mem());
    if (ssl_ == nullptr || incoming_ == nullptr || outgoing_ == nullptr) {
      BIO_free(incoming_);
      BIO_free(outgoing_);
      return fail(Errc::kInternal, "TLS: out of memory");
    }
    SSL_set_bio(ssl_.get(), incoming_, outgoing_);  // owns them from now on
    SSL_set_connect_state(ssl_.get());
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, keep_names);
    received_.resize(kReceiveBytes);
    const bool address = is_address(host_);
    if (!address) SSL_set_tlsext_host_name(ssl_.get(), host_.c_str());
    if (!context_->options().verify_host) return {};
    X509_VERIFY_PARAM* const rules = SSL_get0_param(ssl_.get());
    const int set = address ? X509_VERIFY_PARAM_set1_ip_asc(rules, host_.c_str())
                            : X509_VERIFY_PARAM_set1_host(rules, host_.c_str(), 0);
    if (set != 1) return fail(Errc::kUnavailable, fmt::format("TLS: bad host name \"{}\"", host_));
    return {};
  }

  // OpenSSL forgets a certificate that it refuses; the error message needs its names.
  static int keep_names(int trusted, X509_STORE_CTX* check) {
    if (trusted == 1) return 1;
    const void* const ssl = X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx());
    auto* const self = static_cast<TlsTransport*>(SSL_get_app_data(static_cast<const SSL*>(ssl)));
    self->refused_names_ = names_in(X509_STORE_CTX_get0_cert(check));
    return 0;
  }

  // What OpenSSL has just failed at. Never succeeds.
  Result<void> why() {
    const auto verdict = SSL_get_verify_result(ssl_.get());
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
      return fail(
          Errc::kUnavailable,
          fmt::format("TLS: hbase:meta calls the server {}, its certificate has {}; correct "
                      "the certificate, or set hbase.tls_verify_host = false",
                      host_, refused_names_));
    }
    if (verdict != X509_V_OK) {
      return fail(Errc::kUnavailable,
                  fmt::format("TLS: the server's certificate is not trusted: {}; hbase.tls_ca must "
                              "have the certificate that signed it",
                              X509_verify_cert_error_string(verdict)));
    }
    const int reason = ERR_GET_REASON(ERR_peek_error());
    return fail(Errc::kUnavailable, fmt::format("TLS: {}{}", take_openssl_error(), advice(reason)));
  }

  Result<void> encrypt(BytesView bytes) {
    ERR_clear_error();
    std::size_t written = 0;
    if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written) == 1) return {};
    return why();
  }

  // Sends what OpenSSL has written.
  Task<void> flush() {
    Bytes bytes(BIO_ctrl_pending(outgoing_), '\0');
    if (bytes.empty()) co_return Result<void>();
    BIO_read(outgoing_, bytes.data(), static_cast<int>(bytes.size()));
    std::vector<const_buffer> buffers = {boost::asio::buffer(bytes)};
    Task<void> writing = under_->write(std::move(buffers));
    co_return co_await std::move(writing);
  }

  // Receives at least one byte for OpenSSL.
  Task<void> receive() {
    CO_TRY(const std::size_t got, co_await under_->read_some(boost::asio::buffer(received_)));
    BIO_write(incoming_, received_.data(), static_cast<int>(got));
    co_return Result<void>();
  }

  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  const std::unique_ptr<Transport> under_;
  const std::shared_ptr<TlsContext> context_;
  const std::string host_;
  std::unique_ptr<SSL, Free> ssl_;
  std::string refused_names_;  // of a certificate that was refused
  BIO* incoming_ = nullptr;    // owned by ssl_, like outgoing_
  BIO* outgoing_ = nullptr;
  Bytes received_;
  bool shaking_hands_ = false;
};

}  // namespace

std::unique_ptr<Transport> tls_transport(std::unique_ptr<Transport> under,
                                         std::shared_ptr<TlsContext> context, std::string host) {
  return std::make_unique<TlsTransport>(std::move(under), std::move(context), std::move(host));
}

}  // namespace halite::storage::hbase
