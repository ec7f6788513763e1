#include "common/java/java_properties.h"

#include <map>

#include <gtest/gtest.h>

namespace halite {
namespace {

using Map = std::map<std::string, std::string>;

Map parsed(std::string_view text) {
  const Result<std::vector<JavaProperty>> properties = parse_java_properties(text);
  EXPECT_TRUE(properties);
  Map map;
  if (!properties) return map;
  for (const JavaProperty& property : *properties) map[property.key] = property.value;
  return map;
}

TEST(JavaProperties, separators) {
  EXPECT_EQ(
      parsed("a=1\nb = 2\nc: 3\nd 4\ne\t=\t5\nf==6\ng = : 7"),
      (Map{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}, {"f", "=6"}, {"g", ": 7"}}));
}

TEST(JavaProperties, nothing) {
  EXPECT_EQ(parsed(""), Map{});
  EXPECT_EQ(parsed("\n \n\t\n"), Map{});
  EXPECT_EQ(parsed("alone"), (Map{{"alone", ""}}));
  EXPECT_EQ(parsed("=x"), (Map{{"", "x"}}));
}

TEST(JavaProperties, comments) {
  EXPECT_EQ(parsed("# a = 1\n  ! b = 2 \\\nc = 3 # not one"), (Map{{"c", "3 # not one"}}));
}

TEST(JavaProperties, spaces_after_a_value_belong_to_it) {
  EXPECT_EQ(parsed("a = 1  \nb=!~*()_: "), (Map{{"a", "1  "}, {"b", "!~*()_: "}}));
}

TEST(JavaProperties, joined_lines) {
  EXPECT_EQ(parsed("a = one, \\\n    two\nb = x\\\\\nc = y\\\r\n  z\r\nd = end\\"),
            (Map{{"a", "one, two"}, {"b", "x\\"}, {"c", "yz"}, {"d", "end"}}));
}

TEST(JavaProperties, a_comment_mark_in_a_joined_line_is_text) {
  EXPECT_EQ(parsed("a = 1\\\n#2"), (Map{{"a", "1#2"}}));
}

TEST(JavaProperties, escapes) {
  EXPECT_EQ(parsed("a\\ b\\=c = \\t\\n\\q\\u00e9\\u20AC\\ud83d\\ude00"),
            (Map{{"a b=c", "\t\nqé€😀"}}));
}

TEST(JavaProperties, bad_unicode_names_its_line) {
  const Result<std::vector<JavaProperty>> properties = parse_java_properties("a=1\nb=\\u12x4");
  ASSERT_FALSE(properties);
  EXPECT_EQ(properties.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(properties.error().message,
            "line 2: \\u must be followed by four hex digits, not \"12x4\"");
  EXPECT_FALSE(parse_java_properties("a=\\u12"));
}

TEST(JavaProperties, latin1) {
  EXPECT_EQ(parsed("a=\xe9"), (Map{{"a", "é"}}));
  EXPECT_EQ(parsed("a=é"), (Map{{"a", "é"}}));
}

TEST(JavaProperties, lines_are_counted) {
  const Result<std::vector<JavaProperty>> properties =
      parse_java_properties("#\na=1\\\n2\n\nb=3\na=4");
  ASSERT_TRUE(properties);
  ASSERT_EQ(properties->size(), 3u);
  EXPECT_EQ((*properties)[0].line, 2u);
  EXPECT_EQ((*properties)[1].line, 5u);
  EXPECT_EQ((*properties)[2].key, "a");
}

TEST(JavaProperties, a_missing_file_is_named) {
  const Result<std::vector<JavaProperty>> properties = read_java_properties("/no/such.conf");
  ASSERT_FALSE(properties);
  EXPECT_EQ(properties.error().message, "cannot read /no/such.conf: No such file or directory");
}

}  // namespace
}  // namespace halite
