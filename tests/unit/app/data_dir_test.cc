#include "app/data_dir.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace halite::app {
namespace {

class DataDirTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(path_); }
  void TearDown() override { std::filesystem::remove_all(path_); }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("halite-data-dir-{}", ::getpid());
};

TEST_F(DataDirTest, IsMadeWithItsParents) {
  const auto opened = DataDir::open((path_ / "a" / "b").string());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(path_ / "a" / "b"));
}

TEST_F(DataDirTest, BelongsToOneAtATime) {
  auto first = DataDir::open(path_.string());
  ASSERT_TRUE(first);
  const auto second = DataDir::open(path_.string());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kConflict);
  EXPECT_EQ(second.error().message,
            fmt::format("the data directory {} is in use by another server (process {})",
                        path_.string(), ::getpid()));
  first->reset();
  EXPECT_TRUE(DataDir::open(path_.string()));
}

TEST_F(DataDirTest, AFileInItsPlaceIsAnError) {
  std::ofstream(path_) << "x";
  const auto opened = DataDir::open(path_.string());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kUnavailable);
}

}  // namespace
}  // namespace halite::app
