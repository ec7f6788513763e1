#include "storage/tsdb/chunk_db/chunk_db.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/faulty_files.h"
#include "tests/support/soon.h"

namespace halite::storage::engine {
namespace {

class ChunkDbTest : public testing::Test {
 protected:
  void SetUp() override {
    EXPECT_TRUE(make_dirs(*files_, "/data"));
    ChunkDbOptions options;
    options.dir = "/data/chunks";
    options.files = files_;
    options.open_files_max = kOpenFilesMax;
    auto opened = ChunkDb::open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    chunks_ = std::move(*opened);
  }
  void TearDown() override { EXPECT_TRUE(chunks_->close()); }

  // Keys <begin>0000 to <begin>0999, in a file of their own.
  void flush(const std::string& begin) { ASSERT_TRUE(try_to_flush(begin)); }
  Result<void> try_to_flush(const std::string& begin) {
    TRY(auto file, chunks_->files.new_file());
    for (int i = 0; i < 1000; ++i) {
      Bytes value(100, '\0');  // of any bytes, so that files keep their size
      for (char& byte : value) byte = static_cast<char>(random_());
      TRY_VOID(file->put(fmt::format("{}{:04}", begin, i), value));
    }
    std::vector<std::unique_ptr<ChunkFile>> files;
    files.push_back(std::move(file));
    mark_.flush_number += 2;
    return chunks_->files.ingest(std::move(files), mark_, {});
  }

  // RocksDB removes the files that a flush leaves over some time after it, and tells nobody.
  std::uint64_t settled_bytes() {
    std::uint64_t bytes = files_->used_bytes();
    int same = 0;
    EXPECT_TRUE(test::soon([&] {
      const std::uint64_t now = files_->used_bytes();
      same = now == bytes ? same + 1 : 0;
      bytes = now;
      return same == 25;
    }));
    return bytes;
  }
  std::uint64_t bytes_of_a_flush() {
    flush("a");
    const std::uint64_t before = settled_bytes();
    flush("b");
    return settled_bytes() - before;
  }

  static int count(ChunkViews::View& view) {
    int keys = 0;
    for (view.cursor->seek("a"); view.cursor->valid(); view.cursor->next()) ++keys;
    EXPECT_TRUE(view.cursor->status());
    return keys;
  }

