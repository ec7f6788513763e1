#include "common/memory_budget.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/units.h"

namespace halite {
namespace {

// A limit of 1024 MiB as the server divides it; all sizes are in MiB. A cache fills its size, up to
// what it has to hold.
class MemoryBudgetTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = 1024;

  void SetUp() override {
    add("series", 512, {.greatest = 512, .movable = false});
    add("heads", 256, {.greatest = 400});
    add("cache", 128, {});
    add("blocks", 64, {});
    add("names", 64, {});
  }

  struct Kind {
    std::uint64_t greatest = kLimit;
    bool movable = true;
    bool momentary = false;
    bool fixed = false;
  };
  void add(std::string name, std::uint64_t base, Kind kind) {
    User& user = users_.emplace_back();
    user.bytes = base;
    user.movable = kind.movable;
    MemoryShare share{.user = {.setting = std::move(name), .used = [&user] { return user.used(); }},
                      .base = base * kMiB,
                      .least = (kind.fixed ? base : base / 8) * kMiB,
                      .greatest = (kind.fixed ? base : kind.greatest) * kMiB,
                      .momentary = kind.momentary};
    if (kind.movable) {
      share.user.resize = [&user](std::uint64_t bytes) {
        user.bytes = bytes / kMiB;
        ++user.resizes;
      };
    }
    shares_.push_back(std::move(share));
  }

  // Rebalances while the users have this much to hold. Returns the sizes.
  std::string after(int calls, std::vector<std::uint64_t> loads) {
    if (!budget_) budget_.emplace(kLimit * kMiB, shares_);
    for (std::size_t i = 0; i < loads.size(); ++i) users_[i].load = loads[i];
    while (calls-- > 0) {
      budget_->rebalance();
      std::uint64_t sum = 0;
      for (const MemoryBudget::Share& share : budget_->shares()) {
        sum += share.is.momentary ? share.used : share.bytes;
      }
      EXPECT_LE(sum, std::max(kLimit, limit_) * kMiB);
    }
    std::string text;
    for (const MemoryBudget::Share& share : budget_->shares()) {
      if (share.is.momentary) continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share.is.user.setting,
                          share.bytes / kMiB);
    }
    return text;
  }

  struct User {
    [[nodiscard]] std::uint64_t used() const {
      return (movable ? std::max(std::min(load, bytes), kept) : load) * kMiB;
    }
    std::uint64_t load = 0;
    std::uint64_t bytes = 0;
    std::uint64_t kept = 0;  // it takes a while to free it
    bool movable = true;
    int resizes = 0;
  };
  std::deque<User> users_;
  std::vector<MemoryShare> shares_;
  std::optional<MemoryBudget> budget_;
  std::uint64_t limit_ = 0;  // the sum of the bases, if it is above kLimit
};

TEST_F(MemoryBudgetTest, NothingMovesWithoutNeed) {
  EXPECT_EQ(after(100, {300, 200, 100, 50, 50}),
            "series 512, heads 256, cache 128, blocks 64, names 64");
  EXPECT_EQ(after(100, {0, 0, 0, 0, 0}), "series 512, heads 256, cache 128, blocks 64, names 64");
  for (const User& user : users_) EXPECT_EQ(user.resizes, 0);
}

TEST_F(MemoryBudgetTest, WhatIsFullGetsWhatOthersDoNotNeed) {
  EXPECT_EQ(after(1, {40, 30, 10, 9999, 5}),
            "series 488, heads 256, cache 122, blocks 96, names 61");
  EXPECT_EQ(after(100, {40, 30, 10, 9999, 5}),
            "series 64, heads 45, cache 16, blocks 891, names 8");
}

TEST_F(MemoryBudgetTest, ItGrowsNoFurtherThanItNeeds) {
  EXPECT_EQ(after(100, {40, 30, 10, 100, 5}),
            "series 462, heads 244, cache 115, blocks 144, names 57");
}

TEST_F(MemoryBudgetTest, AllThatAreFullShareTheRoomByTheirBases) {
  EXPECT_EQ(after(100, {40, 9999, 9999, 9999, 9999}),
            "series 64, heads 400, cache 280, blocks 140, names 140");
}

