// Parts of an engine's data that are gone or cut off, and flushes and starts that fail.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/log_capture.h"
#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"
#include "tests/unit/storage/tsdb/instants.h"

namespace halite::storage {
namespace {

using test::run_task;
using test::WorldPoints;

constexpr const char* kChunks = "/data/engine/chunks";
constexpr const char* kLog = "/data/engine/log";

class MissingTest : public testing::Test {
 protected:
  void SetUp() override {
    world_.layout.salt_buckets = 2;
    world_.options.log.commit_interval_ms = 0;
    world_.options.log.idle_mark_ms = 0;
    world_.options.maintenance_ms = 3'600'000;  // only when asked
    ASSERT_TRUE(world_.open());
  }

  WorldPoints put(TimestampMs time, int hosts = 5) {
    std::vector<std::string> names;
    for (int i = 0; i < hosts; ++i) names.push_back(fmt::format("h{}", i));
    std::vector<SeriesId> ids;
    for (std::size_t begin = 0; begin < names.size(); begin += 1000) {
      const std::size_t end = std::min(names.size(), begin + 1000);
      const auto some = world_.intern({names.begin() + static_cast<std::ptrdiff_t>(begin),
                                       names.begin() + static_cast<std::ptrdiff_t>(end)});
      ids.insert(ids.end(), some.value().begin(), some.value().end());
    }
    PointBatch points;
    WorldPoints written;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      points.add(ids[i], time, integer_bits(time), 0);
      written[{names[i], time}] = {.bits = integer_bits(time), .is_float = false};
    }
    const auto accepted = run_task(world_.points->append(std::move(points)));
    EXPECT_TRUE(accepted) << accepted.error().message;
    if (accepted) EXPECT_TRUE(run_task(accepted->durable.wait()));
    return written;
  }

  std::vector<std::string> paths(const std::string& dir, const std::string& end) {
    std::vector<std::string> found;
    for (const std::string& name : world_.files->list(dir).value()) {
      if (name.ends_with(end)) found.push_back(dir + "/" + name);
    }
    return found;
  }

  void remove(const std::vector<std::string>& files) {
    for (const std::string& path : files) ASSERT_TRUE(world_.files->remove(path));
    ASSERT_TRUE(world_.files->sync_dir(dir_of(files.at(0))));
  }

  double metric(const std::string& name) const { return test::metric_value(world_.metrics, name); }

  test::EngineWorld world_{1, kNow};
};

// The log has dropped what only the end of the manifest says that it is in chunks.
TEST_F(MissingTest, NothingGoesWithADamagedEndOfTheManifest) {
  ASSERT_TRUE(world_.close());
  world_.options.chunks.auto_compaction = false;  // the manifest ends with a flush
  ASSERT_TRUE(world_.open());
  WorldPoints expected = put(kNow);
  ASSERT_TRUE(run_task(world_.points->flush()));
  for (const auto& [key, value] : put(kNow + 1)) expected[key] = value;
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.crash();
  world_.options.chunks.auto_compaction = true;
  const std::vector<std::string> tables = paths(kChunks, ".sst");
  const std::string current =
      read_whole(*world_.files, std::string(kChunks) + "/CURRENT", 100).value();
  const std::string manifest = fmt::format("{}/{}", kChunks, current.substr(0, current.size() - 1));
  world_.files->flip_bit(manifest, world_.files->size(manifest).value() - 10, 2);

  for (int start = 0; start < 2; ++start) {
    const Result<void> opened = world_.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kCorruption);
    EXPECT_THAT(opened.error().message, testing::HasSubstr("aside-MANIFEST"));
  }
  std::set<std::string> kept;
  const std::string aside = fmt::format("{}/aside-{}", kChunks, name_of(manifest));
  for (const std::string& path : paths(aside, ".sst")) kept.insert(name_of(path));
  for (const std::string& path : tables) EXPECT_TRUE(kept.contains(name_of(path))) << path;

  for (const std::string& path : paths(aside, "")) ASSERT_TRUE(world_.files->remove(path));
  ASSERT_TRUE(world_.files->remove_dir(aside));
  const test::LogCapture log;
  ASSERT_TRUE(world_.open());
  EXPECT_LT(world_.read().value().size(), expected.size());
  EXPECT_GT(metric("halite_log_damaged_records_total"), 0);
  ASSERT_TRUE(world_.close());
  EXPECT_THAT(log.text(), testing::HasSubstr("acknowledged records are lost"));
  EXPECT_THAT(log.text(), testing::Not(testing::HasSubstr(" in \n")));  // no file without a name
}

