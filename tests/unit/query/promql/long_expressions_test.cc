// Expressions that are long or deep: they have a tree, or an error that names a limit.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/promql/parse.h"
#include "query/promql/print.h"
#include "tests/support/sanitized.h"

namespace halite::query::promql {
namespace {

using testing::HasSubstr;

constexpr std::size_t kMany = test::kSanitized ? 10'000 : 100'000;  // too many for a stack
constexpr std::size_t kManyLong = test::kSanitized ? 3000 : 10'000;

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

ParseOptions any_size() {
  ParseOptions options;
  options.bytes_max = std::size_t{1} << 24;
  options.experimental = true;
  return options;
}

TEST(LongExpressions, OperatorsInARowAreNoNesting) {
  for (const std::string_view chained :
       {" + a", " ^ a", " or a", " * 2 + a", " + a ^ 2", " == bool on (x) a", " ^ 2 * a",
        " and a == a + a * a ^ a", " - fill (1) a"}) {
    const bool is_short = chained.size() <= std::string_view(" or a").size();
    const std::string text = "a" + repeated(chained, is_short ? kMany : kManyLong);
    const auto parsed = parse(text, any_size());
    ASSERT_TRUE(parsed) << chained << ": " << parsed.error().message;
    EXPECT_TRUE(resolve_durations(**parsed, 0, 0));
    const std::string printed = print(**parsed);
    const auto again = parse(printed, any_size());
    ASSERT_TRUE(again) << chained << ": " << again.error().message;
    EXPECT_EQ(print(**again), printed);
    EXPECT_GT(tree_json(**parsed).size(), text.size());
    const auto lines = pretty(**parsed);
    ASSERT_FALSE(lines);
    EXPECT_THAT(lines.error().message, HasSubstr("format its parts"));
  }
}

TEST(LongExpressions, LinesOfAChainAreIndented) {
  const auto parsed = parse("a" + repeated(" + a", 1000), any_size());
  ASSERT_TRUE(parsed);
  const auto lines = pretty(**parsed);
  ASSERT_TRUE(lines) << lines.error().message;
  const auto again = parse(*lines, any_size());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(print(**again), print(**parsed));
}

TEST(LongExpressions, NestingHasALimit) {
  struct Nested {
    std::string_view before;
    std::string_view inside;
    std::string_view behind;
  };
  for (const Nested& one : std::vector<Nested>{{"(", "a", ")"},
                                               {"-", "a", ""},
                                               {"- + ", "a", ""},
                                               {"a ^ -", "a", ""},
                                               {"sum(", "a", ")"},
                                               {"abs(-(", "a", "))"},
                                               {"(a + ", "a", ")"},
                                               {"(", "a", " or a)"},
                                               {"", "a", "[5m:]"},
                                               {"rate(", "a", "[5m:])"},
                                               {"topk(1, ", "a", ")"},
                                               {"", "a[5m", " + 5m"},
                                               {"", "a[5m", " ^ 5m"},
                                               {"", "a offset -(5m", " - (5m"},
                                               {"(", "", ""},
                                               {"sum by (a) (", "", ""},
                                               {"", "a[", "("},
                                               {"", "a[", "-"}}) {
    const std::string text =
        repeated(one.before, kMany) + std::string(one.inside) + repeated(one.behind, kMany);
    const auto parsed = parse(text, any_size());
    ASSERT_FALSE(parsed) << one.before << one.behind;
    EXPECT_EQ(parsed.error().code, Errc::kTooLarge) << one.before << parsed.error().message;
    EXPECT_THAT(parsed.error().message, HasSubstr("query.promql_depth_max"));
  }
}

TEST(LongExpressions, LongListsAreNoNesting) {
  for (const std::string& text :
       {"sum by (" + repeated("a,", kMany) + "a) (m)", "m{" + repeated("a=\"b\",", kMany) + "}",
        "label_join(m, \"a\", \",\"" + repeated(", \"b\"", kMany) + ")"}) {
    const auto parsed = parse(text, any_size());
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_GT(print(**parsed).size(), kMany);
  }
}

}  // namespace
}  // namespace halite::query::promql
