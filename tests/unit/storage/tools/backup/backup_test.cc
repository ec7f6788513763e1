// Backups of directories, and back.
#include "storage/tools/backup/backup.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "storage/files/remove_tree.h"
#include "storage/tools/backup/content_hash.h"
#include "storage/tools/backup/directory_store.h"
#include "storage/tools/backup/repository.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"

namespace halite::storage::backup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr TimestampMs kNow = 1'700'000'000'000;

class BackupTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const dir : {"/data", "/data/engine", "/data/engine/log", "/data/rocksdb"}) {
      ASSERT_TRUE(files_->make_dir(dir));
    }
    write("engine/log/newest", "n");
    write("engine/log/lock", "");
    write("engine/log/spare-1", "old");
    write("rocksdb/CURRENT", "MANIFEST-000005\n");
    write("rocksdb/000012.sst.new", "half");
    write("rocksdb/MANIFEST-000005", Bytes(3'000'000, 'm'));
  }

  void write(const std::string& path, BytesView bytes) {
    ASSERT_TRUE(write_whole(*files_, "/data/" + path, bytes));
  }
  BackupResult backup(TimestampMs now) {
    const Result<BackupResult> made =
        make_backup({.files = files_, .progress = {}, .ended = {}}, "/data", kept_, now);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(BackupResult());
  }

  std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  DirectoryStore kept_ = DirectoryStore(*files_, "/kept");
};

TEST_F(BackupTest, KeepsWhatIsNeededAndCopiesWhatIsNew) {
  const BackupResult first = backup(kNow);
  EXPECT_EQ(first.files, 3u);
  EXPECT_EQ(first.bytes, 3'000'017u);
  EXPECT_EQ(first.bytes_copied, first.bytes);
  EXPECT_EQ(backup(kNow + 1).bytes_copied, 0u);
  write("engine/log/newest", "nn");
  EXPECT_EQ(backup(kNow + 2).bytes_copied, 2u);

  BackupRepository contents(*files_, kept_);
  EXPECT_EQ(contents.backups().value().size(), 3u);
}

TEST_F(BackupTest, TellsTablesThatRocksDbCannotRead) {
  write("rocksdb/000012.sst", "no table");
  EXPECT_THAT(backup(kNow).damaged, ElementsAre(HasSubstr("rocksdb/000012.sst")));
  // For as long as it is kept; one that is another one as that.
  EXPECT_THAT(backup(kNow + 1).damaged, ElementsAre(HasSubstr("rocksdb/000012.sst")));
  ASSERT_TRUE(write_whole(*files_, "/kept/" + manifest_name(kNow + 2), "{}"));
  EXPECT_THAT(backup(kNow + 3).damaged,
              ElementsAre(HasSubstr("manifest"), HasSubstr("rocksdb/000012.sst")));
  write("rocksdb/000012.sst", "no tablE");
  EXPECT_THAT(backup(kNow + 4).damaged,
              ElementsAre(HasSubstr("000012.sst"),
                          HasSubstr("differs from its copy in an earlier backup")));
  EXPECT_THAT(backup(kNow + 5).damaged,
              ElementsAre(HasSubstr("000012.sst"),
                          HasSubstr("differs from its copy in an earlier backup")));
}

TEST_F(BackupTest, KeepsAgainWhatIsCutOff) {
  backup(kNow);
  const ContentId newest{.hash = hash_of("n"), .bytes = 1};
  ASSERT_TRUE(write_whole(*files_, "/kept/files/" + newest.name(), ""));
  EXPECT_EQ(backup(kNow + 1).bytes_copied, 1u);
}

TEST_F(BackupTest, IsRefusedWhileAnotherIsMade) {
  DirectoryStore store(*files_, "/kept");
  BackupRepository other(*files_, store);
  ASSERT_TRUE(other.open());
  const Result<BackupResult> made =
      make_backup({.files = files_, .progress = {}, .ended = {}}, "/data", kept_, kNow);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kConflict);
  EXPECT_THAT(made.error().message, HasSubstr("another backup is running in /kept"));
}

// Also where one long file is copied, long after it was counted.
TEST_F(BackupTest, LooksWhetherItIsToEndWhileItCopies) {
  int looks = 0;
  backup(kNow);
  write("rocksdb/MANIFEST-000005", Bytes(8'000'000, 'x'));
  const auto ended = [&looks] { return ++looks > 14; };  // 8 are of reading, and 2 of small files
  const Result<BackupResult> made =
      make_backup({.files = files_, .progress = {}, .ended = ended}, "/data", kept_, kNow + 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kCancelled);
  const ContentId copied{.hash = hash_of(Bytes(8'000'000, 'x')), .bytes = 8'000'000};
  EXPECT_EQ(files_->kind("/kept/files/" + copied.name()).value(), FileKind::kNone);
}

TEST_F(BackupTest, WhatIsEndedLeavesNoBackup) {
  const Result<BackupResult> made = make_backup(
      {.files = files_, .progress = {}, .ended = [] { return true; }}, "/data", kept_, kNow);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kCancelled);
  EXPECT_TRUE(BackupRepository(*files_, kept_).backups().value().empty());
  EXPECT_EQ(backup(kNow).files, 3u);
}

