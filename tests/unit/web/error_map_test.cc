#include "web/error_map.h"

#include <gtest/gtest.h>

#include "web/json_text.h"

namespace halite::web {
namespace {

TEST(ErrorMap, EveryCodeHasAStatus) {
  EXPECT_EQ(http_status(Errc::kNotFound), 404);
  EXPECT_EQ(http_status(Errc::kInvalidArgument), 400);
  EXPECT_EQ(http_status(Errc::kTooLarge), 413);
  EXPECT_EQ(http_status(Errc::kConflict), 409);
  EXPECT_EQ(http_status(Errc::kUnavailable), 503);
  EXPECT_EQ(http_status(Errc::kTimeout), 408);
  EXPECT_EQ(http_status(Errc::kOverloaded), 503);
  EXPECT_EQ(http_status(Errc::kCorruption), 500);
  EXPECT_EQ(http_status(Errc::kUnsupported), 501);
  EXPECT_EQ(http_status(Errc::kCancelled), 503);
  EXPECT_EQ(http_status(Errc::kInternal), 500);
}

TEST(ErrorMap, EnvelopeLeavesOutWhatIsEmpty) {
  EXPECT_EQ(error_envelope(404, "Endpoint not found", ""),
            R"({"error":{"code":404,"message":"Endpoint not found"}})");
  EXPECT_EQ(error_envelope(400, "m", "d"), R"({"error":{"code":400,"message":"m","details":"d"}})");
  EXPECT_EQ(error_envelope(400, "m", "d", "t\n\tu"),
            R"({"error":{"code":400,"message":"m","details":"d","trace":"t\n\tu"}})");
}

TEST(ErrorMap, PagesEscapeWhatTheyShow) {
  EXPECT_EQ(error_page("a<b", "\"x\" & 'y'").find("a<b"), std::string::npos);
  EXPECT_NE(error_page("t", "\"x\" & 'y'").find("&quot;x&quot; &amp; &#39;y&#39;"),
            std::string::npos);
  EXPECT_EQ(legacy_error_json("a\"b"), R"({"err":"a\"b"})");
}

TEST(JsonText, EscapesOnlyWhatOpenTsdbEscapes) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("a/b<c>"), R"("a/b<c>")");
  EXPECT_EQ(json_string("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(json_string(std::string("\x00\x1f\x0b", 3)), R"("\u0000\u001F\u000B")");
  EXPECT_EQ(json_string("\x7f"), "\"\x7f\"");
}

TEST(JsonText, KeepsUtf8AndTakesOtherBytesAsLatin1) {
  EXPECT_EQ(json_string("zürich €😀"), "\"zürich €😀\"");
  EXPECT_EQ(json_string("z\xfcrich"), "\"zürich\"");
  EXPECT_EQ(json_string("\xc3"), "\"\xc3\x83\"");              // a sequence that is cut
  EXPECT_EQ(json_string("\xc0\x80"), "\"\xc3\x80\xc2\x80\"");  // longer than needed
  EXPECT_EQ(json_string("\xed\xa0\xbd!"), R"("\uD83D!")");     // half a pair
  EXPECT_EQ(json_string("\xf5\x80\x80\x80").size(), 10u);      // past the last character
}

}  // namespace
}  // namespace halite::web
