#include "storage/files/fenced_files.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/faulty_files.h"

namespace halite::storage {
namespace {

class FencedFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = files_->open("/f", OpenFile::kCreate).value();
    EXPECT_TRUE(file_->append("text"));
  }

  void expect_reading_only() {
    faulty_->heal();
    Bytes text(4, '\0');
    EXPECT_EQ(file_->pread(0, text).value(), 4u);
    EXPECT_TRUE(files_->open("/f", OpenFile::kRead));
    EXPECT_EQ(file_->append("more").error().code, Errc::kUnavailable);
    EXPECT_FALSE(file_->sync()) << "it would say that all is well";
    EXPECT_FALSE(files_->remove("/f"));
    EXPECT_FALSE(files_->rename("/f", "/g"));
    EXPECT_FALSE(files_->link("/f", "/g"));
    EXPECT_FALSE(files_->sync_dir("/"));
    EXPECT_FALSE(files_->open("/g", OpenFile::kCreate));
    EXPECT_FALSE(files_->open("/f", OpenFile::kReplace));
    EXPECT_TRUE(fenced_files(faulty_)->remove("/f")) << "who begins anew may";
  }

  const std::shared_ptr<test::FaultyFiles> faulty_ = std::make_shared<test::FaultyFiles>(1);
  const std::shared_ptr<WriteFence> write_fence_ = std::make_shared<WriteFence>();
  const std::shared_ptr<FileSystem> files_ = fenced_files(faulty_, write_fence_);
  std::unique_ptr<File> file_;
};

TEST_F(FencedFilesTest, AFailedSyncEndsAllChanges) {
  faulty_->fail_sync_number(1);
  EXPECT_FALSE(file_->datasync());
  EXPECT_EQ(file_->append("more").error().message,
            "writing stopped because of an earlier error: /f: input/output error");
  expect_reading_only();
}

TEST_F(FencedFilesTest, ASyncThatFindsTheDiskFullIsAFailedOne) {
  faulty_->fail_syncs("", {Errc::kOverloaded, "no space left", {}});
  EXPECT_EQ(file_->sync().error().code, Errc::kUnavailable) << "no word of trying again";
  expect_reading_only();
}

TEST_F(FencedFilesTest, FrozenOnesOnlySeemToChange) {
  write_fence_->freeze();
  EXPECT_TRUE(file_->append("more"));
  EXPECT_TRUE(file_->sync());
  const auto made = files_->open("/g", OpenFile::kReplace);
  ASSERT_TRUE(made);
  EXPECT_TRUE((*made)->append("text"));
  EXPECT_TRUE(files_->rename("/f", "/h"));
  EXPECT_TRUE(files_->remove("/f"));
  EXPECT_TRUE(files_->sync_dir("/"));
  EXPECT_EQ(faulty_->list("/").value(), std::vector<std::string>{"f"});
  EXPECT_EQ(faulty_->size("/f").value(), 4u);
}

TEST_F(FencedFilesTest, AFailedWriteEndsAllChanges) {
  faulty_->fail_writes("", {Errc::kUnavailable, "input/output error", {}});
  EXPECT_FALSE(file_->append("more"));
  expect_reading_only();
}

TEST_F(FencedFilesTest, AFullDiskAndAMissingFileDoNot) {
  faulty_->set_capacity(5);
  EXPECT_EQ(file_->append("more").error().code, Errc::kOverloaded);
  faulty_->heal();
  EXPECT_EQ(files_->remove("/none").error().code, Errc::kNotFound);
  EXPECT_TRUE(file_->append("more"));
  EXPECT_TRUE(file_->sync());
}

}  // namespace
}  // namespace halite::storage
