// That what is beneath stays as it was. What files.h promises besides: files_test.cc.
#include "storage/files/copy_on_write_files.h"

#include <map>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CopyOnWriteFiles : public testing::Test {
 protected:
  CopyOnWriteFiles() {
    EXPECT_TRUE(make_dirs(*posix_files(), path("d")));
    EXPECT_TRUE(write_whole(*posix_files(), path("d/one"), "one"));
    EXPECT_TRUE(write_whole(*posix_files(), path("d/two"), "twotwo"));
  }
  std::string path(const std::string& name) const { return temp_.path() + "/" + name; }
  std::string text(FileSystem& files, const std::string& name) const {
    auto bytes = read_whole(files, path(name), 1 << 20);
    return bytes ? *bytes : "error: " + bytes.error().message;
  }
  std::map<std::string, std::string> beneath() const {
    std::map<std::string, std::string> all;
    for (const std::string& name : posix_files()->list(path("d")).value()) {
      all[name] = text(*posix_files(), "d/" + name);
    }
    return all;
  }

  const test::TempDir temp_;
  const std::shared_ptr<FileSystem> files_ = copy_on_write_files(posix_files(), 1 << 20);
};

TEST_F(CopyOnWriteFiles, KeepAllChangesToThemselves) {
  const auto before = beneath();
  const auto one = files_->open(path("d/one"), OpenFile::kWrite).value();
  ASSERT_TRUE(one->pwrite(1, "N"));
  ASSERT_TRUE(one->append("!"));
  ASSERT_TRUE(one->sync());
  ASSERT_TRUE(files_->rename(path("d/two"), path("d/three")));
  ASSERT_TRUE(files_->link(path("d/three"), path("d/four")));
  ASSERT_TRUE(write_whole(*files_, path("d/five"), "5"));
  ASSERT_TRUE(files_->make_dir(path("d/dir")));
  ASSERT_TRUE(write_whole(*files_, path("d/dir/x"), "x"));
  ASSERT_TRUE(files_->sync_dir(path("d")));
  ASSERT_TRUE(files_->remove(path("d/three")));
  EXPECT_THAT(files_->list(path("d")).value(), ElementsAre("dir", "five", "four", "one"));
  EXPECT_EQ(text(*files_, "d/one"), "oNe!");
  EXPECT_EQ(text(*files_, "d/four"), "twotwo");
  EXPECT_EQ(text(*files_, "d/dir/x"), "x");
  EXPECT_EQ(files_->open(path("d/two"), OpenFile::kRead).error().code, Errc::kNotFound);
  EXPECT_EQ(beneath(), before);
}

TEST_F(CopyOnWriteFiles, WhatReplacesAFileIsNew) {
  const auto two = files_->open(path("d/two"), OpenFile::kReplace).value();
  EXPECT_EQ(two->size().value(), 0u);
  ASSERT_TRUE(two->append("2"));
  EXPECT_EQ(text(*files_, "d/two"), "2");
  EXPECT_EQ(text(*posix_files(), "d/two"), "twotwo");
  EXPECT_EQ(files_->open(path("d/one"), OpenFile::kCreate).error().code, Errc::kConflict);
}

TEST_F(CopyOnWriteFiles, HaveRoomForSoMuch) {
  const auto file = files_->open(path("d/new"), OpenFile::kCreate).value();
  ASSERT_TRUE(file->append(Bytes(1 << 20, 'x')));
  EXPECT_EQ(files_->disk_space(path("d")).value().free_bytes, 0u);
  EXPECT_EQ(files_->disk_space(path("d")).value().total_bytes, 1u << 20);
  const Result<void> more = file->append("y");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kOverloaded);
  EXPECT_THAT(more.error().message, HasSubstr("read_only_bytes_max"));
  const auto copy = files_->open(path("d/two"), OpenFile::kWrite);
  ASSERT_FALSE(copy);
  EXPECT_EQ(copy.error().code, Errc::kOverloaded);
  EXPECT_THAT(copy.error().message, HasSubstr("read_only_bytes_max"));
  ASSERT_TRUE(file->truncate(10));
  EXPECT_TRUE(file->append("y"));
  ASSERT_TRUE(files_->remove(path("d/new")));
  EXPECT_EQ(file->size().value(), 11u) << "who has it open keeps it";
}

}  // namespace
}  // namespace halite::storage
