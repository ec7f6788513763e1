#include "web/http/charset.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMax = 1000;
constexpr std::string_view kSetting = "web.body_bytes_max";

Charset named(std::string_view content_type) {
  const Result<Charset> charset = parse_charset(content_type);
  EXPECT_TRUE(charset) << content_type << ": " << charset.error().message;
  return charset ? *charset : Charset{};
}

Result<std::string> decoded(std::string_view body, std::string_view name,
                            std::size_t bytes_max = kMax) {
  return decode_body(body, named("text/plain; charset=" + std::string(name)), bytes_max, kSetting);
}

std::string decoded_text(std::string_view body, std::string_view name) {
  const Result<std::string> text = decoded(body, name);
  EXPECT_TRUE(text) << name << ": " << text.error().message;
  return text.value_or("");
}

TEST(Charset, IsSaidInManyWays) {
  for (const char* text :
       {"application/json; charset=ISO-8859-1", "application/json;charset=iso-8859-1",
        "application/json; Charset=ISO_8859-1", "application/json; CHARSET=latin1",
        "application/json; charset=\"ISO-8859-1\"; q=1", "application/json; v=2; charset='Latin1'",
        "a/b; x; charset = ISO8859-1 ; boundary=c", "; charset=latin-1"}) {
    EXPECT_EQ(std::string_view(named(text).library), "ISO-8859-1") << text;
  }
  for (const char* text : {"", "application/json", "application/json; charset=UTF-8", "charset=x",
                           "application/json; charset=utf8", "a/b; charset=", "a/b; charset=\"\"",
                           "a/b; xcharset=latin1", "a/b;;"}) {
    EXPECT_EQ(named(text).library, nullptr) << text;
  }
}

TEST(Charset, UnknownOnesAreRefusedByName) {
  // The last ones are charsets that the C library would load.
  for (const char* name : {"klingon", "utf-9", "//TRANSLIT", "ISO-2022-CN-EXT", "UTF-7"}) {
    const Result<Charset> charset = parse_charset("a/b; charset=" + std::string(name));
    ASSERT_FALSE(charset) << name;
    EXPECT_EQ(charset.error().code, Errc::kUnsupported);
    EXPECT_NE(charset.error().message.find(name), std::string::npos) << charset.error().message;
  }
}

TEST(Charset, TextsAreMadeUtf8) {
  EXPECT_EQ(decoded_text("Z\xFCrich", "iso-8859-1"), "Zürich");
  EXPECT_EQ(decoded_text("\x80 1", "windows-1252"), "€ 1");
  EXPECT_EQ(decoded_text("\xA4 1", "iso-8859-15"), "€ 1");
  EXPECT_EQ(decoded_text("\xCC\xEE\xF1\xEA\xE2\xE0", "windows-1251"), "Москва");
  EXPECT_EQ(decoded_text("plain", "us-ascii"), "plain");
  EXPECT_EQ(decoded_text("\x93\x8C\x8B\x9E", "Shift_JIS"), "東京");
  EXPECT_EQ(decoded_text("\xB1\xB1\xBE\xA9", "gbk"), "北京");
  EXPECT_EQ(decoded_text("", "latin1"), "");
}

TEST(Charset, Utf16AndUtf32) {
  EXPECT_EQ(decoded_text("\x5A\x00\xFC\x00"sv, "utf-16le"), "Zü");
  EXPECT_EQ(decoded_text("\x00\x5A\x00\xFC"sv, "utf-16be"), "Zü");
  EXPECT_EQ(decoded_text("\xFF\xFE\x5A\x00\xFC\x00"sv, "utf-16"), "Zü");
  EXPECT_EQ(decoded_text("\xFE\xFF\x00\x5A\x00\xFC"sv, "utf-16"), "Zü");
  EXPECT_EQ(decoded_text("\x00\x5A\x00\xFC"sv, "utf-16"), "Zü");
  EXPECT_EQ(decoded_text("\xD8\x3D\xDE\x00"sv, "UTF-16"), "😀");
  EXPECT_EQ(decoded_text("\x00\x00\x00\xFC"sv, "utf-32"), "ü");
  EXPECT_EQ(decoded_text("\xFF\xFE\x00\x00\xFC\x00\x00\x00"sv, "utf-32"), "ü");
}

TEST(Charset, WhatIsNoTextInItIsRefused) {
  const auto refused = [](std::string_view body, std::string_view name) {
    const Result<std::string> text = decoded(body, name);
    EXPECT_FALSE(text) << name;
    EXPECT_EQ(text.error().code, Errc::kInvalidArgument);
    return text.error().message + ": " + text.error().details;
  };
  EXPECT_EQ(refused("abc\xFC", "us-ascii"),
            "The body is not valid US-ASCII, the charset in its Content-Type: an invalid character "
            "at byte 3: FC");
  EXPECT_EQ(
      refused("\x00\x5A\x00"sv, "utf-16be"),
      "The body is not valid UTF-16BE, the charset in its Content-Type: a truncated character "
      "at byte 2: 00");
  (void)refused("\xD8\x3D"sv, "utf-16be");          // half of a pair
  (void)refused("\xDE\x00\x00\x5A"sv, "utf-16be");  // the second half first
  (void)refused("\x00\x11\x00\x00"sv, "utf-32be");
  (void)refused("\x81", "windows-1252");
}

TEST(Charset, AtAndOverTheMaximum) {
  for (const std::size_t max : {std::size_t{1}, std::size_t{1000}, std::size_t{200'000}}) {
    EXPECT_EQ(decoded(std::string(max, 'x'), "latin1", max).value_or("").size(), max);
    const Result<std::string> over = decoded(std::string(max + 1, 'x'), "latin1", max);
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::kTooLarge);
  }
  EXPECT_EQ(decoded(std::string(500, '\xFC'), "latin1").value_or("").size(), 1000u);
  const Result<std::string> over = decoded(std::string(501, '\xFC'), "latin1");
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().message,
            "The body is longer than 1000 bytes in UTF-8 (web.body_bytes_max)");
  const Result<std::string> wide = decoded("\xD8\x3D\xDE\x00"sv, "utf-16be", 3);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().code, Errc::kTooLarge);
}

}  // namespace
}  // namespace halite::web
