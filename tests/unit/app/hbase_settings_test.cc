#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/settings/options.h"

namespace halite::app {
namespace {

using testing::HasSubstr;

class HBaseSettingsTest : public testing::Test {
 protected:
  HBaseSettingsTest() {
    declare_settings(config_, options_);
    options_.store = StoreKind::kHBase;
  }
  void set(std::string_view name, std::string_view value) {
    ASSERT_TRUE(config_.apply_flag("--set", name, value));
  }
  std::string error() {
    const Result<void> resolved = resolve_options(options_);
    return resolved ? "" : resolved.error().message;
  }

  Options options_;
  Config config_;
};

TEST_F(HBaseSettingsTest, KerberosIsOffUntilItIsChosen) {
  EXPECT_EQ(error(), "");
  EXPECT_FALSE(options_.hbase.store.client.kerberos.enabled);
  set("hbase.authentication", "kerberos");
  EXPECT_EQ(error(), "");
  const storage::hbase::KerberosOptions& kerberos = options_.hbase.store.client.kerberos;
  EXPECT_TRUE(kerberos.enabled);
  EXPECT_EQ(kerberos.server_principal, "hbase/_HOST");
  EXPECT_EQ(kerberos.protections, storage::hbase::kAnyProtection);
}

TEST_F(HBaseSettingsTest, ProtectionsInBothLanguages) {
  const auto bits = [this](std::string_view text) {
    set("hbase.protection", text);
    EXPECT_EQ(error(), "") << text;
    return static_cast<int>(options_.hbase.store.client.kerberos.protections);
  };
  EXPECT_EQ(bits("auth"), 1);
  EXPECT_EQ(bits("auth-int, auth-conf"), 6);
  EXPECT_EQ(bits("authentication,integrity"), 3);
  EXPECT_EQ(bits("privacy"), 4);
  for (const std::string_view wrong : {"", "none", "auth,,auth-int", "auth;privacy"}) {
    set("hbase.protection", wrong);
    EXPECT_THAT(error(), HasSubstr("expected a comma-separated list of auth, auth-int, auth-conf"))
        << wrong;
  }
}

TEST_F(HBaseSettingsTest, SettingsThatExcludeOrRequireOthers) {
  set("hbase.keytab", "/etc/halite.keytab");
  EXPECT_EQ(error(), "hbase.keytab requires hbase.authentication = kerberos");
  set("hbase.authentication", "kerberos");
  EXPECT_EQ(error(), "");
  set("hbase.credentials_cache", "FILE:/run/halite.cc");
  EXPECT_EQ(error(), "hbase.keytab and hbase.credentials_cache exclude each other");
  set("hbase.credentials_cache", "");
  set("hbase.server_principal", "hbase");
  EXPECT_THAT(error(), HasSubstr("expected SERVICE/_HOST"));
  set("hbase.server_principal", "hbase/_HOST@R");
  set("hbase.tls_ca", "/etc/ca.pem");
  EXPECT_EQ(error(), "hbase.tls_ca and hbase.tls_certificate require hbase.tls = true");
  set("hbase.tls", "true");
  EXPECT_EQ(error(), "");
  set("hbase.tls_key", "/etc/key.pem");
  EXPECT_EQ(error(), "hbase.tls_certificate and hbase.tls_key belong together");
  set("hbase.tls_certificate", "/etc/certificate.pem");
  EXPECT_EQ(error(), "");
}

}  // namespace
}  // namespace halite::app