TEST_F(MissingTest, AManifestThatIsCutFurtherBackNamesWhatIsLost) {
  constexpr int kFlushes = 40;
  for (int i = 0; i < kFlushes; ++i) {
    put(kNow + i);
    ASSERT_TRUE(run_task(world_.points->flush()));
  }
  world_.crash();
  const std::string current =
      read_whole(*world_.files, std::string(kChunks) + "/CURRENT", 100).value();
  const std::string manifest = fmt::format("{}/{}", kChunks, current.substr(0, current.size() - 1));
  const Bytes before = read_whole(*world_.files, manifest, 1 << 24).value();
  const auto file = world_.files->open(manifest, OpenFile::kWrite).value();
  ASSERT_TRUE(file->truncate(before.size() / 3));
  ASSERT_TRUE(file->sync());
  for (int start = 0; start < 2; ++start) {
    const Result<void> opened = world_.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kCorruption);
    EXPECT_THAT(opened.error().message, testing::Not(testing::HasSubstr(".ldb")));
    EXPECT_THAT(opened.error().message,
                testing::ContainsRegex("records .*[0-9]+, which the log no longer has"));
  }
  ASSERT_TRUE(write_whole(*world_.files, manifest, before));
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value().size(), std::size_t{kFlushes} * 5);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, AnEndOfTheManifestThatNothingReliedOnIsNoLoss) {
  const WorldPoints expected = put(kNow);
  world_.crash();
  ASSERT_TRUE(world_.open());  // by now the log's points are in chunks, and the log has begun anew
  world_.crash();
  const std::string current =
      read_whole(*world_.files, std::string(kChunks) + "/CURRENT", 100).value();
  const std::string manifest = fmt::format("{}/{}", kChunks, current.substr(0, current.size() - 1));
  const auto file = world_.files->open(manifest, OpenFile::kWrite).value();
  ASSERT_TRUE(file->append("half of an edit"));
  ASSERT_TRUE(file->sync());
  const Result<void> opened = world_.open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(world_.read().value(), expected);
  EXPECT_THAT(world_.files->list(kChunks).value(),
              testing::Not(testing::Contains(testing::HasSubstr("aside"))));
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, TheEndOfTheLogIsMissed) {
  for (const bool all : {false, true}) {
    put(kNow);
    world_.crash();
    auto segments = paths(kLog, ".log");
    if (!all) segments.erase(segments.begin(), segments.end() - 1);
    remove(segments);
    if (all) {
      for (const std::string& path : paths(kLog, "")) ASSERT_TRUE(world_.files->remove(path));
    }
    const double before = metric("halite_log_lost_ends_total");
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    // A log that is gone with its directory is missed where chunks know of it.
    EXPECT_EQ(metric("halite_log_lost_ends_total"), before + 1) << all;
    const WorldPoints later = put(kNow + 1);
    ASSERT_TRUE(run_task(world_.points->flush()));
    world_.crash();
    ASSERT_TRUE(world_.open());
    const WorldPoints found = world_.read().value();
    for (const auto& [key, value] : later) EXPECT_EQ(found.at(key), value);
    EXPECT_EQ(metric("halite_log_lost_ends_total"), before + 1) << all;
    EXPECT_EQ(metric("halite_log_damaged_records_total"), 0);
  }
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, ACutSegmentIsMissed) {
  put(kNow);
  world_.crash();
  const std::string last = paths(kLog, ".log").back();
  const auto file = world_.files->open(last, OpenFile::kWrite).value();
  ASSERT_TRUE(file->truncate(5000));
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(metric("halite_log_lost_ends_total"), 1);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, ChunksWithoutNamesAreRefused) {
  put(kNow);
  ASSERT_TRUE(world_.close());
  remove(paths("/data/rocks", ""));
  for (int start = 0; start < 2; ++start) {
    const Result<void> opened = world_.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kConflict);
    EXPECT_THAT(opened.error().message, testing::HasSubstr("names of their series are missing"));
  }
}

TEST_F(MissingTest, ACutSegmentThatHadGrownIsMissed) {
  for (int i = 0; i < 100; ++i) put(kNow + i, 300);
  world_.crash();
  const std::string last = paths(kLog, ".log").back();
  const std::uint64_t cut = world_.files->size(last).value() / 2;
  ASSERT_GT(cut, world_.options.log.segment_bytes_min);
  const auto file = world_.files->open(last, OpenFile::kWrite).value();
  ASSERT_TRUE(file->truncate(cut));
  ASSERT_TRUE(file->sync());
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(metric("halite_log_lost_ends_total"), 1);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, ASegmentThatWasMadeSmallAgainIsWhole) {
  for (int i = 0; i < 100; ++i) put(kNow + i, 300);
  const std::string last = paths(kLog, ".log").back();
  const std::uint64_t before = world_.files->size(last).value();
  ASSERT_TRUE(run_task(world_.points->seal()));
  const std::string now = paths(kLog, ".log").back();
  EXPECT_LT(world_.files->size(now).value(), before);
  world_.crash();
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(metric("halite_log_lost_ends_total"), 0);
  ASSERT_TRUE(world_.close());
}

