// The faults themselves: a test that relies on one must not pass because there is none.
#include "tests/support/faulty_files.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::test {
namespace {

using storage::File;
using storage::FileKind;
using storage::OpenFile;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::size_t kSector = 512;

std::unique_ptr<File> made(FaultyFiles& files, const std::string& path) {
  auto file = files.open(path, OpenFile::kCreate);
  EXPECT_TRUE(file) << file.error().message;
  return *std::move(file);
}

Bytes text(FaultyFiles& files, const std::string& path) {
  auto bytes = read_whole(files, path, 1 << 20);
  return bytes ? *bytes : bytes.error().message;
}

TEST(FaultyFiles, KeepWhatWasSyncedWithItsDirectory) {
  FaultyFiles files(1);
  const auto file = made(files, "/f");
  ASSERT_TRUE(file->append("kept"));
  ASSERT_TRUE(file->datasync());
  ASSERT_TRUE(files.sync_dir("/"));
  files.crash();
  EXPECT_EQ(text(files, "/f"), "kept");
  EXPECT_EQ(file->append("x").error().code, Errc::kUnavailable) << "a dead handle";
}

TEST(FaultyFiles, MayLoseAFileWhoseDirectoryWasNotSynced) {
  std::set<FileKind> seen;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    FaultyFiles files(seed);
    ASSERT_TRUE(made(files, "/f")->datasync());
    files.crash();
    seen.insert(files.kind("/f").value());
  }
  EXPECT_THAT(seen, ElementsAre(FileKind::kNone, FileKind::kFile));
}

TEST(FaultyFiles, MayUndoARenameButNeverHalfOfIt) {
  std::set<std::string> seen;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    FaultyFiles files(seed);
    ASSERT_TRUE(write_whole(files, "/to", "old"));
    ASSERT_TRUE(write_whole(files, "/from", "new"));
    ASSERT_TRUE(files.rename("/from", "/to"));
    files.crash();
    const std::string names = files.list("/").value().size() == 2 ? "two " : "one ";
    seen.insert(names + text(files, "/to"));
  }
  EXPECT_THAT(seen, ElementsAre("one new", "two old"));
}

TEST(FaultyFiles, MayBringARemovedDirectoryBackButNothingInIt) {
  std::set<FileKind> seen;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    FaultyFiles files(seed);
    ASSERT_TRUE(files.make_dir("/d"));
    ASSERT_TRUE(files.sync_dir("/"));
    ASSERT_TRUE(write_whole(files, "/d/f", "x"));
    ASSERT_TRUE(files.remove("/d/f"));
    ASSERT_TRUE(files.remove_dir("/d"));
    files.crash();
    seen.insert(files.kind("/d").value());
    if (files.kind("/d").value() != FileKind::kDirectory) continue;
    EXPECT_THAT(files.list("/d").value(), IsEmpty());
    EXPECT_TRUE(files.remove_dir("/d"));
  }
  EXPECT_THAT(seen, UnorderedElementsAre(FileKind::kNone, FileKind::kDirectory));
}

TEST(FaultyFiles, TearUnsyncedWritesBetweenSectors) {
  std::set<std::string> seen;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    FaultyFiles files(seed);
    const auto file = made(files, "/f");
    ASSERT_TRUE(file->append(Bytes(2 * kSector, 'a')));
    ASSERT_TRUE(file->datasync());
    ASSERT_TRUE(files.sync_dir("/"));
    ASSERT_TRUE(file->pwrite(0, Bytes(2 * kSector, 'b')));
    files.crash();
    const Bytes after = text(files, "/f");
    ASSERT_EQ(after.size(), 2 * kSector);
    for (std::size_t i = 0; i < after.size(); ++i)
      ASSERT_EQ(after[i], after[i / kSector * kSector]);
    seen.insert({after[0], after[kSector]});
  }
  EXPECT_THAT(seen, ElementsAre("aa", "ab", "ba", "bb"));
}

TEST(FaultyFiles, NeverWriteWhatAFailedSyncLeft) {
  bool lost = false;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    FaultyFiles files(seed);
    const auto file = made(files, "/f");
    ASSERT_TRUE(files.sync_dir("/"));
    ASSERT_TRUE(file->append("x"));
    files.fail_sync_number(1);
    EXPECT_EQ(file->datasync().error().code, Errc::kUnavailable);
    EXPECT_EQ(text(files, "/f"), "x") << "it still shows";
    EXPECT_TRUE(file->datasync()) << "and the next sync says that all is well";
    files.crash();
    lost = lost || text(files, "/f") != "x";
  }
  EXPECT_TRUE(lost);
}

TEST(FaultyFiles, ForgetWhatWasCutOff) {
  FaultyFiles files(1);
  const auto file = made(files, "/f");
  ASSERT_TRUE(file->append(Bytes(4 * kSector, 'x')));
  ASSERT_TRUE(file->datasync());
  ASSERT_TRUE(files.sync_dir("/"));
  ASSERT_TRUE(file->truncate(kSector));
  ASSERT_TRUE(file->truncate(4 * kSector));
  ASSERT_TRUE(file->datasync());
  files.crash();
  EXPECT_EQ(text(files, "/f"), Bytes(kSector, 'x') + Bytes(3 * kSector, '\0'));
}

TEST(FaultyFiles, FillUp) {
  FaultyFiles files(1);
  const auto file = made(files, "/f");
  files.set_capacity(4);
  EXPECT_EQ(file->append("123456").error().code, Errc::kOverloaded);
  EXPECT_EQ(text(files, "/f"), "1234") << "as much as there was room for";
  EXPECT_EQ(files.disk_space("/").value().free_bytes, 0u);
  EXPECT_EQ(files.disk_space("/").value().total_bytes, 4u);
  EXPECT_TRUE(file->pwrite(0, "abcd")) << "what is there may be written again";
  files.heal();
  EXPECT_TRUE(file->append("5"));
}

TEST(FaultyFiles, FailByNameUntilHealed) {
  FaultyFiles files(1);
  const auto log = made(files, "/f.log");
  const auto other = made(files, "/f.sst");
  files.fail_writes(".log", {Errc::kUnavailable, "on fire", {}});
  EXPECT_EQ(log->append("x").error().message, "on fire");
  EXPECT_TRUE(other->append("x"));
  files.heal();
  EXPECT_TRUE(log->append("x"));
  files.fail_syncs_by_chance(1);
  EXPECT_FALSE(log->datasync());
}

TEST(FaultyFiles, CutThePowerAtTheChangeAskedFor) {
  FaultyFiles files(1);
  const auto file = made(files, "/f");
  files.cut_power_after(1);
  EXPECT_TRUE(file->append("x"));
  EXPECT_EQ(file->append("y").error().message, "no power");
  EXPECT_EQ(files.list("/").error().code, Errc::kUnavailable);
  EXPECT_FALSE(files.lock("/lock"));
  files.restore_power();
  EXPECT_TRUE(files.lock("/lock"));
  EXPECT_TRUE(files.list("/"));
}

}  // namespace
}  // namespace halite::test
