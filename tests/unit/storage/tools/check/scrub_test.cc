// The check of an open store.
#include "storage/tools/check/scrub.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/log_capture.h"
#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tools/check/checked_world.h"

namespace halite::storage {
namespace {

using testing::HasSubstr;

std::unique_ptr<check::Scrub> scrub_of(Damaged& data, const check::ScrubOptions& options) {
  return std::make_unique<check::Scrub>(
      check::Scrub::Dependencies{
          .names = *data.world.rows,
          .chunk_files = [points = data.world.points.get()] { return points->chunk_files(); },
          .files = data.world.files,
          .engine = {},
          .clock = data.world.clock,
          .registry = data.world.metrics},
      options);
}

check::ScrubState state_after_one(check::Scrub& scrub) {
  EXPECT_TRUE(scrub.begin());
  for (int looks = 0; looks < 6000 && scrub.state().running; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(scrub.state().running);
  return scrub.state();
}

TEST(Scrub, FindsNothingInASoundStore) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  auto scrub = scrub_of(data, {.bytes_per_s = 1U << 30, .interval_ms = 0});
  const check::ScrubState state = state_after_one(*scrub);
  EXPECT_EQ(text_of(state.report), "");
  EXPECT_GT(state.report.points, 20'000u);
  EXPECT_EQ(state.progress.bytes_done, state.progress.bytes_total);
  EXPECT_GT(test::metric_value(data.world.metrics, "halite_scrub_bytes_total"), 10'000);
  EXPECT_EQ(test::metric_value(data.world.metrics, "halite_scrub_passes_total"), 1);
  scrub.reset();
  ASSERT_TRUE(data.world.close());
}

TEST(Scrub, ShowsNothingOfTheLastPassOnceANewOneIsRequested) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  auto scrub = scrub_of(data, {.bytes_per_s = 1U << 30, .interval_ms = 0});
  EXPECT_GT(state_after_one(*scrub).ended_ms, 0);
  ASSERT_TRUE(scrub->begin());
  const check::ScrubState state = scrub->state();
  EXPECT_GT(state.began_ms, 0);
  EXPECT_EQ(state.running, state.ended_ms == 0);
  scrub.reset();
  ASSERT_TRUE(data.world.close());
}

TEST(Scrub, TellsDamageOnceAndGoesOn) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  std::string path;
  for (const rocks::LiveFile& file : data.world.points->chunk_files()) {
    if (file.family == "chunks") path = file.path;
  }
  data.world.files->flip_bit(path, 10, 3);
  const test::LogCapture log;
  auto scrub = scrub_of(data, {.bytes_per_s = 1U << 30, .interval_ms = 0});
  for (int pass = 0; pass < 2; ++pass) {
    const check::ScrubState state = state_after_one(*scrub);
    ASSERT_EQ(state.report.findings.size(), 1u) << text_of(state.report);
    EXPECT_EQ(state.report.findings[0].file, path);
    ASSERT_TRUE(state.report.findings[0].impact);
    EXPECT_FALSE(state.report.findings[0].impact->series.empty());
  }
  scrub.reset();
  EXPECT_EQ(test::metric_value(data.world.metrics, "halite_scrub_damaged_places"), 1);
  const std::string text = log.text();
  EXPECT_NE(text.find(path), std::string::npos);
  EXPECT_EQ(text.find(path), text.rfind(path)) << text;
  ASSERT_TRUE(data.world.close());
}

TEST(Scrub, EndsAtOnceHoweverSlow) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  auto scrub = scrub_of(data, {.bytes_per_s = 1000, .interval_ms = 0});
  ASSERT_TRUE(scrub->begin());
  const Result<void> again = scrub->begin();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::kConflict);
  const auto begin = std::chrono::steady_clock::now();
  scrub.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  ASSERT_TRUE(data.world.close());
}

// Cells are read by their keys, and then the whole file: both keep the pace, and both can be ended.
TEST(Scrub, PacesWhatItReads) {
  Damaged data;
  check::Report report;
  check::NameCatalog catalog(EngineOptions{});
  check::ChunkChecker cells(catalog, report);
  check::TableChecker tables(data.world.files, cells, report);
  std::uint64_t bytes = 0;
  std::uint64_t paced = 0;
  for (const std::string& path : data.tables()) {
    const rocks::LiveFile file{.path = path};
    bytes += data.world.files->size(path).value();
    const auto pace = [&paced](std::size_t read) {
      paced += read;
      return true;
    };
    ASSERT_TRUE(tables.check(file, check::TableOf::kChunks, false, pace));
    const std::size_t before = report.findings.size();
    for (int reads_left = 0; reads_left < 6; ++reads_left) {
      int left = reads_left;
      const auto end = [&left](std::size_t) { return left-- > 0; };
      ASSERT_TRUE(tables.check(file, check::TableOf::kChunks, false, end));
      EXPECT_GE(left, -2) << "went on reading";
      EXPECT_EQ(report.findings.size(), before) << path;
    }
  }
  EXPECT_GT(paced, bytes * 3 / 2);
}

TEST(NamesDamage, IsLoggedOnceAndCounted) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  ASSERT_TRUE(test::run_task(data.world.rows->compact()));
  ASSERT_TRUE(data.world.close());
  ASSERT_TRUE(data.world.open());
  for (const rocks::LiveFile& file : data.world.rows->live_files()) {
    if (file.family == "tsdb-uid/name") data.world.files->flip_bit(file.path, 10, 3);
  }
  const test::LogCapture log;
  for (int time = 0; time < 3; ++time) {
    const auto ids = data.world.intern({"unheard-of"});
    const Result<test::WorldPoints> read = data.world.read();
    EXPECT_FALSE(ids && read);
  }
  EXPECT_GE(test::metric_value(data.world.metrics, "halite_rocksdb_damaged_reads_total"), 1);
  EXPECT_EQ(test::metric_value(data.world.metrics, "halite_rocksdb_damaged_places"), 1);
  std::ignore = data.world.close();
  EXPECT_THAT(log.text(), HasSubstr("stored names or cells are damaged"));
}

}  // namespace
}  // namespace halite::storage
