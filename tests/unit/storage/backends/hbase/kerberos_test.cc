#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/hbase/security/kerberos_credentials.h"
#include "storage/backends/hbase/security/kerberos_error.h"
#include "storage/backends/hbase/security/kerberos_login.h"
#include "tests/support/run_task.h"
#include "tests/support/temp_dir.h"

namespace halite::storage::hbase {
namespace {

using testing::HasSubstr;

TEST(Kerberos, NamesServersByTheirHost) {
  EXPECT_EQ(server_principal("hbase/_HOST", "RS1.Example.com", "R"), "hbase/rs1.example.com@R");
  EXPECT_EQ(server_principal("hbase/_HOST@OTHER", "rs1", "R"), "hbase/rs1@OTHER");
  EXPECT_EQ(server_principal("hbase/all@OTHER", "rs1", "R"), "hbase/all@OTHER");
}

TEST(Kerberos, PutsTheMachinesNameIntoItsPrincipal) {
  EXPECT_EQ(own_principal("halite@R"), "halite@R");
  const std::string own = own_principal("halite/_HOST@R");
  EXPECT_TRUE(own.starts_with("halite/") && own.ends_with("@R")) << own;
  EXPECT_EQ(own.find("_HOST"), std::string::npos);
}

TEST(Kerberos, SaysWhatIsWrongWithAKeytab) {
  const test::TempDir dir;
  KerberosOptions options;
  options.keytab = dir.path() + "/halite.keytab";
  const auto error = [&options] {
    const Result<void> checked = check_keytab(options);
    EXPECT_FALSE(checked);
    return checked ? Error() : checked.error();
  };
  EXPECT_EQ(error().code, Errc::kInvalidArgument);
  EXPECT_THAT(error().message, HasSubstr("hbase.keytab = " + options.keytab +
                                         ": No such file or directory; correct the path"));
  std::ofstream(options.keytab) << "no keytab";
  options.principal = "halite@R";
  EXPECT_EQ(error().code, Errc::kInvalidArgument);
  EXPECT_THAT(error().message, HasSubstr("hbase.keytab = " + options.keytab));
  std::ofstream(options.keytab) << "\x05\x02";  // a valid one without keys
  EXPECT_THAT(error().message, HasSubstr("klist -k shows the principals of a keytab"));
  options.principal = {};
  EXPECT_THAT(error().message, HasSubstr("klist -k shows the principals of a keytab"));
}

TEST(Kerberos, ErrorsSayWhatToLookAt) {
  EXPECT_EQ(kerberos_error("login", KRB5KRB_AP_ERR_SKEW, "Clock skew too great").message,
            "login: Clock skew too great; the clocks differ by more than 5 minutes: synchronise "
            "them (NTP)");
  EXPECT_EQ(kerberos_error("login", 1, "something else").message, "login: something else");
}

// Also who waits for it hears of the end.
TEST(Kerberos, ALoginThatFailsTellsAllThatWait) {
  const test::TempDir dir;
  KerberosOptions options;
  options.credentials_cache = "FILE:" + dir.path() + "/none";
  KerberosLogin login(options);
  for (const char* host : {"rs1", "rs2"}) {
    const Result<void> begun = test::run_task(login.begin(host)->done.wait());
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, Errc::kUnavailable);
    EXPECT_THAT(begun.error().message, HasSubstr("kinit"));
  }
}

}  // namespace
}  // namespace halite::storage::hbase