TEST_F(MemoryBudgetTest, OwnersGetTheirBasesBack) {
  after(100, {40, 30, 10, 9999, 5});
  EXPECT_EQ(after(20, {512, 9999, 9999, 9999, 9999}),
            "series 512, heads 256, cache 128, blocks 64, names 64");
}

TEST_F(MemoryBudgetTest, SeriesTakeTheirRoomFromWhatWasLent) {
  after(100, {40, 200, 100, 9999, 50});
  EXPECT_EQ(after(20, {400, 200, 100, 9999, 50}),
            "series 512, heads 256, cache 128, blocks 64, names 64");
}

TEST_F(MemoryBudgetTest, SteadyUseMovesNothing) {
  for (const auto& loads : std::vector<std::vector<std::uint64_t>>{{40, 30, 10, 9999, 5},
                                                                   {512, 9999, 9999, 9999, 9999},
                                                                   {40, 9999, 9999, 9999, 9999},
                                                                   {300, 9999, 70, 200, 9999}}) {
    const std::string sizes = after(100, loads);
    for (User& user : users_) user.resizes = 0;
    EXPECT_EQ(after(100, loads), sizes);
    for (const User& user : users_) EXPECT_EQ(user.resizes, 0) << sizes;
  }
}

TEST_F(MemoryBudgetTest, HeadThatFillsAndEmptiesKeepsItsRoom) {
  after(100, {40, 250, 10, 9999, 5});
  for (User& user : users_) user.resizes = 0;
  for (int round = 0; round < 10; ++round) {
    after(20, {40, 5, 10, 9999, 5});
    after(20, {40, 250, 10, 9999, 5});
  }
  EXPECT_EQ(users_[1].resizes, 0);
}

TEST_F(MemoryBudgetTest, FixedSizeStays) {
  shares_.clear();
  users_.clear();
  add("series", 512, {.movable = false});
  add("cache", 128, {.fixed = true});
  add("blocks", 64, {});
  EXPECT_EQ(after(50, {10, 0, 9999}), "series 64, cache 128, blocks 832");
  EXPECT_EQ(after(50, {10, 9999, 0}), "series 64, cache 128, blocks 832");
  EXPECT_EQ(users_[1].resizes, 0);
}

TEST_F(MemoryBudgetTest, SettingsAboveTheLimitTakeNothingFromTheBases) {
  shares_.clear();
  users_.clear();
  limit_ = 2048 + 64;
  add("series", 2048, {.movable = false, .fixed = true});
  add("blocks", 64, {});
  EXPECT_EQ(after(50, {2048, 9999}), "series 2048, blocks 64");
}

TEST_F(MemoryBudgetTest, WorkOfAMomentTakesFromWhatIsLentFirst) {
  add("query", 128, {.movable = false, .momentary = true});
  EXPECT_EQ(after(100, {40, 200, 100, 9999, 50, 0}),
            "series 64, heads 256, cache 128, blocks 512, names 64");
  EXPECT_EQ(after(1, {40, 200, 100, 9999, 50, 300}),
            "series 64, heads 256, cache 128, blocks 212, names 64");
  EXPECT_EQ(after(5000, {40, 200, 100, 9999, 50, 0}),
            "series 64, heads 256, cache 128, blocks 505, names 64");
}

TEST_F(MemoryBudgetTest, NobodyGrowsIntoMemoryThatIsNotFreeYet) {
  EXPECT_EQ(after(100, {40, 9999, 10, 50, 5}),
            "series 407, heads 400, cache 101, blocks 64, names 50");
  users_[1].kept = 400;  // the head is being flushed
  EXPECT_EQ(after(20, {500, 9999, 9999, 9999, 9999}),
            "series 500, heads 256, cache 101, blocks 64, names 50");
  users_[1].kept = 0;
  EXPECT_EQ(after(20, {500, 9999, 9999, 9999, 9999}),
            "series 512, heads 256, cache 128, blocks 64, names 64");
}

}  // namespace
}  // namespace halite
