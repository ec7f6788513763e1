#include "web/connection/tls.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace halite::web
