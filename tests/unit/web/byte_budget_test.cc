#include "web/http/byte_budget.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

TEST(ByteBudget, TheMaximumAndOneMore) {
  ByteBudget budget(100);
  ByteBudget::Share first(budget);
  ByteBudget::Share second(budget);
  EXPECT_TRUE(first.grow_to(60));
  EXPECT_TRUE(first.grow_to(50));  // it has them already
  EXPECT_TRUE(second.grow_to(40));
  EXPECT_FALSE(second.grow_to(41));
  EXPECT_EQ(budget.left(), 0u);
  first.give_back();
  EXPECT_TRUE(second.grow_to(100));
  EXPECT_FALSE(first.grow_to(1));
}

TEST(ByteBudget, SharesGiveBackAtTheirEnd) {
  ByteBudget budget(100);
  {
    ByteBudget::Share share(budget);
    ASSERT_TRUE(share.grow_to(100));
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(ByteBudget, NothingIsLostAmongThreads) {
  ByteBudget budget(1'000);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&budget] {
      for (int i = 0; i < 10'000; ++i) {
        ByteBudget::Share share(budget);
        if (share.grow_to(200)) (void)share.grow_to(400);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace halite::web
