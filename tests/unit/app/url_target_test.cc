#include "app/bulk/url_target.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/formats/number_text.h"
#include "tests/support/test_server.h"

namespace halite::app {
namespace {

using testing::HasSubstr;

constexpr TimestampMs kFirst = 1'356'998'400'000;

class UrlTargetTest : public ::testing::Test {
 protected:
  [[nodiscard]] Result<std::unique_ptr<UrlTarget>> open() const {
    TRY(Peer peer, make_peer(fmt::format("http://127.0.0.1:{}", server_.port()), {}));
    return UrlTarget::open(std::move(peer), {}, {});
  }
  ingest::Imported store(const std::vector<ingest::SeriesPoints>& points) const {
    const auto target = open();
    EXPECT_TRUE(target) << target.error().message;
    if (!target) return {};
    const auto part = (*target)->new_part();
    part->add(points);
    const auto imported = part->store();
    EXPECT_TRUE(imported) << imported.error().message;
    return imported.value_or(ingest::Imported());
  }
  static ingest::SeriesPoints series(std::string host, std::vector<double> values) {
    ingest::SeriesPoints made;
    made.series = {.metric = "m", .tags = {{.key = "host", .value = std::move(host)}}};
    for (const double value : values) {
      const auto step = static_cast<TimestampMs>(made.points.size());
      made.points.push_back(ingest::double_point(kFirst + 1000 * step, double_bits(value)));
    }
    return made;
  }

  test::TestServer server_;
};

// The server says which half of the character is illegal.
TEST_F(UrlTargetTest, NamesASeriesWithACharacterOfTwoUnits) {
  const ingest::Imported imported = store({series("a", {1}), series("😀", {2}), series("b", {3})});
  EXPECT_EQ(imported.points, 2U);
  ASSERT_EQ(imported.refused.size(), 1U);
  EXPECT_EQ(imported.refused[0].line, 2U);
  EXPECT_FALSE(imported.refused[0].passes);
  EXPECT_EQ(imported.refused[0].reason,
            "Invalid tag value with key [host] (\"😀\"): illegal character: \uFFFD");
}

// One entry for each series and reason.
TEST_F(UrlTargetTest, CountsThePointsOfASeries) {
  const double nan = std::nan("");
  ingest::SeriesPoints no_tags = series("", {1, 2, 3});
  no_tags.series.tags.clear();
  const ingest::Imported imported =
      store({series("a", {nan, 1, nan, 2, nan}), no_tags, series("!", {5, nan, 6})});
  EXPECT_EQ(imported.points, 2U);
  ASSERT_EQ(imported.refused.size(), 4U);
  const auto is = [&imported](std::size_t at, std::uint32_t line, std::uint64_t points) {
    EXPECT_EQ(imported.refused[at].line, line);
    EXPECT_EQ(imported.refused[at].points, points) << imported.refused[at].reason;
  };
  is(0, 1, 3);
  is(1, 2, 3);
  is(2, 3, 1U + (imported.refused[2].reason.starts_with("Invalid") ? 1U : 0U));
  is(3, 3, 1U + (imported.refused[3].reason.starts_with("Invalid") ? 1U : 0U));
  EXPECT_EQ(imported.refused[0].reason, "/api/put takes neither NaN nor infinity");
  EXPECT_EQ(imported.refused[1].reason, "Missing tags");
}

// Also where a name has only half of one.
TEST_F(UrlTargetTest, NamesASeriesWithHalfACharacter) {
  const ingest::Imported imported = store({series("a", {1}), series("x\xED\xA0\xBD", {2})});
  EXPECT_EQ(imported.points, 1U);
  ASSERT_EQ(imported.refused.size(), 1U);
  EXPECT_EQ(imported.refused[0].line, 2U);
  EXPECT_THAT(imported.refused[0].reason, HasSubstr("illegal character"));
}

}  // namespace
}  // namespace halite::app
