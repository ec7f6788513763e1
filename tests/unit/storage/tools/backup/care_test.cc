// Backups in every kind of store: made, restored, listed, verified, pruned.
#include "storage/tools/backup/care.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/remove_tree.h"
#include "storage/tools/backup/backup.h"
#include "storage/tools/backup/content_hash.h"
#include "storage/tools/backup/manifest.h"
#include "tests/unit/storage/tools/backup/store_kinds.h"

namespace halite::storage::backup {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimestampMs kMadeMs = 1'700'000'000'000;

std::string content_name(const Bytes& bytes) {
  return "files/" + ContentId{.hash = hash_of(bytes), .bytes = bytes.size()}.name();
}

class CareTest : public StoreKinds {
 protected:
  void SetUp() override {
    store_ = open();
    ASSERT_TRUE(make_dirs(*files_, data_ + "/rocksdb"));
    write("rocksdb/CURRENT", "MANIFEST-000005\n");
    write("rocksdb/MANIFEST-000005", Bytes(30'000, 'm'));
    write("empty", "");
  }
  void write(const std::string& path, const Bytes& bytes) {
    ASSERT_TRUE(write_whole(*files_, data_ + "/" + path, bytes));
  }
  BackupResult backup(TimestampMs now) {
    const Result<BackupResult> made = make_backup(work_, data_, *store_, now);
    EXPECT_TRUE(made) << made.error().message;
    return made.value_or(BackupResult());
  }
  Bytes again(const std::string& path) {
    return read_whole(*files_, again_ + "/" + path, 1 << 24).value();
  }
  std::vector<std::string> contents() {
    std::vector<std::string> names;
    for (const StoredObject& object : store_->list("files").value()) names.push_back(object.name);
    return names;
  }

  const BackupContext work_{.files = files_, .progress = {}, .ended = {}};
  const std::string data_ = dir_.path() + "/data";
  const std::string again_ = dir_.path() + "/again";
  std::unique_ptr<BackupStore> store_;
};

HALITE_ALL_STORES(CareTest);

TEST_P(CareTest, EachContentIsStoredOnceAndComesBack) {
  EXPECT_EQ(backup(kMadeMs).bytes_copied, 30'016u);
  EXPECT_EQ(backup(kMadeMs + 1).bytes_copied, 0u);
  write("rocksdb/CURRENT", "MANIFEST-000006\n");
  write("twice", "MANIFEST-000006\n");
  EXPECT_EQ(backup(kMadeMs + 2).bytes_copied, 16u);
  const Result<BackupResult> restored = restore(work_, *store_, "", again_);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(again("rocksdb/CURRENT"), "MANIFEST-000006\n");
  EXPECT_EQ(again("twice"), "MANIFEST-000006\n");
  EXPECT_EQ(again("rocksdb/MANIFEST-000005"), Bytes(30'000, 'm'));
  EXPECT_EQ(again("empty"), "");
  ASSERT_TRUE(remove_tree(*files_, again_));
  ASSERT_TRUE(restore(work_, *store_, manifest_name(kMadeMs), again_));
  EXPECT_EQ(again("rocksdb/CURRENT"), "MANIFEST-000005\n");
}

TEST_P(CareTest, VerifyNamesWhatIsDamagedOrMissing) {
  backup(kMadeMs);
  EXPECT_THAT(verify_backup(work_, *store_, "").value().damaged, IsEmpty());
  damage(content_name("MANIFEST-000005\n"), "MANIFEST-000004\n");
  damage(content_name(Bytes(30'000, 'm')), Bytes(29'000, 'm'));
  ASSERT_TRUE(store_->remove(content_name("")));
  const Result<BackupResult> verified = verify_backup(work_, *store_, "");
  ASSERT_TRUE(verified) << verified.error().message;
  EXPECT_THAT(verified->damaged,
              ElementsAre(HasSubstr("missing"), HasSubstr("is damaged"), HasSubstr("29000")));
  const Result<BackupResult> refused = restore(work_, *store_, "", again_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kCorruption);
  // What was cut off or removed is written again by the next backup.
  EXPECT_EQ(backup(kMadeMs + 1).bytes_copied, 30'000u);
}

TEST_P(CareTest, ListsBackupsAndDamagedManifests) {
  EXPECT_FALSE(store_->place().empty());
  backup(kMadeMs);
  backup(kMadeMs + 1);
  damage(manifest_name(kMadeMs + 1), "{}");
  const auto listed = list_backups(work_, *store_);
  ASSERT_TRUE(listed) << listed.error().message;
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->at(0).files, 3u);
  EXPECT_EQ(listed->at(0).bytes, 30'016u);
  EXPECT_THAT(listed->at(1).error, HasSubstr("truncated"));
}

TEST_P(CareTest, PruneKeepsWhatKeptBackupsNeed) {
  backup(kMadeMs);
  write("rocksdb/CURRENT", "MANIFEST-000006\n");
  write("new", "new");
  backup(kMadeMs + 1);
  write("newer", "newer");
  ASSERT_TRUE(files_->remove(data_ + "/new"));
  backup(kMadeMs + 2);
  damage("files/not of Halite", "x");
  const Result<PruneResult> all = prune_backups(work_, *store_, 3);
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_THAT(all->removed, IsEmpty());
  EXPECT_EQ(all->files, 0u);

  const Result<PruneResult> pruned = prune_backups(work_, *store_, 1);
  ASSERT_TRUE(pruned) << pruned.error().message;
  EXPECT_THAT(pruned->removed, ElementsAre(manifest_name(kMadeMs), manifest_name(kMadeMs + 1)));
  EXPECT_EQ(pruned->kept, 1u);
  EXPECT_EQ(pruned->files, 2u);
  EXPECT_EQ(pruned->bytes, 19u);
  EXPECT_THAT(contents(), testing::Contains("files/not of Halite"));
  EXPECT_THAT(contents(), testing::Not(testing::Contains(content_name("new"))));
  EXPECT_THAT(verify_backup(work_, *store_, "").value().damaged, IsEmpty());
  ASSERT_TRUE(restore(work_, *store_, "", again_));
  EXPECT_EQ(again("newer"), "newer");
}

TEST_P(CareTest, PruneRemovesNothingIfAKeptManifestIsDamaged) {
  backup(kMadeMs);
  write("new", "new");
  backup(kMadeMs + 1);
  backup(kMadeMs + 2);
  damage(manifest_name(kMadeMs + 1), "{}");
  const auto before = contents();
  const Result<PruneResult> refused = prune_backups(work_, *store_, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kCorruption);
  EXPECT_THAT(refused.error().message, HasSubstr("nothing was removed"));
  EXPECT_EQ(contents(), before);
  EXPECT_EQ(list_backups(work_, *store_).value().size(), 3u);
  // It may be damaged where it is removed.
  EXPECT_TRUE(prune_backups(work_, *store_, 1));
  EXPECT_EQ(list_backups(work_, *store_).value().size(), 1u);
}

TEST_P(CareTest, AWrongPlaceIsNotFound) {
  const auto wrong = open("wrong");
  EXPECT_EQ(prune_backups(work_, *wrong, 1).error().code, Errc::kNotFound);
  EXPECT_EQ(verify_backup(work_, *wrong, "").error().code, Errc::kNotFound);
  EXPECT_EQ(files_->kind(dir_.path() + "/wrong").value(), FileKind::kNone);
  EXPECT_TRUE(s3_.objects().empty());
}

TEST_P(CareTest, PruneWaitsForNoBackup) {
  backup(kMadeMs);
  const auto other = open();
  const auto lock = other->lock();
  ASSERT_TRUE(lock);
  EXPECT_EQ(prune_backups(work_, *store_, 1).error().code, Errc::kConflict);
}

TEST_P(CareTest, WhatIsEndedLeavesNoBackupAndTheNextGoesOn) {
  for (const int end : {1, 2, 3, 5, 8, 13, 21}) {
    int looks = 0;
    const BackupContext work{
        .files = files_, .progress = {}, .ended = [&] { return ++looks > end; }};
    const Result<BackupResult> made = make_backup(work, data_, *store_, kMadeMs);
    if (made) break;
    EXPECT_EQ(made.error().code, Errc::kCancelled);
    EXPECT_THAT(list_backups(work_, *store_).value(), IsEmpty());
  }
  backup(kMadeMs + 1);
  EXPECT_THAT(verify_backup(work_, *store_, "").value().damaged, IsEmpty());
}

}  // namespace
}  // namespace halite::storage::backup
