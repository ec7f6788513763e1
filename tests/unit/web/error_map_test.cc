#include "web/json/error_map.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(http_status(Errc::kUnauthenticated), 401);
  EXPECT_EQ(http_status(Errc::kForbidden), 403);
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

}  // namespace
}  // namespace halite::web
