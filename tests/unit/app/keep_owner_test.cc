#include "app/tools/keep_owner.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

constexpr uid_t kUser = 4242;

uid_t owner_of(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_uid;
}

std::pair<std::int64_t, std::int64_t> changed(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return {info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

TEST(KeepOwner, GivesWhatRootCreatedAndNothingElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const test::TempDir place;
  const std::string dir = place.path() + "/data";
  std::filesystem::create_directories(dir + "/engine");
  std::ofstream(dir + "/engine/other") << "x";
  ASSERT_EQ(::chown((dir + "/engine/other").c_str(), 7, 7), 0);
  std::ofstream(dir + "/before") << "x";
  ASSERT_EQ(::chown(dir.c_str(), kUser, kUser), 0);
  ASSERT_TRUE(test::soon([&] {  // the clock of file times has moved on
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return std::pair<std::int64_t, std::int64_t>(now.tv_sec, now.tv_nsec) >
           std::max(changed(dir + "/before"), changed(dir + "/engine"));
  }));
  const KeepOwner owner(dir);
  std::filesystem::create_directories(dir + "/set-aside/now");
  std::ofstream(dir + "/set-aside/now/000001.sst") << "x";
  std::ofstream(place.path() + "/outside") << "x";
  std::filesystem::create_hard_link(place.path() + "/outside", dir + "/second-name");
  std::filesystem::create_symlink(place.path() + "/outside", dir + "/link");
  const Result<void> given = owner.give();
  ASSERT_TRUE(given) << given.error().message;
  EXPECT_EQ(owner_of(dir + "/set-aside/now/000001.sst"), kUser);
  EXPECT_EQ(owner_of(dir + "/set-aside"), kUser);
  EXPECT_EQ(owner_of(dir + "/engine"), 0U);
  EXPECT_EQ(owner_of(dir + "/before"), 0U);
  EXPECT_EQ(owner_of(dir + "/engine/other"), 7U);
  EXPECT_EQ(owner_of(place.path() + "/outside"), 0U);
}

TEST(KeepOwner, GivesADirectoryThatWasReplaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const test::TempDir place;
  const std::string dir = place.path() + "/data";
  std::filesystem::create_directory(dir);
  ASSERT_EQ(::chown(dir.c_str(), kUser, kUser), 0);
  const KeepOwner owner(dir);
  std::filesystem::remove(dir);
  std::filesystem::create_directory(dir);
  ASSERT_TRUE(owner.give());
  EXPECT_EQ(owner_of(dir), kUser);
}

TEST(KeepOwner, LeavesADirectoryOfRootAndOneThatIsMissing) {
  const test::TempDir place;
  EXPECT_TRUE(KeepOwner(place.path()).give());
  EXPECT_TRUE(KeepOwner(place.path() + "/none").give());
}

}  // namespace
}  // namespace halite::app
