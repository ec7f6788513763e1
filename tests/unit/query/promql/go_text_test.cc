#include "query/promql/go_text.h"

#include <gtest/gtest.h>

namespace halite::query::promql {
namespace {

TEST(GoText, Quotes) {
  EXPECT_EQ(go_quoted(""), R"("")");
  EXPECT_EQ(go_quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(go_quoted("\a\b\t\n\v\f\r\x01\x7f"), R"("\a\b\t\n\v\f\r\x01\x7f")");
  EXPECT_EQ(go_quoted("\xff\xc3"), R"("\xff\xc3")");
  EXPECT_EQ(go_quoted("\xed\xa0\x80"), R"("\xed\xa0\x80")");  // a surrogate
  EXPECT_EQ(go_quoted("\u00e4\U0001F600"), "\"\u00e4\U0001F600\"");
  EXPECT_EQ(go_quoted("\u00a0\u00ad\u2028\ufeff\U000e0001\ue000"),
            R"("\u00a0\u00ad\u2028\ufeff\U000e0001\ue000")");
}

}  // namespace
}  // namespace halite::query::promql
