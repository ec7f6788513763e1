#include "query/selector/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::query {
namespace {

using storage::FilterType;
using storage::TagFilter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string printed(const Selector& selector) {
  std::string text;
  for (const LabelMatcher& matcher : selector.matchers) {
    text += matcher.name() + std::string(match_symbol(matcher.kind())) + matcher.value() + ';';
  }
  return text;
}

std::string parsed(std::string_view text) {
  const auto selector = parse_selector(text, {});
  return selector ? printed(*selector) : selector.error().message;
}

LabelMatcher matcher(MatchKind kind, std::string value) {
  return LabelMatcher::make("a", kind, std::move(value), storage::Regexps()).value();
}

TEST(Selector, HasTheFormsOfPromql) {
  EXPECT_EQ(parsed("up"), "__name__=up;");
  EXPECT_EQ(parsed(" a:b_1 { } "), "__name__=a:b_1;");
  EXPECT_EQ(parsed(R"(up{a="b",c!='d', e=~`f\.`,g!~"h",})"), "__name__=up;a=b;c!=d;e=~f\\.;g!~h;");
  EXPECT_EQ(parsed(R"({__name__=~"x.*"})"), "__name__=~x.*;");
  EXPECT_EQ(parsed(R"({"na.me"})"), "__name__=na.me;");
  EXPECT_EQ(parsed(R"({"na.me","la.bel"="b"})"), "__name__=na.me;la.bel=b;");
  EXPECT_EQ(parsed(R"({a="b","na.me"})"), "a=b;__name__=na.me;");
  EXPECT_EQ(parsed("up # a comment }\n{a=\"b\"}"), "__name__=up;a=b;");
  EXPECT_EQ(parsed(R"(up{a="b",a!="c"})"), "__name__=up;a=b;a!=c;");
}

TEST(Selector, HasGoStrings) {
  EXPECT_EQ(parsed(R"({a="\a\b\f\n\r\t\v\\\""})"), "a=\a\b\f\n\r\t\v\\\";");
  EXPECT_EQ(parsed(R"({a='\'"'})"), "a='\";");
  EXPECT_EQ(parsed(R"({a="\x41\101\u00e4\U0001F600"})"), "a=AA\u00e4\U0001F600;");
  EXPECT_EQ(parsed("{a=`\\n\n`}"), "a=\\n\n;");
  EXPECT_EQ(parsed(R"({a="\xc3\xa4"})"), "a=\u00e4;");
}

TEST(Selector, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(parsed(""), "byte 1: wants the name of a metric, or {, not the end");
  EXPECT_EQ(parsed("up{a=}"), "byte 6: wants a value in quotes, not \"}\"");
  EXPECT_EQ(parsed("up{a=\"b\""), "byte 9: wants , or }, not the end");
  EXPECT_EQ(parsed("up{a \"b\"}"), "byte 6: wants =, !=, =~ or !~, not \"\"b\"\"");
  EXPECT_EQ(parsed("up{,}"), "byte 4: wants a label or }, not \",\"");
  EXPECT_EQ(parsed("up down"), "byte 4: wants { or the end, not \"down\"");
  EXPECT_EQ(parsed("up{} x"), "byte 6: wants the end, not \"x\"");
  EXPECT_THAT(parsed("sys.cpu"), HasSubstr("byte 4: \".\" has no place here"));
  EXPECT_THAT(parsed("s\u00e4{}"), HasSubstr("byte 2: \"\u00e4\" has no place here"));
  EXPECT_EQ(parsed("{a=\"b}"), "byte 4: a string without an end");
  EXPECT_EQ(parsed("{a=\"b\n\"}"), "byte 4: a string without an end");
  EXPECT_EQ(parsed(R"({a="b\)"), "byte 4: a string without an end");
  EXPECT_EQ(parsed(R"({a="\q"})"), "byte 5: \"\\q\" is no escape; a backslash is written \\\\");
  EXPECT_EQ(parsed(R"({a="\'"})"), "byte 5: \"\\'\" is no escape; a backslash is written \\\\");
  EXPECT_EQ(parsed(R"({a="\x4"})"), "byte 5: the escape needs 2 digits of base 16");
  EXPECT_EQ(parsed(R"({a="\400"})"), "byte 5: an octal escape is at most \\377");
  EXPECT_EQ(parsed(R"({a="\ud800"})"), "byte 5: the escape is no character of Unicode");
  EXPECT_EQ(parsed(R"({a="\xff"})"), "byte 4: the string is not UTF-8");
  EXPECT_THAT(parsed(R"(up{a=~"b("})"), HasSubstr("byte 7: bad regular expression \"b(\" for a: "));
  EXPECT_EQ(parsed(R"(up{__name__="x"})"), "byte 4: a second name of the metric");
  EXPECT_EQ(parsed(R"(up{"x"})"), "byte 4: a second name of the metric");
  EXPECT_EQ(parsed(R"({""})"), "byte 2: the name of the metric is empty");
  EXPECT_EQ(parsed(R"({""="a"})"), "byte 2: the name of the label is empty");
  EXPECT_THAT(parsed(R"(up{a:b="c"})"), HasSubstr("byte 4: wants a label"));
}

TEST(Selector, NamesNotAllSeriesByAccident) {
  for (const char* text : {"{}", R"({a=""})", R"({a=~".*"})", R"({a!="b"})", R"({a!~"b"})"}) {
    EXPECT_THAT(parsed(text), HasSubstr("byte 1: all matchers accept the empty value")) << text;
  }
  EXPECT_EQ(parsed(R"({a=~".+"})"), "a=~.+;");
  EXPECT_EQ(parsed(R"({__name__!=""})"), "__name__!=;");
}

TEST(Selector, HasLimits) {
  EXPECT_EQ(parse_selector("abcd", {.bytes_max = 4}).value().matchers.size(), 1);
  EXPECT_EQ(parse_selector("abcde", {.bytes_max = 4}).error().code, Errc::kTooLarge);
  const auto large =
      parse_selector(R"({a=~"((x{100}){100}){100}"})", {.regexps = storage::Regexps(1000)});
  EXPECT_FALSE(large);
}

TEST(LabelMatcher, ComparesWholeValues) {
  EXPECT_TRUE(matcher(MatchKind::kEqual, "b").matches("b"));
  EXPECT_FALSE(matcher(MatchKind::kEqual, "b").matches("bb"));
  EXPECT_TRUE(matcher(MatchKind::kRegexp, "a|ab").matches("ab"));
  EXPECT_FALSE(matcher(MatchKind::kRegexp, "a|ab").matches("abc"));
  EXPECT_TRUE(matcher(MatchKind::kRegexp, "a.c").matches("a\nc"));
  EXPECT_FALSE(matcher(MatchKind::kNotRegexp, "a.*").matches("abc"));
  EXPECT_TRUE(matcher(MatchKind::kNotRegexp, "a").matches("abc"));
  EXPECT_FALSE(LabelMatcher::make("a", MatchKind::kRegexp, "a)(b", storage::Regexps()));
}

TEST(LabelMatcher, TakesAnAbsentLabelAsEmpty) {
  EXPECT_TRUE(matcher(MatchKind::kEqual, "").matches_absent());
  EXPECT_TRUE(matcher(MatchKind::kNotEqual, "b").matches_absent());
  EXPECT_FALSE(matcher(MatchKind::kNotEqual, "").matches_absent());
  EXPECT_TRUE(matcher(MatchKind::kRegexp, "|b").matches_absent());
  EXPECT_FALSE(matcher(MatchKind::kNotRegexp, "b?").matches_absent());
}

TEST(LabelMatcher, HasAFilterThatTheStoreUnderstands) {
  EXPECT_EQ(matcher(MatchKind::kEqual, "b|c.*").tag_filter(),
            (TagFilter{FilterType::kRegexp, "a", "^b\\|c\\.\\*$"}));
  EXPECT_EQ(matcher(MatchKind::kRegexp, "b|c").tag_filter(),
            (TagFilter{FilterType::kRegexp, "a", "^(?s:b|c)$"}));
  EXPECT_EQ(matcher(MatchKind::kNotEqual, "").tag_filter(),
            (TagFilter{FilterType::kWildcard, "a", "*"}));
  EXPECT_EQ(matcher(MatchKind::kNotEqual, "b").tag_filter(), std::nullopt);
  EXPECT_EQ(matcher(MatchKind::kRegexp, ".*").tag_filter(), std::nullopt);
}

TEST(Selector, KnowsItsMetric) {
  const Selector up = parse_selector(R"(up{a="b",c="",d!="e"})", {}).value();
  ASSERT_NE(up.metric(), nullptr);
  EXPECT_EQ(*up.metric(), "up");
  EXPECT_TRUE(up.matches_metric("up"));
  EXPECT_FALSE(up.matches_metric("u"));
  EXPECT_THAT(up.tag_filters(), ElementsAre(TagFilter{FilterType::kLiteralOr, "a", "b"}));
  EXPECT_FALSE(up.matches_tags({}));
  const Selector any = parse_selector(R"({__name__=~"u.*",__name__!="ux",a!="b"})", {}).value();
  EXPECT_EQ(any.metric(), nullptr);
  EXPECT_TRUE(any.matches_metric("up"));
  EXPECT_FALSE(any.matches_metric("ux"));
  EXPECT_TRUE(any.matches_tags({}));
  EXPECT_THAT(any.tag_filters(), IsEmpty());
}

}  // namespace
}  // namespace halite::query
