// TLS against a server in memory, with certificates made here.
#include "storage/backends/hbase/security/tls_transport.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage::hbase {
namespace {

using test::run_task;
using testing::HasSubstr;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

// A certificate and its key, in memory and as files NAME.pem and NAME.key.
class Identity {
 public:
  // Signed by itself, or by `signer`. `names`: "DNS:rs1" and so on.
  Identity(const std::string& dir, const std::string& name, const std::string& names,
           const Identity* signer)
      : certificate_(X509_new()),
        key_(EVP_EC_gen("P-256")),
        certificate_path(dir + "/" + name + ".pem"),
        key_path(dir + "/" + name + ".key") {
    static long serial = 0;
    X509* const made = certificate_.get();
    X509_set_version(made, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 3600);
    X509_set_pubkey(made, key_.get());
    X509_NAME* const subject = X509_get_subject_name(made);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    const Identity& issuer = signer == nullptr ? *this : *signer;
    X509_set_issuer_name(made, X509_get_subject_name(issuer.certificate_.get()));
    extend(NID_basic_constraints, signer == nullptr ? "critical,CA:TRUE" : "CA:FALSE");
    if (!names.empty()) extend(NID_subject_alt_name, names.c_str());
    X509_sign(made, issuer.key_.get(), EVP_sha256());
    std::FILE* file = std::fopen(certificate_path.c_str(), "w");
    PEM_write_X509(file, made);
    std::fclose(file);
    file = std::fopen(key_path.c_str(), "w");
    PEM_write_PrivateKey(file, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
  }

 private:
  void extend(int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(certificate_.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }

  std::unique_ptr<X509, FreeKey> certificate_;
  std::unique_ptr<EVP_PKEY, FreeKey> key_;

 public:
  const std::string certificate_path;
  const std::string key_path;
};

// A server that answers everything with its length, in memory.
class TlsPeer {
 public:
  TlsPeer(const Identity& identity, int version_max, const Identity* client_ca)
      : context_(SSL_CTX_new(TLS_server_method())) {
    SSL_CTX_use_certificate_chain_file(context_, identity.certificate_path.c_str());
    SSL_CTX_use_PrivateKey_file(context_, identity.key_path.c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_set_max_proto_version(context_, version_max);
    if (client_ca != nullptr) {
      SSL_CTX_load_verify_locations(context_, client_ca->certificate_path.c_str(), nullptr);
      SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_);
  }
  ~TlsPeer() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  TlsPeer(const TlsPeer&) = delete;

  void take(const char* bytes, std::size_t count) {
    BIO_write(SSL_get_rbio(ssl_), bytes, static_cast<int>(count));
    std::string part(20'000, '\0');
    for (;;) {
      ERR_clear_error();
      std::size_t got = 0;
      if (SSL_read_ex(ssl_, part.data(), part.size(), &got) != 1) return;
      heard.append(part, 0, got);
    }
  }
  std::size_t give(char* to, std::size_t count) {
    const int got = BIO_read(SSL_get_wbio(ssl_), to, static_cast<int>(count));
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  void say(const std::string& text) { SSL_write(ssl_, text.data(), static_cast<int>(text.size())); }
  void hang_up() { SSL_shutdown(ssl_); }

  std::string heard;

 private:
  SSL_CTX* context_;
  SSL* ssl_;
};

class PeerTransport final : public Transport {
 public:
  explicit PeerTransport(TlsPeer& peer) : peer_(peer) {}
  Task<void> connect(Endpoint) override { co_return Result<void>(); }
  Task<std::size_t> read_some(boost::asio::mutable_buffer into) override {
    const std::size_t got = peer_.give(static_cast<char*>(into.data()), into.size());
    if (got == 0) co_return fail(Errc::kUnavailable, "closed by the server");
    co_return got;
  }
  Task<void> write(std::vector<boost::asio::const_buffer> buffers) override {
    for (const auto& buffer : buffers) {
      peer_.take(static_cast<const char*>(buffer.data()), buffer.size());
    }
    co_return Result<void>();
  }
  void close() override {}
  [[nodiscard]] std::string step() const override { return "TCP"; }

 private:
  TlsPeer& peer_;
};

// A server that speaks something else.
class DumbTransport final : public Transport {
 public:
  explicit DumbTransport(std::string speech) : speech_(std::move(speech)) {}
  Task<void> connect(Endpoint) override { co_return Result<void>(); }
  Task<std::size_t> read_some(boost::asio::mutable_buffer into) override {
    const std::size_t bytes = std::min(into.size(), speech_.size());
    if (bytes == 0) co_return fail(Errc::kUnavailable, "closed by the server");
    std::copy_n(speech_.data(), bytes, static_cast<char*>(into.data()));
    speech_.erase(0, bytes);
    co_return bytes;
  }
  Task<void> write(std::vector<boost::asio::const_buffer>) override { co_return Result<void>(); }
  void close() override {}
  [[nodiscard]] std::string step() const override { return "TCP"; }

 private:
  std::string speech_;
};

class TlsTransportTest : public testing::Test {
 protected:
  std::unique_ptr<Transport> transport(const std::string& host = "rs1.example.com") {
    return tls_transport(std::make_unique<PeerTransport>(*peer_),
                         std::make_shared<TlsContext>(options_), host);
  }
  static std::string error_of(const Result<void>& outcome) {
    return outcome ? "" : outcome.error().message;
  }
  std::string connect_error(const std::string& host = "rs1.example.com") {
    return error_of(run_task(transport(host)->connect({"10.0.0.1", 1})));
  }
  // A fresh server.
  void serve(const Identity& identity, int version_max = TLS1_2_VERSION,
             const Identity* client_ca = nullptr) {
    peer_ = std::make_unique<TlsPeer>(identity, version_max, client_ca);
  }

  const test::TempDir dir_;
  const Identity ca_{dir_.path(), "ca", "", nullptr};
  const Identity other_ca_{dir_.path(), "other_ca", "", nullptr};
  const Identity server_{dir_.path(), "server", "DNS:rs1.example.com, DNS:rs2, IP:127.0.0.1", &ca_};
  const Identity client_{dir_.path(), "client", "", &ca_};
  TlsOptions options_ = trusting(ca_);
  std::unique_ptr<TlsPeer> peer_;

 private:
  static TlsOptions trusting(const Identity& ca) {
    TlsOptions options;
    options.enabled = true;
    options.ca = ca.certificate_path;
    return options;
  }
};

TEST_F(TlsTransportTest, PassesBytesInBothVersions) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    serve(server_, version);
    const auto tls = transport();
    EXPECT_EQ(error_of(run_task(tls->connect({"10.0.0.1", 1}))), "");
    const std::string small = "small";
    const std::string large(1'000'003, 'l');
    EXPECT_TRUE(run_task(tls->write(
        {boost::asio::buffer(small), boost::asio::buffer(large), boost::asio::buffer(small)})));
    EXPECT_EQ(peer_->heard, small + large + small);
    const std::string said(100'000, 's');
    peer_->say(said);
    std::string read;
    while (read.size() < said.size()) {
      std::string part(7'000, '\0');
      const Result<std::size_t> got = run_task(tls->read_some(boost::asio::buffer(part)));
      ASSERT_TRUE(got) << got.error().message;
      read += part.substr(0, *got);
    }
    EXPECT_EQ(read, said);
    peer_->hang_up();
    std::string part(10, '\0');
    EXPECT_EQ(run_task(tls->read_some(boost::asio::buffer(part))).error().message,
              "closed by the server");
  }
}

TEST_F(TlsTransportTest, TheCertificateMustNameTheServer) {
  serve(server_);
  EXPECT_EQ(connect_error("rs2"), "");
  serve(server_);
  EXPECT_EQ(connect_error("127.0.0.1"), "");
  serve(server_);
  EXPECT_EQ(connect_error("rs3"),
            "TLS: hbase:meta calls the server rs3, its certificate has rs1.example.com, rs2; "
            "correct the certificate, or set hbase.tls_verify_host = false");
  serve(server_);
  EXPECT_THAT(connect_error("127.0.0.2"), HasSubstr("calls the server 127.0.0.2"));
  options_.verify_host = false;
  serve(server_);
  EXPECT_EQ(connect_error("rs3"), "");
}

TEST_F(TlsTransportTest, TheCertificateMustBeTrusted) {
  options_.ca = other_ca_.certificate_path;
  serve(server_);
  EXPECT_THAT(connect_error(), HasSubstr("the server's certificate is not trusted: "));
  options_.verify_host = false;  // which changes nothing here
  serve(server_);
  EXPECT_THAT(connect_error(), HasSubstr("hbase.tls_ca must have the certificate that signed it"));
}

TEST_F(TlsTransportTest, ShowsItsCertificateIfItHasOne) {
  serve(server_, TLS1_2_VERSION, &ca_);
  EXPECT_THAT(connect_error(), HasSubstr("the server requires a client certificate"));
  // In TLS 1.3 the client's handshake has ended before.
  serve(server_, TLS1_3_VERSION, &ca_);
  const auto tls = transport();
  EXPECT_EQ(error_of(run_task(tls->connect({"10.0.0.1", 1}))), "");
  std::string part(10, '\0');
  const Result<std::size_t> read = run_task(tls->read_some(boost::asio::buffer(part)));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("the server requires a client certificate"));

  options_.certificate = client_.certificate_path;
  options_.key = client_.key_path;
  serve(server_, TLS1_2_VERSION, &ca_);
  EXPECT_EQ(connect_error(), "");
}

TEST_F(TlsTransportTest, SaysWhenTheServerSpeaksSomethingElse) {
  const auto error = [this](std::string speech) {
    const auto tls = tls_transport(std::make_unique<DumbTransport>(std::move(speech)),
                                   std::make_shared<TlsContext>(options_), "rs1");
    return error_of(run_task(tls->connect({"10.0.0.1", 1})));
  };
  using namespace std::string_literals;
  EXPECT_THAT(error("\0\0\0\x20 a fatal answer of HBase to a wrong preamble"s),
              HasSubstr("the server does not speak TLS: set hbase.tls = false"));
  EXPECT_EQ(error(""), "closed by the server");
}

TEST_F(TlsTransportTest, AWrongFileIsAnErrorAtFirstAndLaterAWarning) {
  options_.ca = dir_.path() + "/trusted.pem";
  EXPECT_THAT(TlsContext(options_).current().error().message,
              HasSubstr("hbase.tls_ca = " + options_.ca + ": No such file or directory"));
  std::ofstream(options_.ca) << "no certificate";
  EXPECT_THAT(TlsContext(options_).current().error().message,
              HasSubstr("no certificates in PEM form"));
  const auto copy = [this](const Identity& from) {
    std::ofstream(options_.ca) << std::ifstream(from.certificate_path).rdbuf();
  };
  copy(ca_);
  TlsContext context(options_);
  const auto first = context.current().value();
  EXPECT_EQ(context.current().value(), first);
  std::ofstream(options_.ca) << "no certificate any more";
  EXPECT_EQ(context.current().value(), first);
  copy(other_ca_);
  EXPECT_NE(context.current().value(), first);
}

}  // namespace
}  // namespace halite::storage::hbase
