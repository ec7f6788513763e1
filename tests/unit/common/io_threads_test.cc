#include "common/threads/io_threads.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>

namespace halite {
namespace {

TEST(IoThreads, EachExecutorHasAThreadOfItsOwn) {
  IoThreads threads(3, "three");
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

TEST(IoThreads, ThreadsHaveTheirName) {
  IoThreads threads(1, "a name");
  std::array<char, 16> name{};
  boost::asio::post(threads.executors().front(),
                    [&name] { pthread_getname_np(pthread_self(), name.data(), name.size()); });
  threads.join();
  EXPECT_STREQ(name.data(), "a name");
}

TEST(IoThreads, JoinWaitsForWhatIsUnderWay) {
  std::atomic<int> done = 0;
  IoThreads threads(0, "one");  // one at least
  const auto executor = threads.executors().front();
  boost::asio::post(executor, [&] { boost::asio::post(executor, [&done] { ++done; }); });
  threads.join();
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace halite
