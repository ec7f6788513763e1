#include "storage/chunk/head_block.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/point_shapes.h"

namespace halite::storage::chunk {
namespace {

TEST(HeadBlock, BlocksBehindEachOtherComeBackBitForBit) {
  Random random(1);
  for (const Shape& shape : all_shapes()) {
    for (const Beat beat : kBeats) {
      const Points points = make_points(shape, beat, 1000, random);
      Bytes blocks;
      for (std::size_t begin = 0; begin < points.size();) {
        const std::size_t count =
            std::min<std::size_t>(1 + random() % kHeadBlockPointsMax, points.size() - begin);
        append_head_block(points.view().slice(begin, count), blocks);
        begin += count;
      }
      Points back;
      BytesView left = blocks;
      while (!left.empty()) {
        const auto done = decode_head_block(left, back);
        ASSERT_TRUE(done) << shape.name;
      }
      ASSERT_EQ(back, points) << shape.name;
    }
  }
}

TEST(HeadBlock, TakesFewBytes) {
  Random random(2);
  const std::vector<Shape> shapes = metric_shapes();
  const double most[] = {0.95, 1.75, 2.6, 1.8, 7.3};  // bytes a point of 32
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Bytes blocks;
    for (int block = 0; block < 300; ++block) {
      append_head_block(make_points(shapes[i], Beat::kSteady, 32, random).view(), blocks);
    }
    EXPECT_LE(static_cast<double>(blocks.size()) / 9600, most[i]) << shapes[i].name;
  }
}

TEST(HeadBlock, ReadsNothingPastTheEnd) {
  Random random(3);
  for (const Shape& shape : all_shapes()) {
    Bytes block;
    append_head_block(make_points(shape, Beat::kJitter, 40, random).view(), block);
    for (std::size_t size = 0; size < block.size(); ++size) {
      const std::vector<char> exact(block.begin(),
                                    block.begin() + static_cast<std::ptrdiff_t>(size));
      BytesView view(exact.data(), exact.size());
      Points points;
      const auto done = decode_head_block(view, points);
      ASSERT_FALSE(done);
      ASSERT_EQ(done.error().code, Errc::kCorruption);
      ASSERT_EQ(points, Points());
    }
  }
}

TEST(HeadBlockDeathTest, NonePointsOrTooManyAreABug) {
  Points points;
  Bytes blocks;
  EXPECT_DEATH(append_head_block(points.view(), blocks), "1 to 128");
  for (int i = 0; i < 129; ++i) points.push_back(i, 0, false);
  EXPECT_DEATH(append_head_block(points.view(), blocks), "1 to 128");
}

}  // namespace
}  // namespace halite::storage::chunk
