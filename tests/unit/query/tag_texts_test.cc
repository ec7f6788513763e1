#include "query/tag_texts.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<TagTexts::KeyValue> all_of(const TagTexts& tags) { return {tags.begin(), tags.end()}; }

TEST(TagTexts, AreByKeyWhateverTheOrderTheyCameIn) {
  TagTexts tags = {{"host", "web1"}, {"dc", "lga"}};
  tags.emplace("rack", "7");
  tags.emplace("az", "b");
  tags.emplace("host", "another");
  EXPECT_THAT(all_of(tags), ElementsAre(Pair("az", "b"), Pair("dc", "lga"), Pair("host", "web1"),
                                        Pair("rack", "7")));
  EXPECT_EQ(tags.size(), 4);
  tags.emplace("az", "c");
  tags.emplace("zone", "");
  tags.emplace("unit", std::string(300, 'u'));
  EXPECT_THAT(all_of(tags), ElementsAre(Pair("az", "b"), Pair("dc", "lga"), Pair("host", "web1"),
                                        Pair("rack", "7"), Pair("unit", std::string(300, 'u')),
                                        Pair("zone", "")));
}

TEST(TagTexts, CopiesAndMovesAreIndependent) {
  TagTexts tags = {{"host", "a"}};
  TagTexts copy = tags;
  TagTexts moved = std::move(tags);
  moved.emplace("rack", "7");
  copy.emplace("dc", "lga");
  EXPECT_THAT(all_of(moved), ElementsAre(Pair("host", "a"), Pair("rack", "7")));
  EXPECT_THAT(all_of(copy), ElementsAre(Pair("dc", "lga"), Pair("host", "a")));
}

TEST(TagTexts, FindOnlyWhatIsThere) {
  TagTexts tags;
  EXPECT_EQ(tags.find("host"), tags.end());
  tags.emplace("host", "web1");
  EXPECT_EQ(tags.find("host")->second, "web1");
  EXPECT_EQ(tags.find("hos"), tags.end());
  EXPECT_EQ(tags.find("hosts"), tags.end());
  tags.clear();
  EXPECT_TRUE(tags.empty());
}

}  // namespace
}  // namespace halite::query
