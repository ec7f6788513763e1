#include "web/connection/tls.h"

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace halite::web
