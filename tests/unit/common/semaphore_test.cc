#include "common/threads/semaphore.h"

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/support/run_task.h"

namespace halite {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Who was admitted, in order, with what they hold.
struct Log {
  std::vector<int> admitted;
  std::vector<int> refused;
  std::vector<Semaphore::Permit> passes;  // as in `admitted`
};

asio::awaitable<void> take(std::shared_ptr<Semaphore> gate, SemaphoreLoad load, int who, Log& log) {
  Result<Semaphore::Permit> pass = co_await gate->enter(load);
  (pass ? log.admitted : log.refused).push_back(who);
  if (pass) log.passes.push_back(std::move(*pass));
}

class GateTest : public testing::Test {
 protected:
  void start(std::size_t bytes, int who) { start(SemaphoreLoad{1, bytes}, who); }
  void start(SemaphoreLoad load, int who) {
    asio::co_spawn(context_, take(semaphore_, load, who, log_), asio::detached);
    run();
  }
  void run() {
    context_.restart();
    context_.poll();
  }
  void leave(std::size_t index) {
    log_.passes[index] = Semaphore::Permit();
    run();
  }

  const std::shared_ptr<Semaphore> semaphore_ = std::make_shared<Semaphore>(SemaphoreLoad{10, 100});
  Log log_;
  asio::io_context context_;
};

TEST_F(GateTest, AdmitsUpToTheMaximumAndNotOneMore) {
  start(60, 1);
  start(40, 2);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  EXPECT_EQ(semaphore_->under_way().bytes, 100u);
  leave(1);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
  EXPECT_EQ(semaphore_->under_way().bytes, 61u);
}

TEST_F(GateTest, ItemsCountAsWellAsBytes) {
  start(SemaphoreLoad{9, 1}, 1);
  start(SemaphoreLoad{1, 1}, 2);
  start(SemaphoreLoad{1, 1}, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  EXPECT_EQ(semaphore_->under_way().items, 10u);
  leave(1);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
}

TEST_F(GateTest, NobodyOvertakes) {
  start(50, 1);
  start(80, 2);
  start(10, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  leave(0);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
}

TEST_F(GateTest, ARequestOverTheMaximumGoesAlone) {
  start(1, 1);
  start(101, 2);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  leave(0);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2}));
  leave(1);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
}

// Admitted, but its event loop goes before it is told.
TEST_F(GateTest, AWaiterThrownAwayGivesBackItsRoom) {
  start(50, 1);
  auto other = std::make_unique<asio::io_context>();
  asio::co_spawn(*other, take(semaphore_, SemaphoreLoad{1, 80}, 2, log_), asio::detached);
  other->poll();
  start(30, 3);
  leave(0);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  EXPECT_EQ(semaphore_->under_way().bytes, 80u);
  other.reset();
  run();
  EXPECT_EQ(log_.admitted, (std::vector{1, 3}));
  EXPECT_EQ(semaphore_->under_way().bytes, 30u);
}

// Who has waited long enough is told, leaves the line and is not counted.
TEST_F(GateTest, WaitsNoLongerThanItIsTold) {
  start(60, 1);
  start(50, 2);
  auto hurried =
      asio::co_spawn(context_, semaphore_->enter(SemaphoreLoad{1, 80}, 20ms), asio::use_future);
  start(10, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  while (hurried.wait_for(1ms) != std::future_status::ready) run();
  const Result<Semaphore::Permit> refused = hurried.get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kOverloaded);
  EXPECT_EQ(refused.error().message, "no room within 20 ms");
  leave(0);
  EXPECT_EQ(log_.admitted, (std::vector{1, 2, 3}));
  EXPECT_EQ(semaphore_->under_way().bytes, 60u);
}

TEST_F(GateTest, AWaiterIsAdmittedInTime) {
  start(60, 1);
  auto patient =
      asio::co_spawn(context_, semaphore_->enter(SemaphoreLoad{1, 80}, 1h), asio::use_future);
  run();
  leave(0);
  ASSERT_EQ(patient.wait_for(0s), std::future_status::ready);
  ASSERT_TRUE(patient.get());
  EXPECT_EQ(semaphore_->under_way().bytes, 0u);
}

TEST_F(GateTest, ClosingRefusesThoseInLineAndLater) {
  start(100, 1);
  start(1, 2);
  semaphore_->close("the store is closed");
  run();
  start(1, 3);
  EXPECT_EQ(log_.admitted, (std::vector{1}));
  EXPECT_EQ(log_.refused, (std::vector{2, 3}));
  const Result<Semaphore::Permit> refused = test::run_task(semaphore_->enter(SemaphoreLoad{1, 1}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_EQ(refused.error().message, "the store is closed");
  leave(0);
  EXPECT_EQ(semaphore_->under_way().bytes, 0u);
}

Task<void> take_and_give_back(std::shared_ptr<Semaphore> gate, std::size_t bytes, int times) {
  for (int i = 0; i < times; ++i) {
    CO_TRY(const Semaphore::Permit pass, co_await gate->enter(SemaphoreLoad{1, bytes}));
    if (gate->under_way().bytes > 100) co_return fail(Errc::kInternal, "over the maximum");
  }
  co_return Result<void>();
}

TEST_F(GateTest, HoldsBetweenThreads) {
  std::vector<Task<void>> tasks;
  for (std::size_t i = 1; i <= 10; ++i)
    tasks.push_back(take_and_give_back(semaphore_, i * 10, 200));
  for (const Result<void>& outcome : test::run_tasks(std::move(tasks), 4)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  EXPECT_EQ(semaphore_->under_way().bytes, 0u);
}

}  // namespace
}  // namespace halite
