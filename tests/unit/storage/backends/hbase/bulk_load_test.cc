// Bulk loads into a fake HBase that loses answers, refuses files and moves regions.
#include "storage/backends/hbase/bulk_load/bulk_load.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "storage/backends/hbase/hfile/hfile_writer.h"
#include "storage/files/files.h"
#include "storage/files/posix_files.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;
using testing::HasSubstr;

class BulkLoadTest : public ClientTest {
 protected:
  void SetUp() override {
    hbase_.add_table("t", {"m"});
    hbase_.move_region("t", "m", 1);
    hbase_.set_staging(dir_.path() + "/staging");
    directory_ = open_load_directory("file://" + dir_.path() + "/files", *files_, {}).value();
    ASSERT_TRUE(run_task(directory_->make("f")));
  }

  // A file with these rows.
  FileToLoad write(const std::vector<Bytes>& rows) {
    HFileWriter writer({});
    for (const Bytes& row : rows) {
      EXPECT_TRUE(writer.add(
          {.row = row, .family = "f", .qualifier = "q", .time = kTime, .value = row + "!"}));
    }
    EXPECT_TRUE(writer.finish());
    const std::string path = directory_->path_of("f", fmt::format("file{}", ++last_file_));
    const auto file = run_task(directory_->create(path)).value();
    EXPECT_TRUE(run_task(file->write(writer.take())));
    EXPECT_FALSE(run_task(directory_->exists(path)).value());
    EXPECT_TRUE(run_task(file->finish()));
    EXPECT_TRUE(run_task(directory_->exists(path)).value());
    return {.path = path, .first_row = rows.front(), .last_row = rows.back()};
  }

  Result<std::vector<LoadedFile>> load(std::vector<FileToLoad> files, std::uint32_t rounds = 5) {
    Result<std::vector<LoadedFile>> loaded =
        run_task(load_files(client(), *directory_,
                            {.table = "t",
                             .family = "f",
                             .files = std::move(files),
                             .options = {.rounds_max = rounds, .pause_ms = 1}}));
    EXPECT_EQ(hbase_.calls("PrepareBulkLoad"), hbase_.calls("CleanupBulkLoad"));
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/staging"));
    return loaded;
  }

  void expect_loaded(const std::vector<Bytes>& rows) {
    for (const Bytes& row : rows) EXPECT_EQ(hbase_.row_text("t", row), "f:q=" + row + "!") << row;
    EXPECT_EQ(hbase_.row_count("t"), rows.size());
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path() + "/files/f"));
  }

  test::TempDir dir_;
  const std::shared_ptr<FileSystem> files_ = posix_files();
  std::unique_ptr<LoadDirectory> directory_;
  int last_file_ = 0;
};

TEST_F(BulkLoadTest, EachRegionTakesItsFiles) {
  const auto loaded = load({write({"a", "b"}), write({"m", "z"}), write({"c"})});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded, std::vector(3, LoadedFile::kLoaded));
  EXPECT_EQ(hbase_.calls("BulkLoadHFile"), 2U);
  expect_loaded({"a", "b", "c", "m", "z"});
  EXPECT_TRUE(load({}).value().empty());
}

TEST_F(BulkLoadTest, ACallHasNoMoreFilesThanServersAllow) {
  std::size_t most = 0;
  hbase_.script([&most](const FakeCall& call) -> FakeReaction {
    if (call.method == "BulkLoadHFile") most = std::max(most, call.actions);
    return {};
  });
  std::vector<FileToLoad> files;
  std::vector<Bytes> rows;
  for (int i = 0; i < 70; ++i) {
    rows.push_back(fmt::format("a{:02}", i));
    files.push_back(write({rows.back()}));
  }
  ASSERT_TRUE(load(std::move(files)));
  EXPECT_EQ(hbase_.calls("BulkLoadHFile"), 3U);
  hbase_.script({});
  EXPECT_EQ(most, 32U);
  expect_loaded(rows);
}

TEST_F(BulkLoadTest, WhatFailedIsSentAgain) {
  std::vector<Bytes> rows;
  for (const FakeReaction& reaction : std::vector<FakeReaction>{
           {.what = FakeReaction::kRefuse},
           {.what = FakeReaction::kRefuseStaged},
           {.what = FakeReaction::kCloseBefore},
           {.what = FakeReaction::kCloseAfter},
           {.what = FakeReaction::kThrow, .exception = "NotServingRegionException"},
           {.what = FakeReaction::kThrow, .exception = "RegionTooBusyException"}}) {
    react_once("BulkLoadHFile", reaction);
    rows.push_back(fmt::format("row{}", rows.size()));
    const auto loaded = load({write({rows.back()})});
    ASSERT_TRUE(loaded) << int{reaction.what} << ": " << loaded.error().message;
    EXPECT_EQ(*loaded, std::vector{LoadedFile::kLoaded});
  }
  expect_loaded(rows);
}

