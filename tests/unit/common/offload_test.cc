#include "common/threads/offload.h"

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "common/threads/task.h"
#include "tests/support/run_task.h"

namespace halite {
namespace {

using test::run_task;

struct Trace {
  std::thread::id before;
  std::thread::id inside;
  std::thread::id after;
};

Task<std::string> traced(boost::asio::thread_pool& pool, Trace& trace) {
  trace.before = std::this_thread::get_id();
  auto job = [&trace]() -> Result<std::string> {
    trace.inside = std::this_thread::get_id();
    return "done";
  };
  Result<std::string> outcome = co_await offload(pool, std::move(job));
  trace.after = std::this_thread::get_id();
  co_return outcome;
}

TEST(Offload, WorksOnThePoolAndGoesOnAtHome) {
  boost::asio::thread_pool pool(1);
  Trace trace;
  EXPECT_EQ(run_task(traced(pool, trace)).value(), "done");
  EXPECT_EQ(trace.before, std::this_thread::get_id());
  EXPECT_NE(trace.inside, trace.before);
  EXPECT_EQ(trace.after, trace.before);
}

Task<void> failing(boost::asio::thread_pool& pool) {
  auto job = []() -> Result<void> { return fail(Errc::kCorruption, "bad block"); };
  co_return co_await offload(pool, std::move(job));
}

TEST(Offload, PassesErrorsOn) {
  boost::asio::thread_pool pool(1);
  EXPECT_EQ(run_task(failing(pool)).error().message, "bad block");
}

Task<std::unique_ptr<int>> doubled(boost::asio::thread_pool& pool, std::unique_ptr<int> number) {
  auto job = [number = std::move(number)]() mutable -> Result<std::unique_ptr<int>> {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *number *= 2;
    return std::move(number);
  };
  co_return co_await offload(pool, std::move(job));
}

TEST(Offload, ManyAtOnceWithValuesThatOnlyMove) {
  boost::asio::thread_pool pool(3);
  std::vector<Task<std::unique_ptr<int>>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(doubled(pool, std::make_unique<int>(i)));
  boost::asio::thread_pool callers(2);
  std::vector<std::unique_ptr<int>> numbers(100);
  for (int i = 0; i < 100; ++i) {
    boost::asio::co_spawn(
        callers, std::move(tasks[i]),
        [&slot = numbers[i]](const std::exception_ptr&, Result<std::unique_ptr<int>> outcome) {
          if (outcome) slot = *std::move(outcome);
        });
  }
  callers.join();
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(numbers[i], nullptr);
    EXPECT_EQ(*numbers[i], 2 * i);
  }
}

}  // namespace
}  // namespace halite
