#include "common/byte_budget.h"

#include <memory>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"

namespace halite {
namespace {

namespace asio = boost::asio;

// Who was admitted, in order.
struct Log {
  std::vector<int> admitted;
  std::vector<int> refused;
};

asio::awaitable<void> take(ByteBudget& budget, std::size_t bytes, int who, Log& log) {
  const Result<void> outcome = co_await budget.acquire(bytes);
  (outcome ? log.admitted : log.refused).push_back(who);
}

class ByteBudgetTest : public testing::Test {
 protected:
  void start(std::size_t bytes, int who) {
    asio::co_spawn(context_, take(budget_, bytes, who, log_), asio::detached);
    run();
  }
  void run() {
    context_.restart();
    context_.poll();
  }

  ByteBudget budget_{100};
  asio::io_context context_;
  Log log_;
};

TEST_F(ByteBudgetTest, AdmitsUpToTheMaximumAndNotOneMore) {
  start(60, 1);
  start(40, 2);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  EXPECT_EQ(budget_.taken_bytes(), 100u);
  budget_.release(40);
  run();
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
  EXPECT_EQ(budget_.taken_bytes(), 61u);
}

TEST_F(ByteBudgetTest, NobodyOvertakes) {
  start(50, 1);
  start(80, 2);
  start(10, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  budget_.release(50);
  run();
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
}

TEST_F(ByteBudgetTest, ARequestOverTheMaximumGoesAlone) {
  start(1, 1);
  start(101, 2);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  budget_.release(1);
  run();
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  budget_.release(101);
  run();
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
}

TEST_F(ByteBudgetTest, ClosingRefusesThoseInLineAndLater) {
  start(100, 1);
  start(1, 2);
  budget_.close("the store is closed");
  run();
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  EXPECT_EQ(log_.refused, (std::vector{2, 3}));
  const Result<void> refused = test::run_task(budget_.acquire(1));
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_EQ(refused.error().message, "the store is closed");
}

Task<void> take_and_give_back(ByteBudget& budget, std::size_t bytes, int times) {
  for (int i = 0; i < times; ++i) {
    CO_TRY_VOID(co_await budget.acquire(bytes));
    if (budget.taken_bytes() > 100) co_return fail(Errc::kInternal, "over the maximum");
    budget.release(bytes);
  }
  co_return Result<void>();
}

TEST_F(ByteBudgetTest, HoldsBetweenThreads) {
  std::vector<Task<void>> tasks;
  for (std::size_t i = 1; i <= 10; ++i) tasks.push_back(take_and_give_back(budget_, i * 10, 200));
  for (const Result<void>& outcome : test::run_tasks(std::move(tasks), 4)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  EXPECT_EQ(budget_.taken_bytes(), 0u);
}

}  // namespace
}  // namespace halite
