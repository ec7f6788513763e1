#include "app/server/data_dir.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
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

TEST_F(DataDirTest, WhatCannotBeLookedIntoIsNotCalledEmpty) {
  std::filesystem::create_directories(path_);
  EXPECT_EQ(check_is_data_dir(path_.string()).error().code, Errc::kNotFound);
  std::filesystem::create_symlink("engine", path_ / "engine");
  const auto checked = check_is_data_dir(path_.string());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message,
            fmt::format("cannot look into {}: Too many levels of symbolic links", path_.string()));
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Whoever only looks leaves no trace: neither a lock's file where there was none, nor its number in
// one that is there.
TEST_F(DataDirTest, IsReadWithoutATrace) {
  std::filesystem::create_directories(path_ / "rocksdb");
  {
    const auto opened = DataDir::open_to_read(path_.string());
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_FALSE(std::filesystem::exists(path_ / "halite.lock"));
    EXPECT_TRUE(DataDir::open_to_read(path_.string())) << "it is shared";
  }
  std::ofstream(path_ / "halite.lock") << "12\n";
  const auto opened = DataDir::open_to_read(path_.string());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(contents(path_ / "halite.lock"), "12\n");
}

TEST_F(DataDirTest, IsNotReadWhileSomebodyWrites) {
  std::filesystem::create_directories(path_ / "engine");
  const auto writer = DataDir::open(path_.string());
  ASSERT_TRUE(writer);
  const auto reader = DataDir::open_to_read(path_.string(), ": wait");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Errc::kConflict);
  EXPECT_EQ(reader.error().message,
            fmt::format("the data directory {} is in use by a server (process {}) that writes "
                        "to it: wait",
                        path_.string(), ::getpid()));
  // A copy of the lock's file that nobody holds does not hide who writes.
  std::filesystem::remove(path_ / "halite.lock");
  EXPECT_EQ(DataDir::open_to_read(path_.string()).error().code, Errc::kConflict);
}

TEST_F(DataDirTest, IsNotWrittenWhileSomebodyReads) {
  std::filesystem::create_directories(path_ / "engine");
  for (const bool with_lock_file : {false, true}) {
    if (with_lock_file) std::ofstream(path_ / "halite.lock") << "12\n";
    const auto reader = DataDir::open_to_read(path_.string());
    ASSERT_TRUE(reader);
    const auto writer = DataDir::open(path_.string());
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().code, Errc::kConflict);
    EXPECT_NE(writer.error().message.find("another server, with --read-only, or by halite check"),
              std::string::npos)
        << writer.error().message;
  }
}

TEST_F(DataDirTest, IsNoneWhereNothingOfAServersIs) {
  std::filesystem::create_directory(path_);
  for (const char* const name : {"", "x"}) {
    if (*name != '\0') std::ofstream(path_ / name) << "x";
    const auto opened = DataDir::open_to_read(path_.string());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kNotFound);
    EXPECT_EQ(
        opened.error().message,
        fmt::format("{0} is not a Halite data directory (it has no {0}/rocksdb and no {0}/engine)",
                    path_.string()));
    EXPECT_FALSE(std::filesystem::exists(path_ / "halite.lock"));
  }
}

}  // namespace
}  // namespace halite::app
