#include "common/java/java_map.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite {
namespace {

using testing::ElementsAre;

TEST(JavaMap, HashesOfTexts) {
  EXPECT_EQ(java_string_hash(""), 0);
  EXPECT_EQ(java_string_hash("a"), 0x61);
  EXPECT_EQ(java_string_hash("sys"), 0x1BECD);
  EXPECT_EQ(java_string_hash("cpu"), 0x181A8);
  EXPECT_EQ(java_string_hash("Zürich"), -1482116162);
  EXPECT_EQ(java_string_hash("😀"), 0xD83D * 31 + 0xDE00);
}

TEST(JavaMap, OrderOfKeys) {
  EXPECT_THAT(java_map_order({}, 16), ElementsAre());
  EXPECT_THAT(java_map_order({"b", "a"}, 16), ElementsAre("a", "b"));
  // Hashes 0x62 and 0x72 share a bucket of 16, where the first stays first.
  EXPECT_THAT(java_map_order({"r", "b"}, 16), ElementsAre("r", "b"));
  EXPECT_THAT(java_map_order({"r", "b"}, 32), ElementsAre("b", "r"));
}

// From a recorded rename of metric, tagk and name at once: tagk, which comes last, was renamed.
TEST(JavaMap, SmallMapsToo) {
  const auto order = java_map_order({"metric", "tagk", "name"}, 3);
  ASSERT_EQ(order.size(), 3u);
  const auto at = [&order](std::string_view key) { return std::ranges::find(order, key); };
  EXPECT_LT(at("metric"), at("tagk"));
}

TEST(JavaMap, GrowsPastThreeQuarters) {
  std::vector<std::string> keys;
  for (char c = 'a'; c < 'a' + 12; ++c) keys.emplace_back(1, c);
  EXPECT_EQ(java_map_order(keys, 16), keys);
  keys.emplace_back("p");  // 0x70: bucket 0 of 16, 16 of 32
  EXPECT_EQ(java_map_order(keys, 16).back(), "p");
}

}  // namespace
}  // namespace halite
