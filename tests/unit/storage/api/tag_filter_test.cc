#include "storage/api/tag_filter.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Those of the values that pass.
std::vector<std::string> passing(FilterType type, const std::string& pattern,
                                 const std::vector<std::string>& values) {
  const auto matcher =
      TagMatcher::compile({.type = type, .key = "host", .pattern = pattern}, Regexps());
  if (!matcher) return {"error: " + matcher.error().message};
  std::vector<std::string> passed;
  for (const std::string& value : values) {
    if ((*matcher)->matches(value)) passed.push_back(value);
  }
  return passed;
}

// Values and answers as recorded from OpenTSDB 2.4.1.
const std::vector<std::string> kValues = {"abq", "axbq",  "xabq",     "abxq",    "a",
                                          "b",   "aXbYq", "foo.barq", "foobarq", "barfooq"};

TEST(TagFilter, WildcardAnchorsOnlyBesideOneStar) {
  const auto wildcard = [](const std::string& pattern) {
    return passing(FilterType::kWildcard, pattern, kValues);
  };
  EXPECT_THAT(wildcard("a*b"),
              ElementsAre("abq", "axbq", "xabq", "abxq", "aXbYq", "foo.barq", "foobarq"));
  EXPECT_THAT(wildcard("a*bq"), ElementsAre("abq", "axbq", "xabq"));
  EXPECT_THAT(wildcard("a*"), ElementsAre("abq", "axbq", "abxq", "a", "aXbYq"));
  EXPECT_THAT(wildcard("*b"), ElementsAre("b"));
  EXPECT_THAT(wildcard("*a*bq"), ElementsAre("abq", "axbq", "xabq"));
  EXPECT_THAT(wildcard("foo**barq"), ElementsAre("foo.barq", "foobarq"));
  EXPECT_THAT(wildcard("a*b*"), ElementsAre("abq", "axbq", "abxq", "aXbYq"));
  EXPECT_THAT(wildcard("*.*"), ElementsAre("foo.barq"));
  EXPECT_THAT(wildcard("*x*"), ElementsAre("axbq", "xabq", "abxq"));
  EXPECT_THAT(wildcard("b*a"), ElementsAre("xabq", "foo.barq", "foobarq", "barfooq"));
  EXPECT_THAT(wildcard("foo*foo*"), IsEmpty());
  EXPECT_EQ(wildcard("*"), kValues);
  EXPECT_EQ(wildcard("***"), kValues);
}

TEST(TagFilter, IWildcardFoldsBothSides) {
  EXPECT_THAT(passing(FilterType::kIWildcard, "X*", kValues), ElementsAre("xabq"));
  EXPECT_THAT(passing(FilterType::kIWildcard, "*X*", kValues),
              ElementsAre("axbq", "xabq", "abxq", "aXbYq"));
  EXPECT_THAT(passing(FilterType::kIWildcard, "\xC3\x84*", {"\xC3\xA4q", "\xC3\x84q", "aq"}),
              ElementsAre("\xC3\xA4q", "\xC3\x84q"));
}

TEST(TagFilter, Literals) {
  const std::vector<std::string> values = {"web01", "WEB01", "web02", "db01"};
  EXPECT_THAT(passing(FilterType::kLiteralOr, "web01|db01", values), ElementsAre("web01", "db01"));
  EXPECT_THAT(passing(FilterType::kLiteralOr, "|web01||", values), ElementsAre("web01"));
  EXPECT_THAT(passing(FilterType::kILiteralOr, "Web01", values), ElementsAre("web01", "WEB01"));
  EXPECT_THAT(passing(FilterType::kNotLiteralOr, "web01|db01", values),
              ElementsAre("WEB01", "web02"));
  EXPECT_THAT(passing(FilterType::kNotILiteralOr, "WEB01|DB01", values), ElementsAre("web02"));
}

TEST(TagFilter, RegexpFindsAnywhereAndMindsCase) {
  const std::vector<std::string> values = {"web01", "WEB04", "db01", "db02"};
  EXPECT_THAT(passing(FilterType::kRegexp, "0[12]", values), ElementsAre("web01", "db01", "db02"));
  EXPECT_THAT(passing(FilterType::kRegexp, "^db0[0-9].*$", values), ElementsAre("db01", "db02"));
  EXPECT_THAT(passing(FilterType::kRegexp, "WEB", values), ElementsAre("WEB04"));
  EXPECT_THAT(passing(FilterType::kRegexp, "^$", values), IsEmpty());
  EXPECT_EQ(passing(FilterType::kRegexp, ".*", values), values);
}

