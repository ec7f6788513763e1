#include "web/access/access_control.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/web/access/cheap_cost.h"

namespace halite::web {
namespace {

using test::run_task;

class AccessControlTest : public testing::Test {
 protected:
  AccessControlTest() {
    options_.file = dir_.path() + "/accounts.toml";
    options_.reload_ms = 10;
  }

  void write_file(const std::string& text, mode_t mode = 0600) {
    // A new file each time, as editors make them: the old one's time may be the same.
    std::ofstream(options_.file + ".new") << text;
    ASSERT_EQ(::chmod((options_.file + ".new").c_str(), mode), 0);
    std::filesystem::rename(options_.file + ".new", options_.file);
  }
  // Until it is read.
  void replace_file(AccessControl& access, const std::string& text) {
    const std::uint64_t before = access.version();
    write_file(text);
    EXPECT_TRUE(test::soon([&] { return access.version() != before; }));
  }
  static std::string user(const std::string& name, const std::string& password) {
    return fmt::format("[users.{}]\npassword = \"{}\"\nroles = \"read\"\n", name,
                       hash_password(password, kCheap).value());
  }
  std::unique_ptr<AccessControl> started() {
    auto access = std::make_unique<AccessControl>(options_, clock_, registry_);
    const Result<void> begun = access->start(false);
    EXPECT_TRUE(begun) << begun.error().message;
    return access;
  }
  static bool may_log_in(AccessControl& access, const std::string& name,
                         const std::string& password) {
    return run_task(access.caller(PasswordLogin{name, password}, "here")).has_value();
  }

  test::TempDir dir_;
  FakeClock clock_{1'700'000'000'000};
  prometheus::Registry registry_;
  AccessOptions options_;
};

TEST_F(AccessControlTest, ListensToOthersOnlyWhereThatIsSaid) {
  options_.file.clear();
  const auto start = [this](bool loopback) {
    AccessControl access(options_, clock_, registry_);
    const Result<void> begun = access.start(loopback);
    return begun ? access.anonymous().roles : Result<Roles>(std::unexpected(begun.error()));
  };
  EXPECT_EQ(start(true).value(), Roles::all());
  const Result<Roles> refused = start(false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("auth.anonymous"));
  options_.anonymous = "none";
  EXPECT_TRUE(start(false).value().empty());
  options_.anonymous = "read,write";
  EXPECT_TRUE(start(false).value().may(Role::kWrite));
  EXPECT_FALSE(start(true).value().may(Role::kAdmin));
  options_.anonymous = "everybody";
  EXPECT_FALSE(start(true));
}

TEST_F(AccessControlTest, WithAFileNobodyElseMayAnything) {
  write_file(user("alice", "geheim"));
  const auto access = started();
  EXPECT_TRUE(access->anonymous().roles.empty());
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  EXPECT_FALSE(may_log_in(*access, "alice", "Geheim"));
  EXPECT_FALSE(may_log_in(*access, "bob", "geheim"));
}

TEST_F(AccessControlTest, AChangedFileCountsAtOnceAlsoForWhomItKnew) {
  write_file(user("alice", "geheim"));
  const auto access = started();
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  replace_file(*access, user("alice", "neu"));
  EXPECT_FALSE(may_log_in(*access, "alice", "geheim"));
  EXPECT_TRUE(may_log_in(*access, "alice", "neu"));
  replace_file(*access, user("bob", "neu"));
  EXPECT_FALSE(may_log_in(*access, "alice", "neu"));
}

// That nothing of it counts however often it is read: tests/unit/common/file_reloader_test.cc.
TEST_F(AccessControlTest, AFileThatBreaksLeavesTheOneBefore) {
  write_file(user("alice", "geheim"));
  const auto access = started();
  write_file("[users");
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  std::filesystem::remove(options_.file);
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  replace_file(*access, user("bob", "neu"));
  EXPECT_FALSE(may_log_in(*access, "alice", "geheim"));
  EXPECT_TRUE(may_log_in(*access, "bob", "neu"));
}

TEST_F(AccessControlTest, AFileThatIsWrongAtTheStartIsAnError) {
  AccessControl missing(options_, clock_, registry_);
  EXPECT_EQ(missing.start(true).error().code, Errc::kInvalidArgument);
  write_file("[users.alice]\nroles = \"read\"\n");
  AccessControl broken(options_, clock_, registry_);
  EXPECT_EQ(broken.start(true).error().code, Errc::kInvalidArgument);
}

TEST_F(AccessControlTest, TooManyFailuresHoldAnAddressBack) {
  options_.failures_max = 3;
  write_file(user("alice", "geheim"));
  const auto access = started();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(may_log_in(*access, "alice", "wrong"));
  const auto held = run_task(access->caller(PasswordLogin{"alice", "geheim"}, "here"));
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().code, Errc::kOverloaded);
  EXPECT_TRUE(run_task(access->caller(PasswordLogin{"alice", "geheim"}, "elsewhere")));
  clock_.advance(options_.failures_ms);
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  EXPECT_EQ(test::metric_value(registry_, "halite_auth_total", {{"outcome", "held_back"}}), 1);
  EXPECT_EQ(test::metric_value(registry_, "halite_auth_total", {{"outcome", "unknown"}}), 3);
  EXPECT_EQ(test::metric_value(registry_, "halite_auth_total", {{"outcome", "known"}}), 2);
}

TEST_F(AccessControlTest, PasswordsWaitToALimit) {
  options_.passwords_waiting_max = 0;
  write_file(user("alice", "geheim"));
  const auto access = started();
  const auto login = run_task(access->caller(PasswordLogin{"alice", "geheim"}, "here"));
  ASSERT_FALSE(login);
  EXPECT_EQ(login.error().code, Errc::kOverloaded);
}

TEST_F(AccessControlTest, PasswordsThatFittedAreKeptForAWhileAndToALimit) {
  options_.logins_kept_max = 1;
  write_file(user("alice", "a") + user("bob", "b"));
  const auto access = started();
  const auto checked = [this] {
    return test::metric_value(registry_, "halite_auth_passwords_checked_total");
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(may_log_in(*access, "alice", "a"));
  EXPECT_EQ(checked(), 1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(may_log_in(*access, "bob", "b"));
  EXPECT_EQ(checked(), 4);  // no place for another
  clock_.advance(options_.logins_kept_ms);
  EXPECT_TRUE(may_log_in(*access, "bob", "b"));
  EXPECT_TRUE(may_log_in(*access, "bob", "b"));
  EXPECT_EQ(checked(), 5);
}

TEST_F(AccessControlTest, AFileWhoseRightsAreMendedIsReadAgain) {
  write_file(user("alice", "geheim"));
  const auto access = started();
  const std::uint64_t before = access->version();
  write_file(user("bob", "neu"), 0666);
  EXPECT_TRUE(may_log_in(*access, "alice", "geheim"));
  EXPECT_EQ(access->version(), before);
  ASSERT_EQ(::chmod(options_.file.c_str(), 0600), 0);
  EXPECT_TRUE(test::soon([&] { return access->version() != before; }));
  EXPECT_FALSE(may_log_in(*access, "alice", "geheim"));
}

}  // namespace
}  // namespace halite::web
