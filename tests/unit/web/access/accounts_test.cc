#include "web/access/accounts.h"

#include <sys/stat.h>

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace halite::web {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kHash = hash_password("geheim", {.log2_n = 4, .r = 8, .p = 1}).value();
const std::string kDigest(64, 'a');

std::string user_text(const std::string& name, const std::string& hash, const std::string& roles) {
  return fmt::format("[users.{}]\npassword = \"{}\"\nroles = \"{}\"\n", name, hash, roles);
}

std::string token_text(const std::string& digest, const std::string& roles,
                       const std::string& name = "agent") {
  return fmt::format("[tokens.{}]\nsha256 = \"{}\"\nroles = \"{}\"\n", name, digest, roles);
}

std::string error_of(const std::string& text) {
  const Result<Accounts> accounts = Accounts::parse(text, "file");
  return accounts ? "none" : accounts.error().message;
}

TEST(Accounts, AreReadFromToml) {
  const auto accounts =
      Accounts::parse(user_text("alice", kHash, "admin") + token_text(kDigest, "write"), "file");
  ASSERT_TRUE(accounts) << accounts.error().message;
  EXPECT_EQ(accounts->size(), 2U);
  ASSERT_NE(accounts->user("alice"), nullptr);
  EXPECT_EQ(accounts->user("alice")->account.roles, Roles::all());
  EXPECT_EQ(accounts->user("bob"), nullptr);
  EXPECT_EQ(accounts->of_token("x"), nullptr);
}

TEST(Accounts, WrongFilesSayWhereAndWhat) {
  EXPECT_THAT(error_of(user_text("alice", "geheim", "read")),
              AllOf(StartsWith("file:"), HasSubstr("halite auth user")));
  EXPECT_THAT(error_of(user_text("alice", kHash, "boss")), HasSubstr("unknown role \"boss\""));
  EXPECT_THAT(error_of(user_text("\"a:b\"", kHash, "read")), HasSubstr("must not contain \":\""));
  EXPECT_THAT(error_of(token_text("abc", "read")), HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(error_of(token_text(kDigest.substr(1) + "g", "read")),
              HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(error_of("[users.alice]\nroles = \"read\"\n"), HasSubstr("halite auth user"));
  EXPECT_THAT(error_of("[users.alice]\ncolour = \"red\"\n"), StartsWith("file:2: "));
  EXPECT_THAT(error_of("[users"), StartsWith("file:1: "));
  EXPECT_EQ(error_of(token_text(kDigest, "")),
            "file:3: the roles are empty; the roles are read, write, admin and none");
  EXPECT_EQ(error_of("[tokens.c]\nroles = [\"read\", \"write\"]\n"),
            "file:2: tokens.c.roles must be one text instead of a list, usually with commas: "
            "\"read,write\"");
}

TEST(Accounts, TablesWithoutAllKeysSayWhichIsMissing) {
  EXPECT_EQ(error_of("\n[users.a]\n"),
            "file:2: users.a: password is missing; `halite auth user` prints it");
  EXPECT_EQ(error_of(token_text(kDigest, "read") + "[tokens.c]\n"),
            "file:4: tokens.c: sha256 is missing; `halite auth token` prints it");
  EXPECT_EQ(error_of("[tokens.c]\nroles = \"read\"\n"),
            "file:1: tokens.c: sha256 is missing; `halite auth token` prints it");
  EXPECT_EQ(error_of("[tokens.c]\nsha256 = \"" + kDigest + "\"\n"),
            "file:1: tokens.c: roles is missing; it is one or more of read, write and admin, "
            "separated by commas, such as \"read,write\"");
  EXPECT_THAT(error_of("[groups]\n"), StartsWith("file:1: unknown key \"groups\""));
  EXPECT_EQ(error_of("[users]\n[tokens]\n"), "none");  // no accounts
}

TEST(Accounts, ATokenHasOneName) {
  EXPECT_EQ(
      error_of(token_text(kDigest, "read") + token_text(kDigest, "admin", "boss")),
      "file:5: tokens.agent and tokens.boss have the same sha256; keep one of the two tables");
  EXPECT_EQ(
      error_of(token_text(kDigest, "read") + token_text(std::string(64, 'b'), "admin", "boss")),
      "none");
}

TEST(Accounts, AFileThatOthersMayWriteIsNotTrusted) {
  const test::TempDir dir;
  const std::string path = dir.path() + "/accounts.toml";
  std::ofstream(path) << token_text(kDigest, "write");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_TRUE(Accounts::read(path));
  ASSERT_EQ(::chmod(path.c_str(), 0662), 0);
  const auto accounts = Accounts::read(path);
  ASSERT_FALSE(accounts);
  EXPECT_THAT(accounts.error().message, HasSubstr("chmod go-w"));
  EXPECT_EQ(Accounts::read(path + "x").error().code, Errc::kNotFound);
  ASSERT_EQ(::mkfifo((path + "pipe").c_str(), 0600), 0);
  EXPECT_EQ(Accounts::read(path + "pipe").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(Accounts::read(dir.path()).error().code, Errc::kInvalidArgument);
  std::ofstream(path + "empty").close();
  const auto nobody = Accounts::read(path + "empty");
  ASSERT_TRUE(nobody) << nobody.error().message;
  EXPECT_EQ(nobody->size(), 0U);
}

}  // namespace
}  // namespace halite::web
