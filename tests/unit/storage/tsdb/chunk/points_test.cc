#include "storage/tsdb/chunk/codecs/points.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace halite::storage::chunk {
namespace {

TEST(FloatBits, AppendsRunsAcrossWords) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    FloatBits bits;
    std::vector<bool> expected;
    while (expected.size() < 300) {
      const std::size_t count = random() % 140;
      const bool is_float = random() % 2 == 0;
      bits.append(count, is_float);
      expected.insert(expected.end(), count, is_float);
    }
    ASSERT_EQ(bits.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(bits[i], expected[i]) << i;
  }
}

TEST(FloatBits, AppendsBitsFromAnywhere) {
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> words(8);
  for (auto& word : words) word = random();
  for (std::size_t begin = 0; begin < 200; begin += 7) {
    for (std::size_t count = 0; count < 300; count += 13) {
      FloatBits bits;
      bits.append(begin % 65, true);
      const std::size_t before = bits.size();
      bits.append(words, begin, count);
      ASSERT_EQ(bits.size(), before + count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t bit = begin + i;
        ASSERT_EQ(bits[before + i], (words[bit / 64] >> (bit % 64) & 1) != 0) << begin << " " << i;
      }
      if (bits.size() % 64 != 0) {
        ASSERT_EQ(bits.words().back() >> (bits.size() % 64), 0u);
      }
    }
  }
}

TEST(PointsView, CountsDoublesOfASlice) {
  Points points;
  std::size_t floats = 0;
  for (int i = 0; i < 500; ++i) points.push_back(i, 0, i % 3 == 0);
  for (std::size_t i = 70; i < 470; ++i) floats += points.floats[i] ? 1 : 0;
  EXPECT_EQ(points.view().slice(70, 400).float_count(), floats);
  EXPECT_EQ(points.view().slice(70, 0).float_count(), 0u);
  Points copy;
  copy.append(points.view().slice(70, 400));
  EXPECT_EQ(copy.size(), 400u);
  EXPECT_EQ(copy.floats[2], points.floats[72]);
  copy.clear();
  EXPECT_EQ(copy, Points());
}

}  // namespace
}  // namespace halite::storage::chunk
