#include "common/io_threads.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(IoThreads, EachExecutorHasAThreadOfItsOwn) {
  IoThreads threads(3);
  ASSERT_EQ(threads.executors().size(), 3U);
  std::vector<std::set<std::thread::id>> seen(3);  // each written by one thread, if all is well
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < seen.size(); ++i) {
      boost::asio::post(threads.executors()[i],
                        [&seen, i] { seen[i].insert(std::this_thread::get_id()); });
    }
  }
  threads.join();
  std::set<std::thread::id> all;
  for (const auto& of_one : seen) {
    EXPECT_EQ(of_one.size(), 1U);
    all.insert(of_one.begin(), of_one.end());
  }
  EXPECT_EQ(all.size(), 3U);
}

TEST(IoThreads, JoinWaitsForWhatIsUnderWay) {
  std::atomic<int> done = 0;
  IoThreads threads(0);  // one at least
  const auto executor = threads.executors().front();
  boost::asio::post(executor, [&] { boost::asio::post(executor, [&done] { ++done; }); });
  threads.join();
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace halite
