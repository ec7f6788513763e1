#include "web/access/authorization.h"

#include <gtest/gtest.h>

#include "common/bytes/base64.h"

namespace halite::web {
namespace {

std::string token_of(std::string_view header) {
  const Result<Login> login = parse_authorization(header);
  if (!login || !std::holds_alternative<TokenLogin>(*login)) return "no token";
  return std::get<TokenLogin>(*login).token;
}

std::string pair_in(std::string_view header) {
  const Result<Login> login = parse_authorization(header);
  if (!login || !std::holds_alternative<PasswordLogin>(*login)) return "no pair";
  const auto& [user, password] = std::get<PasswordLogin>(*login);
  return user + " and " + password;
}

std::string pair_of(std::string_view pair) { return pair_in("Basic " + to_base64(pair)); }

TEST(Authorization, IsATokenOrANameWithAPassword) {
  EXPECT_EQ(token_of("Bearer halite_x"), "halite_x");
  EXPECT_EQ(token_of("bEARER   halite_x  "), "halite_x");
  EXPECT_EQ(pair_of("alice:geheim"), "alice and geheim");
  EXPECT_EQ(pair_of("alice:a:b"), "alice and a:b");
  EXPECT_EQ(pair_of(":"), " and ");
  EXPECT_EQ(token_of("Basic " + to_base64("x:halite_y")), "halite_y");
}

TEST(Authorization, OfInfluxDbIsATokenToo) {
  EXPECT_EQ(token_of("Token halite_x"), "halite_x");
  EXPECT_EQ(token_of("token  halite_x "), "halite_x");
  EXPECT_EQ(token_of("Token other"), "other");
  EXPECT_EQ(token_of("Token "), "");
  EXPECT_EQ(pair_in("Token alice:a:b"), "alice and a:b");
  EXPECT_EQ(token_of("Token alice:halite_y"), "halite_y");
}

TEST(Authorization, OfAnotherKindIsNothing) {
  for (const std::string& wrong :
       {std::string(), std::string("Basic"), std::string("Basic "), "Basic " + to_base64("alice"),
        std::string("Basic a"), std::string("Digest x"), std::string("Bearerx y"),
        std::string("Tokens y")}) {
    const Result<Login> login = parse_authorization(wrong);
    ASSERT_FALSE(login) << wrong;
    EXPECT_EQ(login.error().code, Errc::kUnauthenticated);
  }
}

}  // namespace
}  // namespace halite::web
