#include "query/promql/eval/label_functions.h"

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_budget.h"

namespace halite::query::promql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kRegexpBytesMax = 1 << 20;

Vector labelled_vector(std::initializer_list<Labels> all) {
  Vector vector;
  for (const Labels& labels : all) vector.rows.push_back({.labels = labels, .values = {1}});
  return vector;
}

std::vector<std::string> label_texts(const Vector& vector) {
  std::vector<std::string> texts;
  for (const Row& row : vector.rows) texts.push_back(row.labels.text());
  return texts;
}

// The new value of `t` where the value of `s` is `source`, or the error.
std::string replaced(std::string_view source, std::string_view replacement,
                     std::string_view regexp) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  Vector vector = labelled_vector({{{"s", source}, {"t", "old"}}});
  const auto done = label_replace(vector, "t", replacement, "s", regexp, kRegexpBytesMax, texts);
  return done ? std::string(vector.rows.front().labels.get("t")) : done.error().message;
}

TEST(LabelReplace, ReplacesWhereTheRegularExpressionMatchesAll) {
  EXPECT_EQ(replaced("web-1", "new", "web-.*"), "new");
  EXPECT_EQ(replaced("web-1", "new", "web"), "old");
  EXPECT_EQ(replaced("web-1", "new", "eb-1"), "old");
  EXPECT_EQ(replaced("a\nb", "new", "a.b"), "new");
  EXPECT_EQ(replaced("a\n", "new", "a"), "old");
  EXPECT_EQ(replaced("b", "new", "a|b"), "new");
  EXPECT_EQ(replaced("", "new", ""), "new");
  EXPECT_EQ(replaced("a", "", "a"), "");
}

TEST(LabelReplace, ExpandsAsGoDoes) {
  const auto expanded = [](std::string_view replacement) {
    return replaced("web-1", replacement, "(?P<kind>[a-z]+)-(?P<n>\\d)(x)?");
  };
  EXPECT_EQ(expanded("$1"), "web");
  EXPECT_EQ(expanded("$0"), "web-1");
  EXPECT_EQ(expanded("${2}-$1"), "1-web");
  EXPECT_EQ(expanded("$kind/${n}"), "web/1");
  EXPECT_EQ(expanded("<$1x>"), "<>");
  EXPECT_EQ(expanded("<$1_>"), "<>");
  EXPECT_EQ(expanded("<$1\u00e4>"), "<>");
  EXPECT_EQ(expanded("<${1}x>"), "<webx>");
  EXPECT_EQ(expanded("<$3$4$99999999999>"), "<>");
  EXPECT_EQ(expanded("<$01>"), "<>");
  EXPECT_EQ(expanded("$$1"), "$1");
  EXPECT_EQ(expanded("$"), "$");
  EXPECT_EQ(expanded("a$-b$"), "a$-b$");
  EXPECT_EQ(expanded("${1"), "${1");
  EXPECT_EQ(expanded("${}"), "${}");
  EXPECT_EQ(expanded("${1-}"), "${1-}");
  EXPECT_EQ(expanded("$3"), "");
}

TEST(LabelReplace, ReadsAndMakesLabelsThatAreNotThere) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  Vector vector = labelled_vector({{{"__name__", "own"}, {"team", "x"}}, {{"__name__", "own"}}});
  ASSERT_TRUE(label_replace(vector, "t", "$1-${2}", "team", "(x?)(.*)", kRegexpBytesMax, texts));
  EXPECT_THAT(label_texts(vector),
              ElementsAre(R"({__name__="own", t="x-", team="x"})", R"({__name__="own", t="-"})"));
  ASSERT_TRUE(label_replace(vector, "__name__", "new", "no", "", kRegexpBytesMax, texts));
  EXPECT_EQ(vector.rows[1].labels.text(), R"({__name__="new", t="-"})");
  ASSERT_TRUE(label_replace(vector, "t", "$1$1", "t", "(.*)", kRegexpBytesMax, texts));
  EXPECT_EQ(vector.rows[1].labels.get("t"), "--");
}

TEST(LabelReplace, SaysWhatIsWrong) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  Vector vector;
  EXPECT_EQ(replaced("a", "b", "(a"), "invalid regular expression in label_replace(): (a");
  EXPECT_EQ(label_replace(vector, "", "", "", "a", kRegexpBytesMax, texts).error().message,
            "invalid destination label name in label_replace(): ");
  EXPECT_EQ(label_replace(vector, "\xff", "", "", "a", kRegexpBytesMax, texts).error().code,
            Errc::kInvalidArgument);
  EXPECT_TRUE(label_replace(vector, "a b.\u00e4", "", "", "a", kRegexpBytesMax, texts));
  const auto large = label_replace(vector, "a", "", "", "(a{1000}){1000}", 1 << 12, texts);
  ASSERT_FALSE(large);
  EXPECT_TRUE(large.error().code == Errc::kTooLarge ||
              large.error().code == Errc::kInvalidArgument);
  const auto long_one = label_replace(vector, "a", "", "", "[a-z]{900}", 1 << 12, texts);
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().code, Errc::kTooLarge);
  EXPECT_THAT(long_one.error().message, HasSubstr("query.regexp_bytes_max"));
}