  static constexpr int kOpenFilesMax = 50;
  static constexpr ShardSlot kPlace = {.shard = 'a', .slot = 0x61616161};  // of keys "aaaaa..."
  const std::shared_ptr<test::FaultyFiles> files_ = std::make_shared<test::FaultyFiles>(1);
  std::unique_ptr<ChunkDb> chunks_;
  FlushMark mark_;
  std::mt19937 random_;
};

// A view reads most of its files long after it was made.
TEST_F(ChunkDbTest, ViewsSeeWhatIsDroppedLaterAndNotWhatWasDroppedBefore) {
  for (const char* shard : {"a", "b", "c"}) flush(shard);
  ChunkViews::View before = chunks_->views.view("a", "z").value();
  for (const char shard : {'a', 'b', 'c'}) {
    ASSERT_TRUE(chunks_->files.drop(fmt::format("{}0100", shard), fmt::format("{}0900", shard)));
  }
  ChunkViews::View after = chunks_->views.view("a", "z").value();
  EXPECT_EQ(count(after), 600);
  EXPECT_EQ(count(before), 3000);
}

// Whatever was being written when there was no room any more: the list of files is written last.
TEST_F(ChunkDbTest, TakesFilesAgainOnceThereIsRoom) {
  const std::uint64_t needed = bytes_of_a_flush();
  int failed = 0;
  for (std::uint64_t missing = 1; missing < 400; missing += 20) {
    SCOPED_TRACE(missing);
    files_->set_capacity(settled_bytes() + needed - missing);
    if (!try_to_flush("c")) ++failed;
    files_->heal();
    Result<void> outcome = try_to_flush("d");
    for (int i = 0; i < 1000 && !outcome; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      outcome = try_to_flush("d");
    }
    ASSERT_TRUE(outcome) << outcome.error().message;
  }
  EXPECT_GT(failed, 10);  // not each: RocksDB makes room meanwhile
}

// RocksDB tries again meanwhile.
TEST_F(ChunkDbTest, IsClosedWhileThereIsNoRoom) {
  const std::uint64_t needed = bytes_of_a_flush();
  files_->set_capacity(settled_bytes() + needed - 150);  // less than the list of files wants
  EXPECT_FALSE(try_to_flush("c"));
  std::ignore = chunks_->close();
  files_->heal();
}

// Keys of series with many tags and wide uids, which are alike for long.
TEST_F(ChunkDbTest, WhatLiesBehindDamageIsFoundByKeysOfAnyLength) {
  const std::string begin(200, 'k');
  flush(begin);
  for (const std::string& name : files_->list("/data/chunks").value()) {
    const std::string path = "/data/chunks/" + name;
    const std::uint64_t bytes = files_->size(path).value();
    if (name.ends_with(".sst") && bytes > 50'000) files_->flip_bit(path, bytes / 2, 1);
  }
  const ChunkViews::View view = chunks_->views.view("a", "z").value();
  Cursor& cursor = *view.cursor;
  int keys = 0;
  int holes = 0;
  Bytes at = "a";
  cursor.seek(at);
  while (keys < 1000) {
    if (!cursor.valid()) {
      if (cursor.status()) break;
      ++holes;
      ASSERT_TRUE(cursor.seek_past_damage(at).value());
    }
    ASSERT_GT(cursor.key(), at);
    at = cursor.key();
    ++keys;
    cursor.next();
  }
  EXPECT_EQ(holes, 1);
  EXPECT_GT(keys, 800);
  EXPECT_LT(keys, 1000);
}

TEST_F(ChunkDbTest, WhatWaitsForTheNextQuestionKeepsFewFilesOpen) {
  const std::uint64_t before = files_->open_files();
  const auto ask = [this] {
    const std::unique_ptr<ShardView> view = chunks_->views.shard_view('a', ReadSource::kDisk);
    int keys = 0;
    view->chunks().seek("a");
    for (; view->chunks().valid(); view->chunks().next()) ++keys;
    EXPECT_EQ(keys, 1000);
  };
  for (int i = 0; i < 4 * kOpenFilesMax; ++i) flush("a");
  ask();
  EXPECT_LE(files_->open_files(), before + 2 * kOpenFilesMax);  // RocksDB keeps about as many
}

TEST_F(ChunkDbTest, WhatComesWhileFilesAreMergedIsTakenIn) {
  for (int i = 0; i < 4; ++i) flush("aaaaa");
  files_->set_sync_time(std::chrono::milliseconds(50));
  int times = 0;
  const auto merged = chunks_->files.compact_slot(kPlace, [&]() -> Result<bool> {
    if (++times == 1) flush("aaaab");
    return true;
  });
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_TRUE(*merged);
  EXPECT_GT(times, 0);
  ChunkViews::View view = chunks_->views.view("a", "b").value();
  EXPECT_EQ(count(view), 2000);
  EXPECT_EQ(chunks_->tables->file_count(), 2U);
}

TEST_F(ChunkDbTest, AMergeThatIsToEndEarlyLosesNothing) {
  for (int i = 0; i < 4; ++i) flush("aaaaa");
  files_->set_sync_time(std::chrono::milliseconds(50));
  EXPECT_FALSE(chunks_->files.compact_slot(kPlace, [] { return Result<bool>(false); }).value());
  const auto failed = chunks_->files.compact_slot(
      kPlace, []() -> Result<bool> { return fail(Errc::kUnavailable, "no room"); });
  if (!failed) EXPECT_EQ(failed.error().message, "no room");  // else there was nothing to merge
  ChunkViews::View view = chunks_->views.view("a", "b").value();
  EXPECT_EQ(count(view), 1000);
}

TEST_F(ChunkDbTest, MarksDoNotPileUpAsFiles) {
  mark_.flush_number = 0;
  const auto flush_mark = [this] {
    ++mark_.flush_number;
    ASSERT_TRUE(chunks_->files.ingest({}, mark_, {}));
  };
  const auto few = [this] {
    const auto names = files_->list("/data/chunks").value();
    return std::ranges::count_if(names, [](auto& name) { return name.ends_with(".sst"); }) < 40;
  };
  for (int i = 0; i < 100; ++i) flush_mark();
  // Merged behind our back, in the end. What a merge leaves while a flush goes on, goes with a
  // later flush.
  for (int i = 0; i < 1000 && !few(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    flush_mark();
  }
  EXPECT_TRUE(few());
  EXPECT_EQ(chunks_->states.mark().flush_number, mark_.flush_number);
  EXPECT_EQ(chunks_->views.view("a", "b").value().mark.flush_number, mark_.flush_number);
}

}  // namespace
}  // namespace halite::storage::engine
