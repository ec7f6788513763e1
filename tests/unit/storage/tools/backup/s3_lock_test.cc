// The lock of a repository in a bucket.
#include "storage/tools/backup/s3/s3_lock.h"

#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/tools/backup/s3/s3_client.h"
#include "tests/support/fake_s3.h"

namespace halite::storage::backup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr TimestampMs kStartMs = 1'700'000'000'000;

class S3LockTest : public testing::Test {
 protected:
  std::unique_ptr<S3Client> client() {
    S3Options options = s3_.options("p");
    options.clock = clock_;
    return S3Client::make(options).value();
  }
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
  s3_.put("p/locks/1", "boot\npid:[1]\n17\n4711\nfar-away\n");
  pass(600'000);
  const auto early = lock_s3(*client_);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Errc::kConflict);
  EXPECT_THAT(early.error().message, HasSubstr("process 17 on far-away, seen 600 s ago"));
  EXPECT_EQ(s3_.objects().size(), 1u) << "its own is gone";
  pass(1'000);
  const auto lock = lock_s3(*client_);
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_FALSE(s3_.objects().contains("p/locks/1"));
}

// The machine's clock says nothing about the age.
TEST_F(S3LockTest, GoesByTheServersClock) {
  s3_.put("p/locks/1", "boot\npid:[1]\n17\n4711\nfar-away\n");
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
  s3_.put("p/locks/1", of("\n4194399\n"));  // beyond the largest process id of Linux
  EXPECT_TRUE(lock_s3(*client_));
  EXPECT_THAT(s3_.objects(), IsEmpty());
  s3_.put("p/locks/1", of("\n1\n"));  // another process has its id now
  EXPECT_TRUE(lock_s3(*client_));
  EXPECT_THAT(s3_.objects(), IsEmpty());
  s3_.put("p/locks/1", own);
  EXPECT_EQ(lock_s3(*client_).error().code, Errc::kConflict);
  for (const char* const text : {"", "\n\n\n\n", "nonsense"}) {
    s3_.put("p/locks/1", text);
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

}  // namespace
}  // namespace halite::storage::backup