// On a real disk, where directories can be renamed.
class RestoreTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(*files_, data_ + "/rocksdb"));
    ASSERT_TRUE(write_whole(*files_, data_ + "/rocksdb/CURRENT", "MANIFEST-000005\n"));
    ASSERT_TRUE(write_whole(*files_, data_ + "/rocksdb/MANIFEST-000005", Bytes(3'000'000, 'm')));
  }
  void backup(TimestampMs now) { ASSERT_TRUE(make_backup(work_, data_, store_, now)); }
  Result<BackupResult> restored(const std::string& name = "") {
    return restore(work_, store_, name, again_);
  }
  Bytes again(const std::string& path) {
    return read_whole(*files_, again_ + "/" + path, 1 << 24).value();
  }
  std::string content_of(const Bytes& bytes) {
    return kept_ + "/files/" + ContentId{.hash = hash_of(bytes), .bytes = bytes.size()}.name();
  }

  const test::TempDir dir_;
  const std::shared_ptr<FileSystem> files_ = posix_files();
  const BackupContext work_{.files = files_, .progress = {}, .ended = {}};
  const std::string data_ = dir_.path() + "/data";
  const std::string kept_ = dir_.path() + "/kept";
  const std::string again_ = dir_.path() + "/again";
  DirectoryStore store_ = DirectoryStore(*files_, kept_);
};

TEST_F(RestoreTest, GivesTheSameBytes) {
  backup(kNow);
  ASSERT_TRUE(write_whole(*files_, data_ + "/rocksdb/CURRENT", "MANIFEST-000006\n"));
  backup(kNow + 1);
  const Result<BackupResult> newest = restored();
  ASSERT_TRUE(newest) << newest.error().message;
  EXPECT_EQ(newest->backup, manifest_name(kNow + 1));
  EXPECT_EQ(again("rocksdb/CURRENT"), "MANIFEST-000006\n");
  EXPECT_EQ(again("rocksdb/MANIFEST-000005"), Bytes(3'000'000, 'm'));

  const Result<BackupResult> over = restored();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::kConflict);

  ASSERT_TRUE(remove_tree(*files_, again_));
  ASSERT_TRUE(restored(manifest_name(kNow)));
  EXPECT_EQ(again("rocksdb/CURRENT"), "MANIFEST-000005\n");
}

// An error leaves nothing behind that would stop the next try.
TEST_F(RestoreTest, RefusesABackupThatIsDamaged) {
  backup(kNow);
  const std::string current = content_of("MANIFEST-000005\n");
  const auto refused = [this](const char* what) {
    const Result<BackupResult> none = restored();
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::kCorruption);
    EXPECT_THAT(none.error().message, HasSubstr(what));
    EXPECT_EQ(files_->kind(again_).value(), FileKind::kNone);
    EXPECT_EQ(files_->kind(again_ + ".restoring").value(), FileKind::kNone);
  };
  ASSERT_TRUE(write_whole(*files_, current, "MANIFEST-000004\n"));
  refused("rocksdb/CURRENT");
  refused("the backup 2");
  refused("restore an earlier one with --backup NAME");
  ASSERT_TRUE(files_->remove(current));
  refused("missing");
  ASSERT_TRUE(write_whole(*files_, current, "MANIFEST-000005\n"));
  ASSERT_TRUE(restored());
  ASSERT_TRUE(remove_tree(*files_, again_));
  ASSERT_TRUE(write_whole(*files_, kept_ + "/" + manifest_name(kNow), "{}"));
  refused("choose another backup");
  refused((kept_ + "/" + manifest_name(kNow) + ": ").c_str());
}

TEST_F(RestoreTest, TellsWhatWasDamagedWhenItWasKept) {
  ASSERT_TRUE(write_whole(*files_, data_ + "/rocksdb/000012.sst", "no table"));
  backup(kNow);
  const Result<BackupResult> result = restored();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->damaged, ElementsAre(HasSubstr("rocksdb/000012.sst")));
  EXPECT_EQ(again("rocksdb/000012.sst"), "no table");
  ASSERT_TRUE(remove_tree(*files_, again_));
  ASSERT_TRUE(files_->remove(content_of("no table")));
  const Result<BackupResult> less = restored();
  ASSERT_TRUE(less) << less.error().message;
  EXPECT_THAT(less->damaged, ElementsAre(HasSubstr("footer"), HasSubstr("missing")));
  EXPECT_EQ(files_->kind(again_ + "/rocksdb/000012.sst").value(), FileKind::kNone);
}

TEST_F(RestoreTest, NeedsABackupThatIsThere) {
  ASSERT_TRUE(make_dirs(*files_, kept_));
  const Result<BackupResult> none = restored();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kNotFound);
  backup(kNow);
  EXPECT_FALSE(restored("yesterday"));
}

}  // namespace
}  // namespace halite::storage::backup
