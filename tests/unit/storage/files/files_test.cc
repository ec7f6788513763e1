// What storage/files/files.h promises, of the real files, of the faulty ones without faults, and of
// those that keep changes to themselves.
#include "storage/files/files.h"

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/copy_on_write_files.h"
#include "storage/files/posix_files.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Kind {
  std::string name;
  std::function<std::shared_ptr<FileSystem>()> make;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class Files : public testing::TestWithParam<Kind> {
 protected:
  Files() : files_(GetParam().make()), dir_(temp_.path() + "/a/b") {
    EXPECT_TRUE(make_dirs(*files_, dir_));
  }
  std::string path(const std::string& name) const { return dir_ + "/" + name; }
  std::unique_ptr<File> open(const std::string& name, OpenFile how) {
    auto file = files_->open(path(name), how);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *std::move(file) : nullptr;
  }
  void make(const std::string& name, BytesView text) {
    ASSERT_TRUE(write_whole(*files_, path(name), text));
  }
  Bytes text(const std::string& name) {
    auto bytes = read_whole(*files_, path(name), 1 << 20);
    return bytes ? *bytes : bytes.error().message;
  }

  test::TempDir temp_;
  std::shared_ptr<FileSystem> files_;
  std::string dir_;
};

TEST_P(Files, AreWrittenAnywhereAndReadAnywhere) {
  const auto file = open("f", OpenFile::kCreate);
  ASSERT_TRUE(file->pwrite(3, "def"));
  ASSERT_TRUE(file->append("gh"));
  ASSERT_TRUE(file->pwrite(4, "E"));
  EXPECT_EQ(text("f"), Bytes("\0\0\0dEfgh", 8));
  EXPECT_EQ(file->size().value(), 8u);
  Bytes got(4, '-');
  EXPECT_EQ(file->pread(6, got).value(), 2u);
  EXPECT_EQ(got, "gh--");
  EXPECT_EQ(file->pread(8, got).value(), 0u);
  EXPECT_EQ(file->pread(1000, got).value(), 0u);
  ASSERT_TRUE(file->truncate(4));
  ASSERT_TRUE(file->truncate(6));
  EXPECT_EQ(text("f"), Bytes("\0\0\0d\0\0", 6));
  ASSERT_TRUE(file->reserve(0, 4096));
  EXPECT_EQ(file->size().value(), 6u) << "reserved space is not content";
  ASSERT_TRUE(file->datasync());
  ASSERT_TRUE(file->sync());
  file->start_writeback(0, 6);
  file->expect(ReadPattern::kRandom);
  file->read_ahead(0, 6);
  EXPECT_EQ(files_->size(path("f")).value(), 6u);
}

TEST_P(Files, OpenAsAskedOrSayWhy) {
  EXPECT_EQ(files_->open(path("f"), OpenFile::kRead).error().code, Errc::kNotFound);
  EXPECT_EQ(files_->open(path("f"), OpenFile::kWrite).error().code, Errc::kNotFound);
  EXPECT_EQ(files_->open(dir_ + "/none/f", OpenFile::kCreate).error().code, Errc::kNotFound);
  ASSERT_TRUE(open("f", OpenFile::kCreate)->append("old"));
  EXPECT_EQ(files_->open(path("f"), OpenFile::kCreate).error().code, Errc::kConflict);
  EXPECT_EQ(text("f"), "old");
  ASSERT_TRUE(open("f", OpenFile::kWrite)->append("er"));
  EXPECT_EQ(text("f"), "older");
  ASSERT_TRUE(open("f", OpenFile::kReplace)->append("new"));
  EXPECT_EQ(text("f"), "new");
  EXPECT_THAT(files_->open(path("g"), OpenFile::kRead).error().message, HasSubstr("/g"));
}

