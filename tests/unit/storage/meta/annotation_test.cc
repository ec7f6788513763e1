#include "storage/meta/objects/annotation.h"

#include <gtest/gtest.h>

#include "tests/unit/storage/meta/shown_json.h"

namespace halite::storage {
namespace {

TEST(Annotation, ShownInOpenTsdbsOrder) {
  EXPECT_EQ(shown(*parse_annotation(
                R"({"startTime":1,"endTime":2,"custom":{"b":"2","a":1},"tsuid":"01"})")),
            R"({"tsuid":"01","description":"","notes":"","custom":{"a":"1","b":"2"},)"
            R"("startTime":1,"endTime":2})");
  EXPECT_EQ(shown(*parse_annotation(R"({"description":null,"custom":{"a":null}})")),
            R"({"tsuid":"","notes":"","custom":{"a":null},"startTime":0,"endTime":0})");
}

TEST(Annotation, FieldsAreReadAsLenientlyAsOpenTsdbReadsThem) {
  const auto note = parse_annotation(
      R"({"startTime":" 17 ","endTime":3.9,"description":5,"notes":true,"nosuch":[1]})");
  ASSERT_TRUE(note);
  EXPECT_EQ(note->start_time, 17);
  EXPECT_EQ(note->end_time, 3);
  EXPECT_EQ(note->description, "5");
  EXPECT_EQ(note->notes, "true");
  EXPECT_EQ(parse_annotation(R"({"startTime":null})")->start_time, 0);
  EXPECT_EQ(parse_annotation(R"({"startTime":""})")->start_time, 0);
}

TEST(Annotation, WrongFieldsAreNamed) {
  for (const char* json :
       {R"({"startTime":"abc"})", R"({"startTime":[]})", R"({"custom":"x"})", R"({"notes":{}})",
        R"({"startTime":18446744073709551615})", R"({"startTime":1e30})", "abc", "[]", "", "{"}) {
    EXPECT_FALSE(parse_annotation(std::string_view(json))) << json;
  }
  EXPECT_EQ(parse_annotation(R"({"startTime":"abc"})").error().message,
            R"(the field "startTime" must be a whole number, not "abc")");
}

TEST(Annotation, WhatDiffersFromNothingIsAChange) {
  const auto changes = [](std::string_view json) {
    return AnnotationEdit{*parse_annotation(json)}.changes_anything();
  };
  EXPECT_FALSE(changes(R"({"tsuid":"01","startTime":5})"));
  EXPECT_FALSE(changes(R"({"notes":"","description":"","endTime":0,"custom":null})"));
  EXPECT_TRUE(changes(R"({"notes":"n"})"));
  EXPECT_TRUE(changes(R"({"notes":null})"));
  EXPECT_TRUE(changes(R"({"description":"d"})"));
  EXPECT_TRUE(changes(R"({"endTime":1})"));
  EXPECT_TRUE(changes(R"({"custom":{}})"));
}

TEST(Annotation, TsuidsOfOddLengthGetAZero) {
  EXPECT_EQ(*tsuid_bytes("1aF"), Bytes("\x01\xAF"));
  EXPECT_EQ(*tsuid_bytes(""), Bytes());
  EXPECT_EQ(tsuid_bytes("zz").error().message, "contains illegal character for hexBinary: zz");
}

TEST(Annotation, TimesFromTwoToThe32AreMilliseconds) {
  EXPECT_EQ(to_milliseconds(4'294'967'295), 4'294'967'295'000);
  EXPECT_EQ(to_milliseconds(4'294'967'296), 4'294'967'296);
}

}  // namespace
}  // namespace halite::storage
