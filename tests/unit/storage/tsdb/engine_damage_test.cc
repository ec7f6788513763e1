// Files of chunks that are damaged: what is not goes on being answered, written and sealed.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/damaged_world.h"

namespace halite::storage {
namespace {

using test::run_task;
// Whatever is damaged, new points are taken, flushed and sealed, and what was answered still is.
void expect_goes_on(Damaged& data, const std::string& what) {
  const Result<void> opened = data.world.open();
  ASSERT_TRUE(opened) << what << ": " << opened.error().message;
  const int before = data.answered();
  for (int slot = 0; slot < 5; ++slot) data.put(data.world.clock.now_ms() - slot * kHourMs, 3);
  data.put(data.world.clock.now_ms(), 1);
  for (int round = 0; round < 2; ++round) {
    const Result<void> flushed = run_task(data.world.points->flush());
    EXPECT_TRUE(flushed) << what << ": " << flushed.error().message;
    const Result<void> sealed = run_task(data.world.points->seal());
    EXPECT_TRUE(sealed) << what << ": " << sealed.error().message;
    EXPECT_TRUE(data.world.points->health()) << what;
    data.world.clock.advance(kHourMs);
  }
  EXPECT_GE(data.answered(), before) << what;
}

void expect_reopens(Damaged& data, const std::string& what) {
  const int before = data.answered();
  ASSERT_TRUE(data.world.close()) << what;
  const Result<void> again = data.world.open();
  ASSERT_TRUE(again) << what << ": " << again.error().message;
  EXPECT_GE(data.answered(), before) << what;
  ASSERT_TRUE(data.world.close()) << what;
}

// A third of the files for each kind of damage, for the time that it takes.
std::vector<std::size_t> thirds(std::size_t first) {
  const std::size_t files = Damaged().tables().size();
  EXPECT_GT(files, 10u);
  std::vector<std::size_t> chosen;
  for (std::size_t i = first; i < files; i += test::step(3, 9)) chosen.push_back(i);
  return chosen;
}

TEST(Damage, OfABlockHurtsWhatIsInItAlone) {
  int damaged = 0;
  for (const std::size_t i : thirds(0)) {
    Damaged data;
    const std::string path = data.tables().at(i);
    data.world.files->flip_bit(path, 10, 3);
    expect_goes_on(data, fmt::format("the first block of {}", path));
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(data.answered({.begin = kFullHour + 4 * kHourMs, .end = INT64_MAX}), kHosts) << path;
    expect_reopens(data, path);
    damaged += test::metric_value(data.world.metrics, "halite_engine_damaged_places") > 0 ? 1 : 0;
  }
  EXPECT_GT(damaged, test::kSanitized ? 0 : 2);
}

TEST(Damage, OfAnyOtherPlaceStopsNothing) {
  for (const std::size_t i : thirds(1)) {
    Damaged data;
    const std::string path = data.tables().at(i);
    const std::uint64_t bytes = data.world.files->size(path).value();
    const std::uint64_t at = std::min(bytes - 1, bytes * (i % 4) / 4 + 10);
    data.world.files->flip_bit(path, at, 3);
    const std::string what = fmt::format("byte {} of {} of {}", at, bytes, path);
    expect_goes_on(data, what);
    if (testing::Test::HasFatalFailure()) return;
    expect_reopens(data, what);
  }
}

TEST(Damage, AFileCutOffOrGoneStopsNothing) {
  for (const std::size_t i : thirds(2)) {
    const bool gone = i % 2 == 0;
    Damaged data;
    const std::string path = data.tables().at(i);
    if (gone) {
      ASSERT_TRUE(data.world.files->remove(path));
      ASSERT_TRUE(data.world.files->sync_dir(kChunks));
    } else {
      const auto file = data.world.files->open(path, OpenFile::kWrite).value();
      ASSERT_TRUE(file->truncate(data.world.files->size(path).value() / 2));
      ASSERT_TRUE(file->sync());
    }
    const std::string what = fmt::format("{} {}", path, gone ? "gone" : "cut off");
    expect_goes_on(data, what);
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_GT(test::metric_value(data.world.metrics, "halite_engine_damaged_places"), 0) << what;
    expect_reopens(data, what);
  }
}

}  // namespace
}  // namespace halite::storage
