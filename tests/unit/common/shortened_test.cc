#include "common/bytes/shortened.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(Shortened, IsOneLineOfUtf8) {
  EXPECT_EQ(shortened("old spans"), "old spans");
  EXPECT_EQ(shortened("a\r\nb\x1B[31m\x7F"), "a  b [31m ");
  EXPECT_EQ(shortened("a\xFF"), "a\xEF\xBF\xBD");
  const std::string fits(kSaidBytesMax, 'x');
  EXPECT_EQ(shortened(fits), fits);
  EXPECT_EQ(shortened(fits + "y"), fits + "...");
  const std::string most = fits.substr(1);  // a character is not cut
  EXPECT_EQ(shortened(most + "\xC3\xA4"), most + "...");
}

}  // namespace
}  // namespace halite
