#include "web/access/secret.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/web/access/cheap_cost.h"

namespace halite::web {
namespace {

TEST(Secret, APasswordFitsItsOwnHashAlone) {
  const std::string hash = hash_password("geheim", kCheap).value();
  EXPECT_TRUE(hash.starts_with("$scrypt$ln=4,r=8,p=1$"));
  EXPECT_TRUE(password_fits("geheim", hash));
  EXPECT_FALSE(password_fits("geheiM", hash));
  EXPECT_FALSE(password_fits("", hash));
  EXPECT_FALSE(password_fits(std::string_view("geheim\0", 7), hash));
  EXPECT_FALSE(hash_password(std::string_view("a\0", 2), kCheap));
  EXPECT_NE(hash_password("geheim", kCheap).value(), hash);  // another salt
}

// RFC 7914, section 12, its third example.
TEST(Secret, IsScryptOfTheRfc) {
  const std::string hash =
      "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$"
      "cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofLVQylVYT8Pz2LUlwUk"
      "Kpr55h6F3A1lHkDfzwF7RVdYhw";
  EXPECT_TRUE(password_fits("pleaseletmein", hash));
  EXPECT_FALSE(password_fits("pleaseletmeout", hash));
}

TEST(Secret, HashesThatAreNoneAreRefused) {
  const std::string good = hash_password("x", kCheap).value();
  EXPECT_TRUE(check_password_hash(good));
  for (const std::string& wrong :
       {std::string(), std::string("x"), good.substr(1), good.substr(0, good.rfind('$')),
        good.substr(0, good.size() - 1) + "!",
        std::string("$scrypt$ln=40,r=8,p=1$AAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA"),
        std::string("$scrypt$ln=20,r=64,p=1$AAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA"),
        std::string("$scrypt$ln=0,r=8,p=1$AAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA"),
        std::string("$scrypt$ln=-1,r=8,p=1$AAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAA"),
        std::string("$scrypt$ln=4,r=8,p=1$$")}) {
    EXPECT_FALSE(check_password_hash(wrong)) << wrong;
    EXPECT_FALSE(password_fits("x", wrong)) << wrong;
  }
}

TEST(Secret, TokensAreFreshAndFitForAnyPlace) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = new_token().value();
    EXPECT_TRUE(token.starts_with(kTokenPrefix));
    EXPECT_EQ(
        token.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"),
        std::string::npos);
    EXPECT_TRUE(seen.insert(token).second);
  }
}

}  // namespace
}  // namespace halite::web
