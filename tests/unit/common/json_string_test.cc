#include "common/json_string.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(JsonString, EscapesOnlyWhatOpenTsdbEscapes) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a/b<c>"), R"("a/b<c>")");
  EXPECT_EQ(json_string("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(json_string(std::string("\x00\x1f\x0b", 3)), R"("\u0000\u001F\u000B")");
  EXPECT_EQ(json_string("\x7f"), "\"\x7f\"");
}

TEST(JsonString, KeepsUtf8AndTakesOtherBytesAsLatin1) {
  EXPECT_EQ(json_string("zürich €😀"), "\"zürich €\\uD83D\\uDE00\"");
  EXPECT_EQ(json_string("z\xfcrich"), "\"zürich\"");
  EXPECT_EQ(json_string("\xc3"), "\"\xc3\x83\"");              // a sequence that is cut
  EXPECT_EQ(json_string("\xc0\x80"), "\"\xc3\x80\xc2\x80\"");  // longer than needed
  EXPECT_EQ(json_string("\xed\xa0\xbd!"), R"("\uD83D!")");     // half a pair
  EXPECT_EQ(json_string("\xf5\x80\x80\x80").size(), 10u);      // past the last character
}

TEST(JsonString, WhatLiesOutsideTheBasicPlaneIsTwoUnits) {
  EXPECT_EQ(json_string("\xf0\x90\x80\x80"), R"("\uD800\uDC00")");  // U+10000
  EXPECT_EQ(json_string("\xf4\x8f\xbf\xbf"), R"("\uDBFF\uDFFF")");  // U+10FFFF
  EXPECT_EQ(json_string("\xef\xbf\xbf"), "\"\xef\xbf\xbf\"");       // U+FFFF
}

}  // namespace
}  // namespace halite
