#include "web/json/json_in.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(JsonIn, ValuesAsText) {
  const auto fields = parse_flat_object(
      R"({"type":"metrics","max":5,"big":1.5,"flag":true,"none":null,"list":[1],"o":{"a":1}})");
  ASSERT_TRUE(fields);
  const std::map<std::string, std::string> expected = {
      {"type", "metrics"}, {"max", "5"}, {"big", "1.5"}, {"flag", "true"}};
  EXPECT_EQ(*fields, expected);
  EXPECT_TRUE(parse_flat_object("{}")->empty());
}

TEST(JsonIn, WhatIsNoObject) {
  EXPECT_EQ(parse_flat_object("").error().message, "Missing message content");
  EXPECT_EQ(parse_flat_object("").error().details,
            "Supply valid JSON formatted data in the body of your request");
  for (const char* body : {"abc", "[]", "\"x\"", "{", "{\"a\":1x}", " ", "nul"}) {
    const auto fields = parse_flat_object(body);
    ASSERT_FALSE(fields) << body;
    EXPECT_EQ(fields.error().message, "Unable to parse the given JSON") << body;
    EXPECT_FALSE(fields.error().details.empty()) << body;
  }
}

TEST(JsonIn, WhatStandsBehindTheObjectMeansNothing) {
  for (const char* body : {"{\"a\":1}x", "{\"a\":1};", " {\"a\":1}{\"a\":2}", "{\"a\":1}}",
                           "{\"a\":1,\"b\":[\"}\"]} \xFF"}) {
    const auto fields = parse_flat_object(body);
    ASSERT_TRUE(fields) << body;
    EXPECT_EQ(fields->at("a"), "1") << body;
  }
}

TEST(JsonIn, NumbersThatAreNoneAreTexts) {
  const auto fields = parse_flat_object("{\"a\":NaN,\"b\":[Infinity],\"c\": -Infinity}");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->at("a"), "NaN");
  EXPECT_EQ(fields->at("c"), "-Infinity");
  EXPECT_FALSE(parse_flat_object("{\"a\":xNaN}"));
  EXPECT_FALSE(parse_flat_object("{\"a\":NaNx}"));
}

TEST(JsonIn, Depth) {
  const auto nested = [](int depth) {
    return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_TRUE(parse_flat_object(nested(10)));
  EXPECT_FALSE(parse_flat_object(nested(1'000'000)));
}

TEST(JsonIn, Lookup) {
  const auto body = parse_lookup_body(
      R"({"metric":"m","tags":[{"key":"k","value":"v"},{"key":"*"},{}],"limit":3})");
  ASSERT_TRUE(body);
  EXPECT_EQ(body->fields.at("metric"), "m");
  EXPECT_EQ(body->fields.at("limit"), "3");
  const std::vector<std::pair<std::string, std::string>> tags = {{"k", "v"}, {"*", ""}, {"", ""}};
  EXPECT_EQ(body->tags, tags);
  EXPECT_FALSE(parse_lookup_body("{}")->has_tags);
  EXPECT_FALSE(parse_lookup_body(R"({"tags":[1]})"));
}

}  // namespace
}  // namespace halite::web