// Each of them doubles a value.
TEST(LabelReplace, EndsWhereAValueIsTooLongOrTheQueryEnds) {
  const auto doubled = [](test::TestBudget& budget) {
    const std::string half(kLabelValueBytesMax / 2, 'x');
    TextArena arena;
    Vector vector = labelled_vector({{{"s", half}}});
    LabelTexts texts(arena, budget);
    for (;;) {
      const auto done = label_replace(vector, "s", "$1$1", "s", "(.*)", kRegexpBytesMax, texts);
      if (!done) return done.error().message;
    }
  };
  test::TestBudget large;
  EXPECT_EQ(doubled(large),
            "a label would have a value of 2097152 bytes; at most 1048576 are possible");
  EXPECT_EQ(large.bytes(), 0);
  test::TestBudget small;
  small.bytes_max = kLabelValueBytesMax;
  EXPECT_EQ(doubled(small), "too many bytes for the test");
  test::TestBudget ended;
  ended.stop();
  EXPECT_EQ(doubled(ended), "the test stopped it");
}

TEST(LabelJoin, AValueMayBeAsLongAsTheLimit) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  const std::string half((kLabelValueBytesMax - 1) / 2 + 1, 'x');
  const std::string rest(kLabelValueBytesMax - half.size() - 1, 'x');
  Vector vector = labelled_vector({{{"a", half}, {"b", rest}}});
  const std::vector<std::string_view> sources = {"a", "b"};
  EXPECT_TRUE(label_join(vector, "t", "-", sources, texts));
  EXPECT_EQ(vector.rows.front().labels.get("t").size(), kLabelValueBytesMax);
  EXPECT_FALSE(label_join(vector, "t", "--", sources, texts));
}

TEST(LabelJoin, JoinsValues) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  const std::vector<std::string_view> sources = {"j", "no", "j"};
  Vector vector = labelled_vector({{{"__name__", "lim"}, {"j", "a"}}, {{"k", "old"}}});
  ASSERT_TRUE(label_join(vector, "k", "/", sources, texts));
  EXPECT_THAT(label_texts(vector),
              ElementsAre(R"({__name__="lim", j="a", k="a//a"})", R"({k="//"})"));
  ASSERT_TRUE(label_join(vector, "k", "/", {}, texts));
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({__name__="lim", j="a"})", "{}"));
  ASSERT_TRUE(label_join(vector, "j", "", sources, texts));
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({__name__="lim", j="aa"})", "{}"));
}

TEST(LabelJoin, SaysWhatIsWrong) {
  TextArena arena;
  test::TestBudget budget;
  LabelTexts texts(arena, budget);
  Vector vector;
  const std::vector<std::string_view> empty = {""};
  EXPECT_EQ(label_join(vector, "", "", empty, texts).error().message,
            "invalid source label name in label_join(): ");
  EXPECT_EQ(label_join(vector, "", "", {}, texts).error().message,
            "invalid destination label name in label_join(): ");
}

TEST(SortByValue, HasNanLastInBothDirections) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Vector vector;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, double>>{
           {"b", 1}, {"c", kNan}, {"a", 1}, {"d", -2}, {"e", kNan}, {"f", 3}}) {
    vector.rows.push_back({.labels = {{name, "1"}}, .values = {value}});
  }
  sort_by_value(vector, false);
  EXPECT_TRUE(vector.ordered);
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({d="1"})", R"({a="1"})", R"({b="1"})",
                                               R"({f="1"})", R"({c="1"})", R"({e="1"})"));
  sort_by_value(vector, true);
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({f="1"})", R"({a="1"})", R"({b="1"})",
                                               R"({d="1"})", R"({c="1"})", R"({e="1"})"));
}

// Values of the label a, sorted by it.
std::vector<std::string> sorted_naturally(const std::vector<std::string>& values, bool descending) {
  Vector vector;
  for (const std::string& value : values) {
    vector.rows.push_back({.labels = {{"a", value}}, .values = {1}});
  }
  const std::vector<std::string_view> names = {"a"};
  sort_by_label(vector, names, descending);
  std::vector<std::string> sorted;
  for (const Row& row : vector.rows) sorted.emplace_back(row.labels.get("a"));
  return sorted;
}

TEST(SortByLabel, ComparesNumbersInside) {
  EXPECT_THAT(sorted_naturally({"a10", "a9", "", "a", "b1", "a9x", "a09", "10", "9"}, false),
              ElementsAre("", "9", "10", "a", "a09", "a9", "a9x", "a10", "b1"));
  EXPECT_THAT(sorted_naturally({"4m5", "4m600", "4m1000"}, true),
              ElementsAre("4m1000", "4m600", "4m5"));
  EXPECT_THAT(sorted_naturally({"1.2.3", "1.111.3", "1.11.3"}, false),
              ElementsAre("1.2.3", "1.11.3", "1.111.3"));
  EXPECT_THAT(sorted_naturally({"99999999999999999999", "100000000000000000000", "0"}, false),
              ElementsAre("0", "99999999999999999999", "100000000000000000000"));
}

TEST(SortByLabel, GoesOnWithTheOtherLabels) {
  Vector vector = labelled_vector({{{"a", "1"}, {"b", "2"}},
                                   {{"a", "2"}, {"b", "1"}},
                                   {{"a", "1"}, {"b", "1"}},
                                   {{"b", "1"}, {"c", "1"}}});
  const std::vector<std::string_view> names = {"b"};
  sort_by_label(vector, names, false);
  EXPECT_TRUE(vector.ordered);
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({a="1", b="1"})", R"({a="2", b="1"})",
                                               R"({b="1", c="1"})", R"({a="1", b="2"})"));
  sort_by_label(vector, names, true);
  EXPECT_THAT(label_texts(vector), ElementsAre(R"({a="1", b="2"})", R"({b="1", c="1"})",
                                               R"({a="2", b="1"})", R"({a="1", b="1"})"));
}

}  // namespace
}  // namespace halite::query::promql
