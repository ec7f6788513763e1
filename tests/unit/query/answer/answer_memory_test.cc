#include "query/answer/answer_memory.h"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

namespace halite::query {
namespace {

constexpr std::uint64_t kUnit = 1 << 20;

TEST(AnswerMemory, IsTakenAndGivenBack) {
  std::optional<AnswerMemory> room(100 * kUnit);
  auto first = room->take(60 * kUnit);
  ASSERT_TRUE(first);
  EXPECT_TRUE(room->take(40 * kUnit));  // given back at once
  auto second = room->take(40 * kUnit);
  ASSERT_TRUE(second);
  EXPECT_EQ(room->take(kUnit).error().code, Errc::kOverloaded);
  first->reset();
  EXPECT_TRUE(room->take(60 * kUnit)) << "what was refused took nothing";
  EXPECT_FALSE(room->take(61 * kUnit));
  room.reset();
  second->reset();  // it may be the last
}

TEST(AnswerMemory, OneAloneMayBeLarger) {
  AnswerMemory room(kUnit);
  const auto large = room.take(1000 * kUnit);
  ASSERT_TRUE(large);
  EXPECT_FALSE(room.take(kUnit));
}

TEST(AnswerMemory, SmallOnesAlwaysFit) {
  AnswerMemory room(kUnit);
  const auto large = room.take(1000 * kUnit);
  EXPECT_TRUE(room.take(AnswerMemory::kSmallBytes));
  EXPECT_FALSE(room.take(AnswerMemory::kSmallBytes + 1));
}

TEST(AnswerMemory, CountsPoints) {
  Answer answer;
  const std::uint64_t empty = answer_bytes(answer);
  answer.series.resize(2);
  answer.series[1].times.resize(1000);
  answer.series[1].values.resize(1000);
  EXPECT_GE(answer_bytes(answer), empty + 16'000);
  EXPECT_LT(answer_bytes(answer), empty + 20'000);
}

}  // namespace
}  // namespace halite::query
