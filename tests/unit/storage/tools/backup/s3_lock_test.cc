// The lock of a repository in a bucket.
#include "storage/tools/backup/s3/s3_lock.h"

#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "storage/tools/backup/repository.h"
#include "storage/tools/backup/s3/s3_client.h"
#include "storage/tools/backup/s3/s3_store.h"
#include "tests/support/fake_s3.h"

namespace halite::storage::backup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr TimestampMs kStartMs = 1'700'000'000'000;
constexpr const char* kOther = "p/locks/0123456789abcdef";

class S3LockTest : public testing::Test {
 protected:
  S3Options options() {
    S3Options options = s3_.options("p");
    options.clock = clock_;
    return options;
  }
  std::unique_ptr<S3Client> client() { return S3Client::make(options()).value(); }
  void pass(std::int64_t ms) {
    clock_->advance(ms);
    s3_.set_now(clock_->now_ms());
  }

  test::FakeS3 s3_;
  const std::shared_ptr<FakeClock> clock_ = std::make_shared<FakeClock>(kStartMs);
  const std::unique_ptr<S3Client> client_ = client();
};

TEST_F(S3LockTest, IsRenewedAndGoes) {
  auto lock = lock_s3(*client_);
  ASSERT_TRUE(lock) << lock.error().message;
  for (int minutes = 0; minutes < 30; ++minutes) {
    pass(60'000);
    const Result<void> kept = (*lock)->keep();
    ASSERT_TRUE(kept) << kept.error().message;
  }
  EXPECT_EQ(lock_s3(*client_).error().code, Errc::kConflict);
  EXPECT_EQ(s3_.objects().size(), 1u);
  lock->reset();
  EXPECT_THAT(s3_.objects(), IsEmpty());
}

TEST_F(S3LockTest, OfAnotherMachineIsVoidAfterTenMinutes) {
  s3_.put(kOther, "boot\npid:[1]\n17\n4711\nfar-away\n");
  pass(600'000);
  const auto early = lock_s3(*client_);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::kConflict);
  EXPECT_THAT(early.error().message, HasSubstr("process 17 on far-away, seen 600 s ago"));
  EXPECT_EQ(s3_.objects().size(), 1u) << "its own is gone";
  pass(1'000);
  const auto lock = lock_s3(*client_);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_FALSE(s3_.objects().contains(kOther));
}

// The machine's clock says nothing about the age.
TEST_F(S3LockTest, GoesByTheServersClock) {
  s3_.put(kOther, "boot\npid:[1]\n17\n4711\nfar-away\n");
  clock_->advance(100'000'000);
  EXPECT_EQ(lock_s3(*client_).error().code, Errc::kConflict);
}

TEST_F(S3LockTest, OfAnEndedProcessIsVoid) {
  std::string own;
  {
    const auto lock = lock_s3(*client_);
    ASSERT_TRUE(lock);
    own = s3_.objects().begin()->second;
  }
  const std::string pid = fmt::format("\n{}\n", getpid());
  ASSERT_THAT(own, HasSubstr(pid));
  const auto of = [&](const std::string& other) {
    std::string text = own;
    return text.replace(text.find(pid), pid.size(), other);
  };
  s3_.put(kOther, of("\n4194399\n"));  // beyond the largest process id of Linux
  EXPECT_TRUE(lock_s3(*client_));
  EXPECT_THAT(s3_.objects(), IsEmpty());
  s3_.put(kOther, of("\n1\n"));  // another process has its id now
  EXPECT_TRUE(lock_s3(*client_));
  EXPECT_THAT(s3_.objects(), IsEmpty());
  s3_.put(kOther, own);
  EXPECT_EQ(lock_s3(*client_).error().code, Errc::kConflict);
  for (const char* const text : {"", "\n\n\n\n", "nonsense"}) {
    s3_.put(kOther, text);
    EXPECT_EQ(lock_s3(*client_).error().code, Errc::kConflict) << text;
  }
}

TEST_F(S3LockTest, TellsThatAnotherHasTakenIt) {
  auto lock = lock_s3(*client_);
  ASSERT_TRUE(lock);
  s3_.remove(s3_.objects().begin()->first);
  EXPECT_TRUE((*lock)->keep()) << "within a minute it does not look";
  pass(60'000);
  const Result<void> lost = (*lock)->keep();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::kConflict);
  EXPECT_THAT(s3_.objects(), IsEmpty());
}

TEST_F(S3LockTest, WithoutThePermissionToDeleteItIsMarked) {
  s3_.script([](const test::FakeS3Call& call) -> test::FakeS3Reaction {
    if (call.method == "DELETE") return {.status = 403, .code = "AccessDenied"};
    return {};
  });
  for (int times = 0; times < 3; ++times) {
    const auto lock = lock_s3(*client_);
    ASSERT_TRUE(lock) << lock.error().message;
  }
  EXPECT_THAT(s3_.objects(), ElementsAre(Pair(HasSubstr("p/locks/"), "released\n"),
                                         Pair(HasSubstr("p/locks/"), "released\n"),
                                         Pair(HasSubstr("p/locks/"), "released\n")));
}

// Who may not delete cannot take the lock away, only see that it is void.
TEST_F(S3LockTest, HasOneHolderAlsoWithoutThePermissionToDelete) {
  s3_.script([](const test::FakeS3Call& call) -> test::FakeS3Reaction {
    if (call.method == "DELETE") return {.status = 403, .code = "AccessDenied"};
    return {};
  });
  const auto first = lock_s3(*client_);
  ASSERT_TRUE(first) << first.error().message;
  pass(660'000);
  const auto second = lock_s3(*client_);
  ASSERT_TRUE(second) << second.error().message;
  const Result<void> lost = (*first)->keep();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Errc::kConflict);
  EXPECT_THAT(lost.error().message, HasSubstr("had not renewed its lock for 660 s"));
  EXPECT_TRUE((*second)->keep());
}

TEST_F(S3LockTest, ARenewalThatTakesTooLongLosesIt) {
  const auto lock = lock_s3(*client_);
  ASSERT_TRUE(lock) << lock.error().message;
  pass(60'000);
  s3_.script([this](const test::FakeS3Call& call) {
    if (call.method == "PUT") clock_->advance(540'000);
    return test::FakeS3Reaction();
  });
  EXPECT_EQ((*lock)->keep().error().code, Errc::kConflict);
}

TEST_F(S3LockTest, OtherObjectsStay) {
  const std::vector<std::string> others = {"p/locks/README", "p/locks/1", "p/locks/",
                                           "p/locks/0123456789ABCDEF", "p/locks/0123456789abcdef0"};
  for (const std::string& key : others) s3_.put(key, "released\n");
  pass(660'000);
  EXPECT_TRUE(lock_s3(*client_));
  EXPECT_EQ(s3_.objects().size(), others.size());
}

// A manifest whose contents another process may have removed is no backup.
TEST_F(S3LockTest, AManifestIsOnlyKeptUnderTheLock) {
  const auto store = S3Store::make(options()).value();
  const auto files = posix_files();
  const std::string name = manifest_name(kStartMs);
  {
    BackupRepository slow(*files, *store);
    ASSERT_TRUE(slow.open());
    s3_.script([this](const test::FakeS3Call& call) {
      if (call.method == "PUT") clock_->advance(660'000);
      return test::FakeS3Reaction();
    });
    const Result<void> written = slow.write(name, {});
    s3_.script({});
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::kConflict);
  }
  EXPECT_THAT(s3_.objects(), IsEmpty());

  BackupRepository robbed(*files, *store);
  ASSERT_TRUE(robbed.open());
  s3_.remove(s3_.objects().begin()->first);
  EXPECT_EQ(robbed.write(name, {}).error().code, Errc::kConflict);
  EXPECT_THAT(s3_.objects(), IsEmpty());

  BackupRepository alone(*files, *store);
  ASSERT_TRUE(alone.open());
  EXPECT_TRUE(alone.write(name, {}));
  EXPECT_TRUE(s3_.objects().contains("p/" + name));
}

// It is withdrawn also when the work is to end.
TEST_F(S3LockTest, AManifestThatIsNotConfirmedIsWithdrawn) {
  std::atomic<bool> ended = false;
  S3Options options = this->options();
  options.ended = [&ended] { return ended.load(); };
  const auto store = S3Store::make(options).value();
  const auto files = posix_files();
  BackupRepository contents(*files, *store);
  ASSERT_TRUE(contents.open());
  s3_.script([&ended](const test::FakeS3Call& call) -> test::FakeS3Reaction {
    if (call.method != "GET") return {};
    ended = true;
    return {.status = 503, .code = "SlowDown"};
  });
  EXPECT_EQ(contents.write(manifest_name(kStartMs), {}).error().code, Errc::kCancelled);
  EXPECT_EQ(s3_.objects().size(), 1u) << "the lock";
}

}  // namespace
}  // namespace halite::storage::backup