TEST_F(BulkLoadTest, ALostAnswerIsNotWaitedForTwice) {
  options_.call_ms_max = 300;
  react_once("BulkLoadHFile", {.what = FakeReaction::kSwallow});
  ASSERT_TRUE(load({write({"a"})}));
  EXPECT_EQ(hbase_.calls("BulkLoadHFile"), 1U);
  expect_loaded({"a"});
}

TEST_F(BulkLoadTest, ARefusalThatStaysNamesTheServer) {
  for (const auto what : {FakeReaction::kRefuse, FakeReaction::kRefuseStaged}) {
    hbase_.script([what](const FakeCall& call) -> FakeReaction {
      if (call.method == "BulkLoadHFile") return {.what = what};
      return {};
    });
    const FileToLoad file = write({"a"});
    const auto refused = load({file}, 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kUnavailable);
    EXPECT_THAT(refused.error().message,
                HasSubstr(fmt::format("127.0.0.1:{} did not take {} in 3 attempts",
                                      hbase_.endpoint(0).port, file.path)));
    EXPECT_TRUE(run_task(directory_->exists(file.path)).value());  // also after the clean-up
  }
  EXPECT_EQ(hbase_.calls("BulkLoadHFile"), 6U);
}

TEST_F(BulkLoadTest, FilesOfSeveralRegionsAreGivenBack) {
  ASSERT_TRUE(run_task(client().mutate("t", {put("x", "1")})));  // now it knows the regions
  hbase_.split_region("t", "c");
  const auto loaded = load({write({"a", "b"}), write({"a", "d"}), write({"d", "e"})});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(*loaded,
            (std::vector{LoadedFile::kLoaded, LoadedFile::kSeveralRegions, LoadedFile::kLoaded}));
  EXPECT_EQ(hbase_.row_count("t"), 5U);
}

TEST_F(BulkLoadTest, NoRightsAndNoTableAreErrors) {
  react_once("PrepareBulkLoad", {.what = FakeReaction::kThrow,
                                 .exception = "security.AccessDeniedException",
                                 .do_not_retry = true});
  EXPECT_THAT(run_task(client().begin_bulk_load("t")).error().message, HasSubstr("AccessDenied"));
  EXPECT_EQ(run_task(client().begin_bulk_load("no")).error().code, Errc::kNotFound);
}

TEST(LoadDirectoryTest, UrlsAreRead) {
  const auto files = posix_files();
  for (const char* url :
       {"file:///a", "webhdfs://nn/a", "webhdfs://nn:9870/a/b/", "webhdfs://n1,n2:9871/a"}) {
    EXPECT_TRUE(open_load_directory(url, *files, {})) << url;
  }
  for (const char* url :
       {"", "/a", "file://host/a", "file:///", "webhdfs:///a", "webhdfs://nn", "webhdfs://nn:0/a",
        "webhdfs://nn:x/a", "webhdfs://nn,/a", "webhdfs://nn/a?x=y", "http://nn/a"}) {
    const auto refused = open_load_directory(url, *files, {});
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument) << url;
  }
  const auto other = open_load_directory("hdfs://nn:8020/a", *files, {});
  EXPECT_EQ(other.error().code, Errc::kUnsupported);
  EXPECT_THAT(other.error().message, HasSubstr("webhdfs://NAMENODE"));
}

TEST(LoadDirectoryTest, PathsOfRegionServersAreUnderstood) {
  const auto files = posix_files();
  const auto local = open_load_directory("file:///a", *files, {}).value();
  EXPECT_EQ(local->path_of("t", "x"), "/a/t/x");
  EXPECT_EQ(local->url_of("/a/t/x"), "file:///a/t/x");
  EXPECT_EQ(local->path_in("file:/b/c"), "/b/c");
  EXPECT_EQ(local->path_in("file:///b/c"), "/b/c");
  EXPECT_EQ(local->path_in("hdfs://nn:8020/b/c"), std::nullopt);
  const auto hdfs = open_load_directory("webhdfs://nn/a/", *files, {}).value();
  EXPECT_EQ(hdfs->path_of("t", "x"), "/a/t/x");
  EXPECT_EQ(hdfs->url_of("/a/t/x"), "/a/t/x");
  EXPECT_EQ(hdfs->path_in("hdfs://nn:8020/b/c"), "/b/c");
  EXPECT_EQ(hdfs->path_in("file:/b/c"), std::nullopt);
}

}  // namespace
}  // namespace halite::storage::hbase
