// What every backup store promises: storage/tools/backup/backup_store.h.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/tools/backup/store_kinds.h"

namespace halite::storage::backup {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Bytes that differ from place to place.
Bytes bytes_of(std::size_t size) {
  Bytes bytes(size, '\0');
  for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<char>(at * 7 + at / 251);
  return bytes;
}

class StoreContract : public StoreKinds {
 protected:
  static void write(BackupStore& store, const std::string& name, const Bytes& bytes,
                    std::size_t piece = 300) {
    auto writer = store.create({.name = name, .bytes = bytes.size()});
    ASSERT_TRUE(writer) << writer.error().message;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      ASSERT_TRUE((*writer)->append(BytesView(bytes).substr(at, piece)));
    }
    const Result<void> done = (*writer)->finish();
    ASSERT_TRUE(done) << done.error().message;
  }

  static Result<Bytes> read(BackupStore& store, const StoredObject& object) {
    Bytes bytes;
    const auto take = [&bytes](BytesView more) {
      bytes += more;
      return Result<void>();
    };
    TRY_VOID(store.read(object, take));
    return bytes;
  }
};

HALITE_ALL_STORES(StoreContract);

TEST_P(StoreContract, GivesBackWhatWasWritten) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  // Around the sizes of parts and ranges: 1000 bytes.
  for (const std::size_t size : {0U, 1U, 999U, 1000U, 1001U, 1999U, 2000U, 2001U, 10'000U}) {
    for (const std::size_t piece : {300U, 1000U, 5000U}) {
      const Bytes bytes = bytes_of(size);
      write(*store, "files/x", bytes, piece);
      const auto again = read(*store, {.name = "files/x", .bytes = size});
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(*again, bytes);
      EXPECT_THAT(store->list("files").value(),
                  ElementsAre(StoredObject{.name = "files/x", .bytes = size}));
    }
  }
  EXPECT_EQ(s3_.uploads(), 0u);
}

TEST_P(StoreContract, ListsEachFolderByName) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  s3_.set_page(3);
  for (const char* const name : {"b.manifest", "a.manifest", "files/2", "files/1", "files/3",
                                 "files/5", "files/4", "files/7", "files/6"}) {
    write(*store, name, "abc");
  }
  const auto names = [&store](const std::string& folder) {
    std::vector<std::string> found;
    for (const StoredObject& object : store->list(folder).value()) {
      if (object.name != "lock") found.push_back(object.name);  // of directories
    }
    return found;
  };
  EXPECT_THAT(names("files"), ElementsAre("files/1", "files/2", "files/3", "files/4", "files/5",
                                          "files/6", "files/7"));
  EXPECT_THAT(names(""), ElementsAre("a.manifest", "b.manifest"));
  EXPECT_THAT(open("place2")->list("files").value_or(std::vector<StoredObject>()), IsEmpty());
}

TEST_P(StoreContract, AnUnfinishedObjectDoesNotExist) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  for (const std::size_t size : {10U, 5000U}) {
    auto writer = store->create({.name = "files/x", .bytes = size}).value();
    ASSERT_TRUE(writer->append(bytes_of(size)));
  }
  EXPECT_THAT(store->list("files").value(), IsEmpty());
  EXPECT_EQ(s3_.uploads(), 0u);
  ASSERT_TRUE(store->remove_unfinished());
  write(*store, "files/x", "abc");
  EXPECT_EQ(read(*store, {.name = "files/x", .bytes = 3}).value(), "abc");
}

TEST_P(StoreContract, ReplacesAndRemoves) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  write(*store, "files/x", bytes_of(2500));
  write(*store, "files/x", "abc");
  EXPECT_EQ(read(*store, {.name = "files/x", .bytes = 3}).value(), "abc");
  ASSERT_TRUE(store->remove("files/x"));
  EXPECT_THAT(store->list("files").value(), IsEmpty());
  const auto gone = read(*store, {.name = "files/x", .bytes = 3});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Errc::kNotFound);
}

TEST_P(StoreContract, TellsAnotherSize) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  write(*store, "files/x", bytes_of(2500));
  for (const std::uint64_t size : {0U, 1U, 1000U, 2499U, 2501U, 3500U, 100'000U}) {
    const auto other = read(*store, {.name = "files/x", .bytes = size});
    ASSERT_FALSE(other) << size;
    EXPECT_EQ(other.error().code, Errc::kCorruption) << other.error().message;
  }
}

TEST_P(StoreContract, OneWriterAtATime) {
  const auto store = open();
  auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  const auto other = open();
  const auto refused = other->lock();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kConflict);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("another backup is running in " + store->place()));
  EXPECT_TRUE((*lock)->keep());
  EXPECT_TRUE(open("elsewhere")->lock());
  (*lock).reset();
  EXPECT_TRUE(other->lock());
  EXPECT_TRUE(store->lock());
}

TEST_P(StoreContract, AnErrorOfTheReaderEndsIt) {
  const auto store = open();
  const auto lock = store->lock();
  ASSERT_TRUE(lock) << lock.error().message;
  write(*store, "files/x", bytes_of(5000));
  const auto stop = [](BytesView) -> Result<void> { return fail(Errc::kCancelled, "stopped"); };
  EXPECT_EQ(store->read({.name = "files/x", .bytes = 5000}, stop).error().code, Errc::kCancelled);
}

}  // namespace
}  // namespace halite::storage::backup