// RocksDB opens with what is left of its log, and says nothing.
TEST_F(MissingTest, LostNamesAreMissed) {
  WorldPoints expected = put(kNow);
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(world_.open());  // by now these names are in a table of RocksDB's
  for (const auto& [key, value] : put(kNow + 1, 30)) {
    if (expected.contains({key.first, kNow})) expected[key] = value;  // the others are lost
  }
  ASSERT_TRUE(run_task(world_.points->flush()));
  ASSERT_TRUE(world_.close());
  remove(paths("/data/rocks", ".log"));
  for (int start = 0; start < 2; ++start) {
    const Result<void> opened = world_.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kCorruption);
    EXPECT_THAT(opened.error().message, testing::HasSubstr("names and series"));
  }
  world_.options.accept_lost_names = true;
  ASSERT_TRUE(world_.open());
  // Nobody's points are answered under another's name.
  for (const auto& [key, value] : put(kNow + 2, 40)) expected[key] = value;
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(run_task(world_.points->flush()));
  ASSERT_TRUE(world_.close());
  world_.options.accept_lost_names = false;
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, ARefusedStartLeavesTheNamesAsTheyWere) {
  const WorldPoints expected = put(kNow);
  ASSERT_TRUE(run_task(world_.points->flush()));
  world_.crash();
  const std::string current = read_whole(*world_.files, "/data/rocks/CURRENT", 100).value();
  const std::string manifest = "/data/rocks/" + current.substr(0, current.size() - 1);
  const Bytes whole = read_whole(*world_.files, manifest, 1 << 20).value();
  int refused = 0;
  bool opened = false;
  for (std::size_t size = 60; size + 10 < whole.size() && !opened; size += 30) {
    ASSERT_TRUE(write_whole(*world_.files, manifest, BytesView(whole).substr(0, size)));
    opened = world_.open().has_value();
    if (!opened) ++refused;
  }
  EXPECT_GT(refused, 1);
  if (!opened) {
    ASSERT_TRUE(write_whole(*world_.files, manifest, whole));
    ASSERT_TRUE(world_.open());
  }
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, NamesWithoutChunksAreRefused) {
  put(kNow);
  ASSERT_TRUE(world_.close());
  remove(paths(kChunks, ""));
  for (int start = 0; start < 2; ++start) {
    const Result<void> opened = world_.open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kConflict);
    EXPECT_THAT(opened.error().message, testing::HasSubstr("chunks is missing"));
  }
}

TEST_F(MissingTest, FailedFlushesLeaveNoFilesAndFreezeOnce) {
  world_.files->fail_writes(".new", Error{Errc::kOverloaded, "no space left", {}});
  WorldPoints expected;
  const std::size_t segments = paths(kLog, ".log").size();
  for (int i = 0; i < 10; ++i) {
    for (const auto& [key, value] : put(kNow + i)) expected[key] = value;
    EXPECT_FALSE(run_task(world_.points->flush()));
  }
  EXPECT_THAT(paths(kChunks, ".new"), testing::IsEmpty());
  EXPECT_LE(paths(kLog, ".log").size(), segments + 2);
  EXPECT_FALSE(world_.points->health());
  world_.files->heal();
  ASSERT_TRUE(run_task(world_.points->flush()));
  EXPECT_TRUE(world_.points->health());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, FewerSeriesAreAllowedThanTheLogHas) {
  const WorldPoints expected = put(kNow, 20'000);
  world_.crash();
  world_.options.series_max = 1000;
  const Result<void> opened = world_.open();
  ASSERT_TRUE(opened) << opened.error().message;
  world_.crash();
  world_.options.series_max = 100'000;
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

TEST_F(MissingTest, NewSeriesThatNoRecordCouldHoldComeInSeveral) {
  ASSERT_TRUE(world_.close());
  world_.options.log.record_bytes_max = 64 << 10;
  ASSERT_TRUE(world_.open());
  const WorldPoints expected = put(kNow, 12'000);
  world_.crash();
  ASSERT_TRUE(world_.open());
  EXPECT_EQ(world_.read().value(), expected);
  ASSERT_TRUE(world_.close());
}

}  // namespace
}  // namespace halite::storage
