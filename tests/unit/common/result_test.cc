#include "common/result.h"

#include <gtest/gtest.h>

namespace halite {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(Errc::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  TRY(const int first, half(number));
  TRY(const int second, half(first));
  return second;
}

Result<void> must_halve(int number) {
  TRY_VOID(half(number));
  return {};
}

TEST(Result, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_TRUE(must_halve(2));
  EXPECT_FALSE(must_halve(1));
}

}  // namespace
}  // namespace halite
