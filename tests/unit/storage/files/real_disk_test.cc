#include "tests/support/real_disk.h"

#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"

namespace halite::test {
namespace {

using storage::File;
using storage::OpenFile;
using testing::ElementsAre;
using testing::IsEmpty;

// Each FaultyFiles is one life of a process that ends without a word.
class RealDiskTest : public testing::Test {
 protected:
  RealDiskTest() : dir_(temp_.path() + "/data") {}

  std::unique_ptr<FaultyFiles> life() {
    auto files = std::make_unique<FaultyFiles>(1);
    files->keep_on(std::make_shared<RealDisk>(dir_));
    return files;
  }

  std::unique_ptr<File> make(FaultyFiles& files, const std::string& name, const Bytes& text) {
    auto file = files.open(dir_ + "/" + name, OpenFile::kCreate).value();
    EXPECT_TRUE(file->append(text));
    return file;
  }

  void make_lasting(FaultyFiles& files, const std::string& name, const Bytes& text) {
    EXPECT_TRUE(make(files, name, text)->sync());
    EXPECT_TRUE(files.sync_dir(storage::dir_of(dir_ + "/" + name)));
  }

  std::string text(FaultyFiles& files, const std::string& name) {
    const auto bytes = storage::read_whole(files, dir_ + "/" + name, 1 << 20);
    return bytes ? *bytes : "none";
  }

  TempDir temp_;
  const std::string dir_;
};

TEST_F(RealDiskTest, WhatWasSyncedOutlivesTheProcess) {
  {
    const auto files = life();
    make_lasting(*files, "both", "whole");
    EXPECT_TRUE(make(*files, "no entry", "whole")->sync());
    const auto file = files->open(dir_ + "/both", OpenFile::kWrite).value();
    EXPECT_TRUE(file->append(" and more"));
  }
  const auto files = life();
  EXPECT_EQ(text(*files, "both"), "whole");
  EXPECT_THAT(files->list(dir_).value(), ElementsAre("both"));
  EXPECT_EQ(storage::read_whole(*storage::posix_files(), dir_ + "/both", 100).value(), "whole")
      << "it is an ordinary directory";
}

TEST_F(RealDiskTest, NamesChangeWhereTheirDirectoryIsSynced) {
  {
    const auto files = life();
    make_lasting(*files, "old", "1");
    make_lasting(*files, "gone", "2");
    make_lasting(*files, "stays", "3");
    EXPECT_TRUE(files->rename(dir_ + "/old", dir_ + "/new"));
    EXPECT_TRUE(files->remove(dir_ + "/gone"));
    EXPECT_TRUE(files->link(dir_ + "/new", dir_ + "/second"));
    EXPECT_TRUE(files->sync_dir(dir_));
    EXPECT_TRUE(files->remove(dir_ + "/stays"));
    EXPECT_TRUE(files->rename(dir_ + "/new", dir_ + "/newer"));
  }
  {
    const auto files = life();
    EXPECT_THAT(files->list(dir_).value(), ElementsAre("new", "second", "stays"));
    const auto file = files->open(dir_ + "/second", OpenFile::kWrite).value();
    EXPECT_TRUE(file->pwrite(0, "9"));
    EXPECT_TRUE(file->sync());
  }
  const auto files = life();
  EXPECT_EQ(text(*files, "new"), "9") << "two names of one file";
}

TEST_F(RealDiskTest, DirectoriesAndFilesInThem) {
  {
    const auto files = life();
    EXPECT_TRUE(storage::make_dirs(*files, dir_ + "/a/b"));
    make_lasting(*files, "a/b/f", "x");
    EXPECT_TRUE(storage::write_whole(*files, dir_ + "/a/b/f", "y"));
  }
  const auto files = life();
  EXPECT_EQ(text(*files, "a/b/f"), "y");
  EXPECT_THAT(files->list(dir_ + "/a/b").value(), ElementsAre("f"));
}

TEST_F(RealDiskTest, DirectoriesGoWithoutASyncOfWhatLeftThem) {
  {
    const auto files = life();
    EXPECT_TRUE(storage::make_dirs(*files, dir_ + "/a"));
    make_lasting(*files, "a/f", "x");
    EXPECT_TRUE(files->remove(dir_ + "/a/f"));
    EXPECT_TRUE(files->remove_dir(dir_ + "/a"));
    EXPECT_TRUE(files->sync_dir(dir_));
  }
  EXPECT_THAT(life()->list(dir_).value(), IsEmpty());
}

TEST_F(RealDiskTest, APowerCutLeavesAPartOfTheRest) {
  bool some = false;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::filesystem::remove_all(dir_);
    {
      FaultyFiles files(seed);
      files.keep_on(std::make_shared<RealDisk>(dir_));
      make_lasting(files, "f", "synced");
      const auto file = files.open(dir_ + "/f", OpenFile::kWrite).value();
      EXPECT_TRUE(file->append(Bytes(5000, 'x')));
      files.cut_power_for_good([] {});
      EXPECT_FALSE(file->append("more"));
    }
    const auto files = life();
    EXPECT_TRUE(text(*files, "f").starts_with("synced"));
    some = some || text(*files, "f").contains('x');
  }
  EXPECT_TRUE(some);
}

TEST_F(RealDiskTest, SyncsThatAreIgnoredLoseWhatTheyWereFor) {
  {
    const auto files = life();
    files->ignore_syncs("liar");
    make_lasting(*files, "liar", "text");
    make_lasting(*files, "honest", "text");
  }
  const auto files = life();
  EXPECT_EQ(text(*files, "liar"), "");
  EXPECT_EQ(text(*files, "honest"), "text");
}

}  // namespace
}  // namespace halite::test
