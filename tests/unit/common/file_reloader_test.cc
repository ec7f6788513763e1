#include "common/file_reloader.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>

#include <gtest/gtest.h>

#include "tests/support/soon.h"
#include "tests/support/temp_dir.h"

namespace halite {
namespace {

using test::soon;

constexpr std::chrono::milliseconds kPeriod(1);

class ReloadedTest : public testing::Test {
 protected:
  // A new file, so that its stamp differs however soon it comes.
  void change_file() {
    std::ofstream(path_ + ".new") << "x";
    std::filesystem::rename(path_ + ".new", path_);
  }
  Result<void> start(std::function<Result<std::shared_ptr<const int>>()> read) {
    return reloaded_.start({.paths = {path_},
                            .read = std::move(read),
                            .taken = [](const int& value) { return std::to_string(value); },
                            .refused = "it is not taken"},
                           kPeriod);
  }

  test::TempDir dir_;
  const std::string path_ = dir_.path() + "/file";
  std::atomic<int> readings_ = 0;
  FileReloader<const int> reloaded_;  // the last: its thread reads the others
};

TEST_F(ReloadedTest, NobodyWaitsForAReading) {
  std::latch disk_answers(1);
  ASSERT_TRUE(start([&]() -> Result<std::shared_ptr<const int>> {
    const int reading = ++readings_;
    if (reading == 2) disk_answers.wait();
    return std::make_shared<const int>(reading);
  }));
  const std::uint64_t before = reloaded_.version();
  change_file();
  ASSERT_TRUE(soon([&] { return readings_ == 2; }));
  EXPECT_EQ(*reloaded_.current(), 1);  // and not never
  EXPECT_EQ(reloaded_.version(), before);
  disk_answers.count_down();
  EXPECT_TRUE(soon([&] { return reloaded_.version() == before + 1; }));
  EXPECT_EQ(*reloaded_.current(), 2);
}

TEST_F(ReloadedTest, WhatCannotBeReadIsTriedAgainAndLeavesTheOneBefore) {
  std::atomic<bool> broken = false;
  ASSERT_TRUE(start([&]() -> Result<std::shared_ptr<const int>> {
    ++readings_;
    if (broken) return fail(Errc::kInvalidArgument, "broken");
    return std::make_shared<const int>(readings_);
  }));
  const std::uint64_t before = reloaded_.version();
  broken = true;
  change_file();
  ASSERT_TRUE(soon([&] { return readings_ >= 4; }));
  EXPECT_EQ(*reloaded_.current(), 1);
  EXPECT_EQ(reloaded_.version(), before);
  broken = false;  // the file is as it was
  EXPECT_TRUE(soon([&] { return reloaded_.version() == before + 1; }));
}

TEST_F(ReloadedTest, AFirstReadingThatFailsIsTheStartsError) {
  const Result<void> started = start(
      []() -> Result<std::shared_ptr<const int>> { return fail(Errc::kNotFound, "not there"); });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Errc::kNotFound);
  EXPECT_EQ(reloaded_.current(), nullptr);
}

}  // namespace
}  // namespace halite
