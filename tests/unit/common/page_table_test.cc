#include "common/page_table.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halite {
namespace {

using Page = std::array<std::uint32_t, 4>;

TEST(PageTable, PagesAreMadeOnceAndEmpty) {
  PageTable<Page> pages(10);
  EXPECT_EQ(pages.used(), 0U);
  EXPECT_EQ(pages.find(9), nullptr);
  const auto [page, is_new] = pages.make(3);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(page, Page{});
  page[1] = 7;
  EXPECT_EQ(pages.used(), 4U);
  EXPECT_FALSE(pages.make(3).is_new);
  EXPECT_EQ((*pages.find(3))[1], 7U);
  EXPECT_EQ(pages.find(2), nullptr);
  pages.make(9);
  pages.make(0);
  EXPECT_EQ(pages.used(), 10U);
}

TEST(PageTable, AllThreadsGetTheSamePage) {
  constexpr std::size_t kPages = 2000;
  PageTable<std::array<std::atomic<int>, 1>> pages(kPages);
  std::atomic<std::size_t> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::size_t number = 0; number < kPages; ++number) {
        const auto [page, is_new] = pages.make(number);
        made += is_new ? 1 : 0;
        ++page[0];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, kPages);
  EXPECT_EQ(pages.used(), kPages);
  for (std::size_t number = 0; number < kPages; ++number) EXPECT_EQ((*pages.find(number))[0], 4);
}

TEST(PageTableDeathTest, NothingIsMadeBeyondTheTable) {
  PageTable<Page> pages(2);
  EXPECT_DEATH(pages.make(2), "a page beyond its table");
}

}  // namespace
}  // namespace halite
