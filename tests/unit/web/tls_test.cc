#include "web/connection/tls.h"

#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "common/tls/certificate_files.h"
#include "tests/support/temp_dir.h"

namespace halite::web {
namespace {

TEST(Tls, OfTwoFilesOneIsNotEnough) {
  TlsOptions options;
  options.certificate = "/nowhere/certificate.pem";
  const Result<void> no_key = Tls(options).load();
  ASSERT_FALSE(no_key);
  EXPECT_EQ(no_key.error().message, "tls.certificate is set and tls.key is not");
  options = {};
  options.key = "/nowhere/key.pem";
  const Result<void> no_certificate = Tls(options).load();
  ASSERT_FALSE(no_certificate);
  EXPECT_EQ(no_certificate.error().message, "tls.key is set and tls.certificate is not");
}

TEST(Tls, SaysWhichFileIsWrongAndWhatToDo) {
  const test::TempDir dir;
  TlsOptions options;
  options.certificate = dir.path() + "/certificate.pem";
  options.key = dir.path() + "/key.pem";
  const auto error = [&options] {
    const Result<void> checked = Tls(options).check();
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(error(), fmt::format("tls.certificate = {}: No such file or directory; correct the "
                                 "path, or create the file",
                                 options.certificate));
  std::ofstream(options.certificate) << "no certificate";
  EXPECT_THAT(error(), testing::StartsWith("tls.key = "));
  std::ofstream(options.key) << "no key";
  EXPECT_THAT(error(),
              testing::StartsWith(fmt::format("tls.certificate = {}: no certificate in PEM form, "
                                              "which begins with -----BEGIN CERTIFICATE-----",
                                              options.certificate)));
}

struct Dates {
  long begin = 0;  // seconds from now
  long end = 0;
};

std::string warning_of(Dates dates) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), dates.begin);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), dates.end);
  X509_set_pubkey(certificate.get(), key.get());
  EXPECT_NE(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  return date_warning(context.get(), {"tls.certificate", "server.pem"});
}

TEST(Tls, SaysThatACertificateExpires) {
  constexpr long kDay = 86'400;
  EXPECT_EQ(warning_of({.begin = -kDay, .end = 15 * kDay}), "");
  EXPECT_THAT(
      warning_of({.begin = -2 * kDay, .end = -kDay}),
      testing::MatchesRegex("tls.certificate = server.pem: the certificate expired: clients "
                            "refuse it since [-0-9]+ [:0-9]+ UTC"));
  EXPECT_THAT(warning_of({.begin = kDay, .end = 90 * kDay}), testing::HasSubstr("not valid yet"));
  EXPECT_THAT(warning_of({.begin = -kDay, .end = 13 * kDay}), testing::HasSubstr("expires soon"));
}

}  // namespace
}  // namespace halite::web
