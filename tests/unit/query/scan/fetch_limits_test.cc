#include "query/scan/fetch_limits.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/limits.h"
#include "tests/support/temp_dir.h"

namespace halite::query {
namespace {

using testing::HasSubstr;

class FetchLimitsTest : public testing::Test {
 protected:
  void write(std::string_view text) { std::ofstream(path_) << text; }

  [[nodiscard]] FetchLimitOptions options() const {
    FetchLimitOptions options;
    options.points_max = 100;
    options.bytes_max = 2 << 20;
    options.overrides = path_;
    options.overrides_interval_ms = 60'000;
    return options;
  }

  test::TempDir directory_;
  std::string path_ = (std::filesystem::path(directory_.path()) / "limits.json").string();
  FakeClock clock_{1'000'000};
};

TEST_F(FetchLimitsTest, TheFirstExpressionThatFindsTheMetricCounts) {
  write(R"([{"regex":"^sys\\.","dataPointsLimit":7},{"regex":"cpu","byteLimit":9}])");
  FetchLimits limits(options(), clock_);
  EXPECT_EQ(limits.of("sys.cpu", false, false).points_max, 7u);
  EXPECT_EQ(limits.of("sys.cpu", false, false).bytes_max, 0u);
  EXPECT_EQ(limits.of("my.cpu.user", false, false).bytes_max, 9u);
  EXPECT_EQ(limits.of("other", false, false).points_max, 100u);
}

TEST_F(FetchLimitsTest, AQuestionSetsAsideOnlyWhatItMay) {
  FetchLimitOptions allowed = options();
  allowed.overrides.clear();
  allowed.points_override = true;
  FetchLimits limits(allowed, clock_);
  EXPECT_EQ(limits.of("m", true, true).points_max, 0u);
  EXPECT_EQ(limits.of("m", true, true).bytes_max, 2u << 20);
}

TEST_F(FetchLimitsTest, TheFileIsReadAgainAndNonsenseChangesNothing) {
  write(R"([{"regex":"m","dataPointsLimit":1}])");
  FetchLimits limits(options(), clock_);
  EXPECT_EQ(limits.of("m", false, false).points_max, 1u);
  write(R"([{"regex":"m","dataPointsLimit":2}])");
  EXPECT_EQ(limits.of("m", false, false).points_max, 1u);
  clock_.advance(60'000);
  EXPECT_EQ(limits.of("m", false, false).points_max, 2u);
  write("nonsense");
  clock_.advance(60'000);
  EXPECT_EQ(limits.of("m", false, false).points_max, 2u);
}

TEST_F(FetchLimitsTest, FaultsAreNamedAtTheStart) {
  const auto fault = [this](std::string_view text) {
    write(text);
    const Result<void> checked = FetchLimits::check(options());
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(fault("[]"), "");
  EXPECT_THAT(fault("{}"), HasSubstr("expected a JSON array"));
  EXPECT_THAT(fault("[1]"), HasSubstr("wanted [{"));
  EXPECT_THAT(fault(R"([{"regex":"("}])"), HasSubstr("\"(\": missing )"));
  EXPECT_THAT(fault(R"([{"regex":"m","byteLimit":-1}])"), HasSubstr("byteLimit is not"));
  std::filesystem::remove(path_);
  EXPECT_THAT(FetchLimits::check(options()).error().message, HasSubstr("query.fetch_overrides"));
  EXPECT_TRUE(FetchLimits::check({}));
}

TEST_F(FetchLimitsTest, TheMeterRefusesOneMoreThanTheMaximum) {
  FetchMeter meter({.points_max = 3, .bytes_max = 0, .free_rows = 0});
  EXPECT_TRUE(meter.add({.points = 3, .rows = 1, .bytes = 30}));
  const FetchMeter::Amount before = meter.fetched();
  const Result<void> more = meter.add({.points = 1, .rows = 1, .bytes = 30});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::kTooLarge);
  meter.go_back(before);
  EXPECT_TRUE(meter.add({.points = 0, .rows = 1, .bytes = 0}));
}

}  // namespace
}  // namespace halite::query
