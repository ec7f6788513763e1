#include "storage/tsdb/chunk_db/tables/file_shards.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/perf_context.h>

namespace halite::storage::engine {
namespace {

class FileShardsTest : public testing::Test {
 protected:
  void SetUp() override {
    rocksdb::Options options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.table_properties_collector_factories = {note_file_shards()};
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open(options, "/db", &db).ok());
    db_.reset(db);
  }

  // A file of its own.
  void write(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) ASSERT_TRUE(db_->Put({}, key, "value").ok());
    ASSERT_TRUE(db_->Flush({}).ok());
  }

  struct Found {
    std::vector<std::string> keys;
    std::uint64_t blocks = 0;  // that were looked into
  };
  Found find(const std::string& begin, const std::string& end) {
    const rocksdb::Slice upper(end);
    rocksdb::ReadOptions read;
    if (!end.empty()) read.iterate_upper_bound = &upper;
    read.table_filter = files_of_shards(begin, end);
    rocksdb::get_perf_context()->Reset();
    const std::unique_ptr<rocksdb::Iterator> at(db_->NewIterator(read));
    Found found;
    for (at->Seek(begin); at->Valid(); at->Next()) found.keys.push_back(at->key().ToString());
    EXPECT_TRUE(at->status().ok());
    const rocksdb::PerfContext& cost = *rocksdb::get_perf_context();
    found.blocks = cost.block_read_count + cost.block_cache_hit_count;
    return found;
  }

  const std::unique_ptr<rocksdb::Env> env_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  std::unique_ptr<rocksdb::DB> db_;
};

using Keys = std::vector<std::string>;

TEST_F(FileShardsTest, FilesOfOtherShardsAreLeftAlone) {
  for (const char* const shard : {"a", "b", "c", "\xFF"}) {
    for (const char* const key : {"1", "2", "3"}) write({std::string(shard) + key});
  }
  const Found some = find("b", "c");
  EXPECT_EQ(some.keys, (Keys{"b1", "b2", "b3"}));
  const Found all = find("", "");
  EXPECT_EQ(all.keys.size(), 12U);
  EXPECT_EQ(some.blocks * 4, all.blocks);
  EXPECT_EQ(find("\xFF", std::string(64, '\xFF')).keys.size(), 3U);
}

TEST_F(FileShardsTest, FilesOfSeveralShardsAreLookedInto) {
  write({"a1", "c1"});
  write({"b1"});
  EXPECT_EQ(find("a", "b").keys, Keys{"a1"});
  EXPECT_EQ(find("b", "c").keys, Keys{"b1"});
  EXPECT_EQ(find("c", "d").keys, Keys{"c1"});
  EXPECT_EQ(find("b", "c0").keys, Keys{"b1"});
  EXPECT_EQ(find("b", "c2").keys, (Keys{"b1", "c1"}));
}

// What a file removes in other shards counts, although nobody looks into it there.
TEST_F(FileShardsTest, RemovedRangesReachBeyondTheShardThatTheyBeginIn) {
  write({"a1", "b1", "c1", "c9"});
  ASSERT_TRUE(db_->DeleteRange({}, db_->DefaultColumnFamily(), "a0", "c5").ok());
  ASSERT_TRUE(db_->Flush({}).ok());
  EXPECT_EQ(find("b", "c").keys, Keys{});
  EXPECT_EQ(find("c", "d").keys, Keys{"c9"});
}

TEST_F(FileShardsTest, FilesWithoutTheNoteMayHaveAnything) {
  const rocksdb::TableProperties file;
  EXPECT_TRUE(files_of_shards("a", "b")(file));
}

}  // namespace
}  // namespace halite::storage::engine
