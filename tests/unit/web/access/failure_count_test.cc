#include "web/access/failure_count.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

constexpr FailureCount::Limits kLimits{.failures_max = 2, .window_ms = 1000, .addresses_max = 2};

TEST(FailureCount, HoldsAnAddressBackUntilItsTimeIsOver) {
  FailureCount failures(kLimits);
  EXPECT_EQ(failures.wait_ms("a", 0), 0);
  failures.add("a", 100);
  EXPECT_EQ(failures.wait_ms("a", 100), 0);
  failures.add("a", 600);
  EXPECT_EQ(failures.wait_ms("a", 600), 500);
  EXPECT_EQ(failures.wait_ms("b", 600), 0);
  EXPECT_EQ(failures.wait_ms("a", 1100), 0);
  failures.add("a", 1100);  // the first of a new time
  EXPECT_EQ(failures.wait_ms("a", 1100), 0);
}

TEST(FailureCount, OneClientHasAWholeNetworkOfIpv6) {
  FailureCount failures(kLimits);
  failures.add("2001:db8:0:1::1", 0);
  failures.add("2001:db8:0:1:ffff::2", 0);
  EXPECT_EQ(failures.wait_ms("2001:db8:0:1::3", 0), 1000);
  EXPECT_EQ(failures.wait_ms("2001:db8:0:2::1", 0), 0);
}

TEST(FailureCount, AClockSetBackHoldsNobodyForLong) {
  FailureCount failures(kLimits);
  failures.add("a", 1'000'000);
  failures.add("a", 1'000'000);
  EXPECT_EQ(failures.wait_ms("a", 5), 0);
}

TEST(FailureCount, KeepsSoManyAddressesAndForgetsTheOldest) {
  FailureCount failures(kLimits);
  for (int i = 0; i < 2; ++i) failures.add("a", 0);
  for (int i = 0; i < 2; ++i) failures.add("b", 10);
  failures.add("c", 20);
  EXPECT_EQ(failures.wait_ms("a", 20), 0);
  EXPECT_EQ(failures.wait_ms("b", 20), 990);
  failures.add("d", 1005);  // b is not over yet, c neither: the older one goes
  EXPECT_EQ(failures.wait_ms("b", 1005), 0);
}

}  // namespace
}  // namespace halite::web