TEST(TagFilter, NotKeyMatchesNoSeriesThatHasTheKey) {
  EXPECT_THAT(passing(FilterType::kNotKey, "", {"web01", ""}), IsEmpty());
}

TEST(TagFilter, RefusesPatternsWithoutWhatTheirTypeNeeds) {
  const auto refusal = [](FilterType type, const std::string& pattern) {
    const auto matcher =
        TagMatcher::compile({.type = type, .key = "host", .pattern = pattern}, Regexps());
    return matcher ? Error{} : matcher.error();
  };
  EXPECT_EQ(refusal(FilterType::kLiteralOr, "").message, "Filter cannot be null or empty");
  EXPECT_EQ(refusal(FilterType::kLiteralOr, "|").message,
            "Filter must contain more than just a pipe");
  EXPECT_EQ(refusal(FilterType::kWildcard, "web").message, "Filter must contain an asterisk");
  EXPECT_EQ(refusal(FilterType::kRegexp, "a(b").code, Errc::kInvalidArgument);
  EXPECT_THAT(refusal(FilterType::kRegexp, "a(b").message, HasSubstr("\"a(b\" for host"));
  EXPECT_EQ(refusal(FilterType::kRegexp, "(a)\\1").code, Errc::kInvalidArgument);
}

TEST(TagFilter, RegexpBytesAtTheirMaximumAndOneLess) {
  const TagFilter filter{.type = FilterType::kRegexp, .key = "host", .pattern = "web[0-9]{1,20}"};
  const auto fits = [&filter](std::size_t bytes) {
    return TagMatcher::compile(filter, Regexps(bytes)).has_value();
  };
  std::size_t enough = 1 << 20;
  std::size_t too_little = 1024;  // the least that may be set
  ASSERT_TRUE(fits(enough));
  ASSERT_FALSE(fits(too_little));
  while (enough - too_little > 1) {
    const std::size_t middle = too_little + (enough - too_little) / 2;
    (fits(middle) ? enough : too_little) = middle;
  }
  EXPECT_TRUE(fits(enough));
  const auto refused = TagMatcher::compile(filter, Regexps(enough - 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
  EXPECT_EQ(
      refused.error().message,
      "regular expression \"web[0-9]{1,20}\" for host needs more than " +
          std::to_string(enough - 1) +
          " bytes compiled (query.regexp_bytes_max); write it shorter, or raise that setting");
}

TEST(TagFilter, RegexpProgramIsBounded) {
  const TagFilter filter{
      .type = FilterType::kRegexp, .key = "host", .pattern = "((a{100}){100}){100}"};
  const auto refused = TagMatcher::compile(filter, Regexps(4096));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("regular expression"));
}

TEST(TagFilter, Names) {
  EXPECT_EQ(filter_type_name(FilterType::kLiteralOr), "literal_or");
  EXPECT_EQ(filter_type_name(FilterType::kNotILiteralOr), "not_iliteral_or");
  EXPECT_EQ(filter_type_name(FilterType::kNotKey), "not_key");
  EXPECT_THAT(filter_literals({.key = "host", .pattern = "a||b|"}), ElementsAre("a", "b"));
}

TEST(TagFilter, RegularExpressionsOfARequestShareALimit) {
  const TagFilter large = {.type = FilterType::kRegexp, .key = "host", .pattern = ".{500}"};
  const Regexps regexps;
  const Regexps copy = regexps;
  std::size_t compiled = 0;
  Result<std::shared_ptr<const TagMatcher>> one = TagMatcher::compile(large, regexps);
  for (; one && compiled < 1000; ++compiled) one = TagMatcher::compile(large, copy);
  // Each takes less than all that one may, and more than a fifth of it.
  EXPECT_GE(compiled, Regexps::kTogether);
  EXPECT_LT(compiled, 5 * Regexps::kTogether);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, Errc::kTooLarge);
  EXPECT_THAT(one.error().message, HasSubstr("32 times query.regexp_bytes_max"));
  EXPECT_FALSE(TagMatcher::compile(large, regexps));
  EXPECT_TRUE(TagMatcher::compile(large, Regexps()));
}

}  // namespace
}  // namespace halite::storage
