#include "app/bulk/source_walk.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/app/scripted_source.h"

namespace halite::app {
namespace {

constexpr TimestampMs kBegin = 1'000'000;
constexpr TimestampMs kEnd = 100'000'000;

// Keeps what it takes, in order.
class KeepingSink final : public SliceSink {
 public:
  // Asked before each take; an error ends the walk.
  std::function<std::optional<Error>()> trouble;

  struct Slice final : Prepared {
    SourceSlice slice;
    std::vector<ingest::SeriesPoints> points;
  };
  Result<std::unique_ptr<Prepared>> prepare(const SourceSlice& slice,
                                            std::vector<ingest::SeriesPoints> points) override {
    const int now = ++preparing_;
    for (int max = preparing_max; now > max;) {
      if (preparing_max.compare_exchange_weak(max, now)) break;
    }
    if (slice.range.end / 1000 % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    auto prepared = std::make_unique<Slice>();
    prepared->slice = slice;
    prepared->points = std::move(points);
    --preparing_;
    return prepared;
  }
  Result<void> take(std::unique_ptr<Prepared> prepared) override {
    EXPECT_EQ(taking_++, 0);
    const auto error = trouble ? trouble() : std::nullopt;
    if (!error) {
      auto& slice = dynamic_cast<Slice&>(*prepared);
      for (const ingest::SeriesPoints& series : slice.points) {
        for (const ingest::PointBits& point : series.points) {
          lines.push_back(ScriptedSource::line_of(series.series, point.time));
        }
      }
      slices.push_back(slice.slice);
    }
    --taking_;
    if (error) return std::unexpected(*error);
    return {};
  }
  Result<void> reached(const SourcePosition& position) override {
    positions.push_back(position);
    lines_reached = lines.size();
    return {};
  }

  std::vector<std::string> lines;
  std::vector<SourceSlice> slices;  // that had been read
  std::vector<SourcePosition> positions;
  std::size_t lines_reached = 0;  // before the last position
  std::atomic<int> preparing_max = 0;

 private:
  std::atomic<int> preparing_ = 0;
  std::atomic<int> taking_ = 0;
};

std::vector<std::string> sorted(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

// As a store: everything is one slice, to begin with.
constexpr SliceRanges kWhole = {.min = 1000, .first = INT64_MAX / 64, .max = INT64_MAX / 64};

class SourceWalkTest : public ::testing::Test {
 protected:
  SourceWalkTest() {
    for (int i = 0; i < 3000; ++i) {
      for (const char* const host : {"a", "b", "c"}) {
        source_.add("dense", host, 40'000'000 + TimestampMs{i} * 500, i);
      }
    }
    for (int i = 0; i < 50; ++i) source_.add("sparse", "a", kBegin + TimestampMs{i} * 1'900'000, i);
    source_.add("edges", "a", kBegin, 1);
    source_.add("edges", "a", kEnd - 1, 2);
    for (int i = 0; i < 300; ++i) source_.add("wide", std::to_string(i), 50'000'000, i);
  }

  Result<void> walk(unsigned threads = 4, SourcePosition from = {}) {
    return walk_source(source_, sink_,
                       {.range = {.begin = kBegin, .end = kEnd},
                        .from = std::move(from),
                        .threads = threads,
                        .slice_points_max = 100});
  }

  ScriptedSource source_;
  KeepingSink sink_;
};

TEST_F(SourceWalkTest, PassesEachPointOnOnce) {
  for (const SliceRanges& ranges : {source_.slice_ranges, kWhole}) {
    source_.slice_ranges = ranges;
    for (const unsigned threads : {1U, 2U, 8U}) {
      sink_.lines.clear();
      const auto walked = walk(threads);
      ASSERT_TRUE(walked) << walked.error().message;
      EXPECT_EQ(sorted(sink_.lines), source_.all()) << threads;
    }
  }
  EXPECT_GT(sink_.preparing_max, 1);
}

TEST_F(SourceWalkTest, KeepsTheOrderOfMetricAndTime) {
  for (const SliceRanges& ranges : {source_.slice_ranges, kWhole}) {
    source_.slice_ranges = ranges;
    sink_.slices.clear();
    sink_.positions.clear();
    ASSERT_TRUE(walk(8));
    for (std::size_t i = 1; i < sink_.slices.size(); ++i) {
      const SourceSlice& one = sink_.slices[i - 1];
      const SourceSlice& next = sink_.slices[i];
      if (one.metric != next.metric) {
        EXPECT_LT(one.metric, next.metric);
        EXPECT_EQ(one.range.end, kEnd);
        EXPECT_EQ(next.range.begin, kBegin);
      } else if (one.range.begin == next.range.begin) {
        // Parts of the series.
        EXPECT_EQ(one.range.end, next.range.end);
        EXPECT_LE((one.part + 1) * next.parts, (next.part + 1) * one.parts);
      } else {
        EXPECT_EQ(one.range.end, next.range.begin) << i;
      }
    }
    ASSERT_FALSE(sink_.positions.empty());
    EXPECT_EQ(sink_.positions.back().metric, "wide");
    EXPECT_EQ(sink_.positions.back().time, kEnd);
  }
}

// First the time, then the series.
TEST_F(SourceWalkTest, DividesWhatIsTooLarge) {
  source_.slice_ranges = kWhole;
  ASSERT_TRUE(walk());
  bool in_time = false;
  bool in_series = false;
  for (const SourceSlice& slice : sink_.slices) {
    in_time = in_time || (slice.metric == "dense" && slice.range.end - slice.range.begin < 60'000);
    if (slice.parts == 1) continue;
    in_series = true;
    EXPECT_EQ(slice.metric, "wide");
    // Cannot be divided further by time: it ends at multiples of the unit.
    EXPECT_EQ(slice.range.end - slice.range.begin, source_.slice_ranges.min);
  }
  EXPECT_TRUE(in_time);
  EXPECT_TRUE(in_series);
  // Few reads find out where there is anything.
  EXPECT_LT(source_.reads().size(), 1500U);
}

// The slices depend on the points only: an export that resumes gives the same bytes.
TEST_F(SourceWalkTest, HasTheSameSlicesEachTime) {
  source_.slice_ranges = kWhole;
  ASSERT_TRUE(walk(1));
  const std::vector<std::string> alone = sink_.lines;
  for (int i = 0; i < 5; ++i) {
    sink_.lines.clear();
    ASSERT_TRUE(walk(8));
    EXPECT_EQ(sink_.lines, alone);
  }
}

TEST_F(SourceWalkTest, ReadsWhatCannotBeDivided) {
  source_.parts = false;
  ASSERT_TRUE(walk());
  EXPECT_EQ(sorted(sink_.lines), source_.all());
}

TEST_F(SourceWalkTest, NamesWhatTheSourceCannotRead) {
  source_.parts = false;
  source_.trouble = [](const SourceSlice& slice) -> std::optional<Error> {
    if (slice.metric != "wide" || slice.range.begin > 50'000'000 || slice.range.end <= 50'000'000) {
      return std::nullopt;
    }
    return Error{Errc::kTooLarge, "413", {}};
  };
  const auto walked = walk();
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().code, Errc::kTooLarge);
  EXPECT_EQ(walked.error().message, "wide has too many points from 50000000 to 50001000 ms: 413");
}

TEST_F(SourceWalkTest, ResumesAtEachPosition) {
  for (const SliceRanges& ranges : {source_.slice_ranges, kWhole}) {
    source_.slice_ranges = ranges;
    sink_.lines.clear();
    sink_.positions.clear();
    ASSERT_TRUE(walk(1));
    const std::vector<std::string> all = sink_.lines;
    const std::vector<SourcePosition> positions = sink_.positions;
    for (std::size_t i = 0; i < positions.size(); i += 1 + positions.size() / 12) {
      int takes = 0;
      sink_.lines.clear();
      sink_.positions.clear();
      sink_.trouble = [&]() -> std::optional<Error> {
        if (++takes <= static_cast<int>(i)) return std::nullopt;
        return Error{Errc::kUnavailable, "gone", {}};
      };
      const auto walked = walk(4);
      sink_.trouble = nullptr;
      // Slices that adapt to what was read are not the same each time, and may be fewer.
      if (walked && ranges.first != kWhole.first) continue;
      ASSERT_FALSE(walked);
      const SourcePosition from =
          sink_.positions.empty() ? SourcePosition() : sink_.positions.back();
      sink_.lines.resize(sink_.lines_reached * (sink_.positions.empty() ? 0 : 1));
      ASSERT_TRUE(walk(4, from));
      if (ranges.first == kWhole.first) {
        EXPECT_EQ(sink_.lines, all) << from.metric << ' ' << from.time;
      } else {
        EXPECT_EQ(sorted(sink_.lines), sorted(all)) << from.metric << ' ' << from.time;
      }
    }
  }
}

TEST_F(SourceWalkTest, ResumesAtAMetricThatIsGone) {
  ASSERT_TRUE(walk(2, {.metric = "edge", .time = 50'000'000}));
  for (const std::string& line : sink_.lines) EXPECT_FALSE(line.starts_with("dense")) << line;
  EXPECT_EQ(sink_.lines.size(), 2U + 50U + 300U);
}

TEST_F(SourceWalkTest, EndsAtAnError) {
  source_.trouble = [](const SourceSlice& slice) -> std::optional<Error> {
    if (slice.metric != "sparse") return std::nullopt;
    return Error{Errc::kUnavailable, "the disk is gone", {}};
  };
  const auto walked = walk();
  ASSERT_FALSE(walked);
  EXPECT_EQ(walked.error().message, "the disk is gone");
  for (const std::string& line : sink_.lines) EXPECT_FALSE(line.starts_with("sparse")) << line;
}

TEST_F(SourceWalkTest, HasNothingToRead) {
  ASSERT_TRUE(walk_source(source_, sink_, {.range = {.begin = 5, .end = 5}, .from = {}}));
  EXPECT_TRUE(source_.reads().empty());
  ScriptedSource none;
  ASSERT_TRUE(walk_source(none, sink_, {.range = {.begin = 0, .end = kEnd}, .from = {}}));
  EXPECT_TRUE(sink_.lines.empty());
}

}  // namespace
}  // namespace halite::app
