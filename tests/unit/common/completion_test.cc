#include "common/threads/completion.h"

#include <atomic>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

namespace halite {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> count_when_done(Completion completion, std::atomic<int>& good,
                                      std::atomic<int>& bad) {
  const Result<void> outcome = co_await completion.wait();
  ++(outcome ? good : bad);
}

TEST(Completion, WakesThoseBeforeAndAfter) {
  asio::thread_pool pool(2);
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  const Completion completion;
  for (int i = 0; i < 100; ++i) {
    asio::co_spawn(pool, count_when_done(completion, good, bad), asio::detached);
  }
  completion.finish({});
  completion.finish(fail(Errc::kInternal, "too late"));
  asio::co_spawn(pool, count_when_done(completion, good, bad), asio::detached);
  pool.join();
  EXPECT_EQ(good, 101);
  EXPECT_EQ(bad, 0);
}

TEST(Completion, CarriesTheError) {
  asio::thread_pool pool(1);
  std::atomic<int> good = 0;
  std::atomic<int> bad = 0;
  const Completion completion;
  EXPECT_FALSE(completion.finished());
  completion.finish(fail(Errc::kUnavailable, "disk full"));
  EXPECT_TRUE(completion.finished());
  asio::co_spawn(pool, count_when_done(completion, good, bad), asio::detached);
  pool.join();
  EXPECT_EQ(bad, 1);
}

}  // namespace
}  // namespace halite
