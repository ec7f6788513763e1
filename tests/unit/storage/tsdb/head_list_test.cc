#include "storage/tsdb/core/head_list.h"

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/storage/tsdb/wal/log_world.h"

namespace halite::storage::engine {
namespace {

// Two writers, each of which holds on until the other one has begun anew: there is always one.
class Flood {
 public:
  explicit Flood(HeadList& head_list) : head_list_(head_list) {}

  void run(int self) {
    const int other = 1 - self;
    while (!over_ && turns_ < kTurnsMax) {
      const int seen = begun_[other];
      const HeadList::Writing writing = head_list_.write();
      ++begun_[self];
      ++turns_;
      // Who waits for the generations alone keeps the other one out: then this one goes.
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
      while (begun_[other] == seen && !over_ && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
      }
    }
  }
  void end() { over_ = true; }
  [[nodiscard]] int turns() const { return turns_; }

  static constexpr int kTurnsMax = 20'000;

 private:
  HeadList& head_list_;
  std::atomic<bool> over_ = false;
  std::atomic<int> turns_ = 0;
  std::array<std::atomic<int>, 2> begun_ = {};
};

class GenerationsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(world_.open()); }

  template <class Do>
  void expect_it_ends_in_a_flood(Do what) {
    Flood flood(head_list_);
    std::thread first([&flood] { flood.run(0); });
    std::thread second([&flood] { flood.run(1); });
    while (flood.turns() < 100) std::this_thread::yield();
    what();
    const int turns = flood.turns();
    flood.end();
    first.join();
    second.join();
    EXPECT_LT(turns, Flood::kTurnsMax) << "it had to wait until the writers gave up";
  }

  LogWorld world_;
  HeadList head_list_{0, 1, 10, 0};
};

TEST_F(GenerationsTest, WritersDoNotKeepAFreezeWaiting) {
  expect_it_ends_in_a_flood([this] { head_list_.freeze(*world_.log, 1); });
  EXPECT_EQ(head_list_.frozen().size(), 1U);
}

TEST_F(GenerationsTest, WritersDoNotKeepAFlushedHeadInMemory) {
  head_list_.freeze(*world_.log, 1);
  ASSERT_EQ(head_list_.frozen().size(), 1U);
  expect_it_ends_in_a_flood([this] { head_list_.drop_oldest(); });
  EXPECT_TRUE(head_list_.frozen().empty());
}

}  // namespace
}  // namespace halite::storage::engine
