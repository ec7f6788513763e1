#include "common/gather.h"

#include <latch>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/support/soon.h"

namespace halite {
namespace {

namespace asio = boost::asio;

struct Load {
  std::atomic<int> now = 0;
  std::atomic<int> most = 0;
};

Task<int> twice(int number, Load& load) {
  const int now = ++load.now;
  int most = load.most;
  while (most < now && !load.most.compare_exchange_weak(most, now)) {
  }
  for (int i = 0; i < 3; ++i) co_await asio::post(asio::use_awaitable);
  --load.now;
  if (number % 10 == 3) co_return fail(Errc::kConflict, std::to_string(number));
  co_return number * 2;
}

std::vector<Result<int>> run(int count, std::size_t in_flight_max, Load& load) {
  asio::thread_pool pool(3);
  std::vector<Task<int>> tasks;
  for (int i = 0; i < count; ++i) tasks.push_back(twice(i, load));
  auto outcome =
      asio::co_spawn(pool, gather<int>(std::move(tasks), in_flight_max), asio::use_future);
  return outcome.get();
}

TEST(Gather, KeepsOrderErrorsAndTheLimit) {
  for (const int count : {0, 1, 2, 5, 500}) {
    Load load;
    const std::vector<Result<int>> outcomes = run(count, 5, load);
    ASSERT_EQ(outcomes.size(), static_cast<std::size_t>(count));
    EXPECT_LE(load.most, 5);
    for (int i = 0; i < count; ++i) {
      const Result<int>& outcome = outcomes[static_cast<std::size_t>(i)];
      if (i % 10 == 3) {
        ASSERT_FALSE(outcome);
        EXPECT_EQ(outcome.error().message, std::to_string(i));
      } else {
        ASSERT_TRUE(outcome);
        EXPECT_EQ(*outcome, i * 2);
      }
    }
  }
}

// Each waits until all have begun.
Task<int> meet(std::atomic<int>& begun, Completion all_begun, int count) {
  if (++begun == count) all_begun.finish({});
  CO_TRY_VOID(co_await all_begun.wait());
  co_return 1;
}

TEST(Gather, RunsSideBySide) {
  constexpr int kCount = 8;
  asio::thread_pool pool(1);
  std::atomic<int> begun = 0;
  const Completion all_begun;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < kCount; ++i) tasks.push_back(meet(begun, all_begun, kCount));
  auto met = asio::co_spawn(pool, gather<int>(std::move(tasks), kCount), asio::use_future);
  for (const Result<int>& outcome : met.get()) EXPECT_TRUE(outcome);
}

// Blocks its thread until both have begun.
Task<bool> meet_blocking(std::latch& begun) {
  begun.count_down();
  co_return test::soon([&begun] { return begun.try_wait(); });
}

TEST(Gather, UsesAllThreadsOfAPool) {
  asio::thread_pool pool(2);
  std::latch begun(2);
  std::vector<Task<bool>> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(meet_blocking(begun));
  auto met = asio::co_spawn(pool, gather<bool>(std::move(tasks), 2), asio::use_future);
  for (const Result<bool>& outcome : met.get()) EXPECT_TRUE(outcome && *outcome);
}

}  // namespace
}  // namespace halite
