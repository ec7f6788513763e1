#include "web/tag_cardinality.h"

#include <vector>

#include <gtest/gtest.h>

#include "storage/catalog/series_table.h"

namespace halite::web {
namespace {

using storage::SeriesTag;

// Series of metric 1, as a store has them.
class SeriesShapeTest : public testing::Test {
 protected:
  void add(std::vector<SeriesTag> tags) {
    storage::NewSeries series{.metric_uid = 1, .metric = "m", .tsuid = {}, .tags = std::move(tags)};
    series.tsuid = Bytes("\0\0\1", 3);
    for (const SeriesTag& tag : series.tags) {
      series.tsuid += Bytes("\0\0", 2) + static_cast<char>(tag.key_uid);
      series.tsuid += Bytes("\0\0", 2) + static_cast<char>(tag.value_uid);
    }
    const Result<storage::SeriesId> id = table_.add(series);
    ASSERT_TRUE(id);
    shape_.add(table_.at(*id));
  }

  storage::SeriesTable table_{{}};
  TagCardinality shape_;
};

constexpr SeriesTag tag(std::string_view key, std::uint64_t key_uid, std::string_view value,
                        std::uint64_t value_uid) {
  return {.key = key, .value = value, .key_uid = key_uid, .value_uid = value_uid};
}

TEST_F(SeriesShapeTest, nothing_has_no_keys) {
  EXPECT_EQ(shape_.series(), 0U);
  EXPECT_TRUE(shape_.keys().empty());
}

TEST_F(SeriesShapeTest, values_are_counted_and_the_most_come_first) {
  add({tag("dc", 1, "lga", 10), tag("host", 2, "b", 20)});
  add({tag("dc", 1, "lga", 10), tag("host", 2, "a", 21)});
  add({tag("dc", 1, "ams", 11)});
  EXPECT_EQ(shape_.series(), 3U);
  const std::vector<TagCardinality::Key> keys = shape_.keys();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].name, "dc");
  EXPECT_EQ(keys[0].series, 3U);
  ASSERT_EQ(keys[0].values.size(), 2U);
  EXPECT_EQ(keys[0].values[0].name, "lga");
  EXPECT_EQ(keys[0].values[0].series, 2U);
  EXPECT_EQ(keys[1].series, 2U);
  EXPECT_EQ(keys[1].values[0].name, "a");  // of as many by name
}

TEST(ContainsText, case_is_not_minded) {
  EXPECT_TRUE(contains_text("sys.CPU.user", "cpu"));
  EXPECT_TRUE(contains_text("cpu", "cpu"));
  EXPECT_TRUE(contains_text("", ""));
  EXPECT_FALSE(contains_text("", "a"));
  EXPECT_FALSE(contains_text("cp", "cpu"));
}

}  // namespace
}  // namespace halite::web