TEST_P(Files, AreRenamedLinkedAndRemoved) {
  make("one", "1");
  make("two", "2");
  ASSERT_TRUE(files_->rename(path("one"), path("two")));
  EXPECT_EQ(text("two"), "1");
  EXPECT_EQ(files_->kind(path("one")).value(), FileKind::kNone);
  EXPECT_EQ(files_->rename(path("one"), path("x")).error().code, Errc::kNotFound);
  ASSERT_TRUE(files_->link(path("two"), path("three")));
  EXPECT_EQ(files_->link(path("two"), path("three")).error().code, Errc::kConflict);
  EXPECT_THAT(files_->list(dir_).value(), ElementsAre("three", "two"));
  const auto open_still = open("two", OpenFile::kRead);
  ASSERT_TRUE(files_->remove(path("two")));
  EXPECT_EQ(text("three"), "1");
  ASSERT_TRUE(files_->remove(path("three")));
  Bytes got(1, '-');
  EXPECT_EQ(open_still->pread(0, got).value(), 1u) << "an open file lives on";
  EXPECT_EQ(files_->remove(path("two")).error().code, Errc::kNotFound);
  EXPECT_THAT(files_->list(dir_).value(), ElementsAre());
}

TEST_P(Files, LieInDirectories) {
  ASSERT_TRUE(make_dirs(*files_, dir_)) << "twice is no error";
  EXPECT_EQ(files_->make_dir(dir_).error().code, Errc::kConflict);
  EXPECT_EQ(files_->kind(dir_).value(), FileKind::kDirectory);
  make("f", "");
  EXPECT_EQ(files_->kind(path("f")).value(), FileKind::kFile);
  EXPECT_EQ(files_->remove_dir(dir_).error().code, Errc::kConflict) << "not empty";
  ASSERT_TRUE(files_->remove(path("f")));
  ASSERT_TRUE(files_->sync_dir(dir_));
  ASSERT_TRUE(files_->remove_dir(dir_));
  EXPECT_EQ(files_->list(dir_).error().code, Errc::kNotFound);
  EXPECT_EQ(files_->sync_dir(dir_).error().code, Errc::kNotFound);
  const DiskSpace space = files_->disk_space(temp_.path() + "/a").value();
  EXPECT_GT(space.free_bytes, 0u);
  EXPECT_GE(space.total_bytes, space.free_bytes);
}

TEST_P(Files, LockOnceAtATime) {
  auto held = files_->lock(path("lock"));
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(files_->lock(path("lock")).error().code, Errc::kConflict);
  held->reset();
  EXPECT_TRUE(files_->lock(path("lock")));
}

TEST_P(Files, AreReadWholeUpToABound) {
  make("f", "12345");
  EXPECT_EQ(read_whole(*files_, path("f"), 5).value(), "12345");
  EXPECT_EQ(read_whole(*files_, path("f"), 4).error().code, Errc::kTooLarge);
  make("f", "6");
  EXPECT_EQ(text("f"), "6");
  EXPECT_THAT(files_->list(dir_).value(), ElementsAre("f")) << "nothing temporary stays";
}

// The faulty files know "/" and what is made in it; the test's directory is made in both.
std::shared_ptr<FileSystem> faultless() { return std::make_shared<test::FaultyFiles>(1); }

std::shared_ptr<FileSystem> over_the_real_ones() {
  return copy_on_write_files(posix_files(), 1 << 20);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Files,
                         testing::Values(Kind{"posix", posix_files}, Kind{"faulty", faultless},
                                         Kind{"copy_on_write", over_the_real_ones}),
                         [](const auto& kind) { return kind.param.name; });

TEST(FileNames, AreTakenApart) {
  EXPECT_EQ(dir_of("/a/b"), "/a");
  EXPECT_EQ(dir_of("/a"), "/");
  EXPECT_EQ(dir_of("a"), ".");
  EXPECT_EQ(name_of("/a/b"), "b");
  EXPECT_EQ(name_of("b"), "b");
}

}  // namespace
}  // namespace halite::storage
