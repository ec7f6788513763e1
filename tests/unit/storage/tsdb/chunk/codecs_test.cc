// The parts that chunks are made of, at their edges.
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "storage/tsdb/chunk/codecs/decimal_floats.h"
#include "storage/tsdb/chunk/codecs/entropy.h"
#include "storage/tsdb/chunk/codecs/full_doubles.h"
#include "storage/tsdb/chunk/codecs/int_column.h"
#include "storage/tsdb/chunk/codecs/int_plan.h"
#include "storage/tsdb/chunk/codecs/number.h"
#include "storage/tsdb/chunk/codecs/packed_ints.h"
#include "storage/tsdb/chunk/codecs/rans.h"
#include "storage/tsdb/chunk/codecs/rice_column.h"
#include "storage/tsdb/chunk/codecs/wire.h"
#include "tests/support/point_shapes.h"

namespace halite::storage::chunk {
namespace {

using Numbers = std::vector<std::uint64_t>;

// Numbers of up to `width` bits, some far off.
Numbers random_numbers(Random& random, std::size_t count, unsigned width, bool outliers) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = width == 0 ? 0 : random() >> (64 - width);
    numbers.push_back(outliers && random() % 40 == 0 ? random() : number);
  }
  return numbers;
}

TEST(Wire, VarintsAtTheirEdges) {
  for (unsigned width = 0; width <= 64; ++width) {
    const std::uint64_t most = width == 0 ? 0 : ~std::uint64_t{0} >> (64 - width);
    for (const std::uint64_t value : {most, most + 1, most - 1}) {
      Bytes bytes;
      append_varint(bytes, value);
      EXPECT_EQ(bytes.size(), varint_size(value));
      append_signed(bytes, value);
      Reader from(bytes);
      EXPECT_EQ(from.varint(), value);
      EXPECT_EQ(from.signed_varint(), value);
      EXPECT_TRUE(from.ok() && from.left().empty());
      EXPECT_EQ(unzigzag(zigzag(value)), value);
    }
  }
  for (const Bytes& bad : {Bytes(), Bytes("\x80"), Bytes(10, '\xFF'), Bytes(11, '\x80')}) {
    Reader from(bad);
    EXPECT_EQ(from.varint(), 0u);
    EXPECT_FALSE(from.ok());
    EXPECT_EQ(from.byte(), 0);
  }
}

TEST(Wire, BitsOfAnyWidth) {
  Random random(1);
  std::vector<std::pair<std::uint64_t, unsigned>> expected;
  Bytes bytes;
  BitWriter to(bytes);
  for (int i = 0; i < 2000; ++i) {
    const auto width = static_cast<unsigned>(random() % 65);
    const std::uint64_t number = width == 0 ? 0 : random() >> (64 - width);
    to.put(number, width);
    expected.emplace_back(number, width);
  }
  to.finish();
  BitReader from(bytes);
  for (const auto& [number, width] : expected) ASSERT_EQ(from.get(width), number);
  EXPECT_EQ(from.bytes_used(), bytes.size());
  EXPECT_EQ(from.get(8), 0u);
  EXPECT_FALSE(from.ok());
}

TEST(Wire, OnesUpToAZeroOrAMost) {
  for (unsigned before = 0; before < 20; ++before) {
    for (unsigned ones = 0; ones <= 32; ++ones) {
      Bytes bytes;
      BitWriter to(bytes);
      to.put(0, before);
      to.put((std::uint64_t{1} << ones) - 1, ones);
      to.put(2, 2);  // a zero, then a one
      to.finish();
      BitReader from(bytes);
      EXPECT_EQ(from.get(before), 0u);
      EXPECT_EQ(from.ones(32), ones);
      EXPECT_EQ(from.get(1), ones == 32 ? 0u : 1u);
      EXPECT_TRUE(from.ok());
    }
  }
  const Bytes all_ones(3, '\xFF');
  BitReader short_of_a_zero(all_ones);
  EXPECT_EQ(short_of_a_zero.ones(24), 24u);
  EXPECT_TRUE(short_of_a_zero.ok());
  EXPECT_EQ(short_of_a_zero.ones(1), 0u);
  EXPECT_FALSE(short_of_a_zero.ok());
  BitReader without_end(all_ones);
  EXPECT_EQ(without_end.ones(25), 0u);
  EXPECT_FALSE(without_end.ok());
}

TEST(PackedInts, EveryWidthAndLength) {
  Random random(2);
  for (unsigned width = 0; width <= 64; ++width) {
    for (const bool outliers : {false, true}) {
      for (const std::size_t count : {0, 1, 7, 8, 9, 127, 128, 129, 256, 300}) {
        const Numbers numbers = random_numbers(random, count, width, outliers);
        Bytes bytes;
        append_packed(numbers, bytes);
        Reader from(bytes);
        Numbers back(count);
        read_packed(from, back);
        ASSERT_EQ(back, numbers) << width << " bits, " << count;
        ASSERT_TRUE(from.ok() && from.left().empty());
        if (count == 0) continue;
        Bytes flat;
        append_flat(numbers, flat);
        ASSERT_EQ(flat.size(), flat_size(numbers));
        Reader flat_from(flat);
        Numbers flat_back(count);
        read_flat(flat_from, flat_back);
        ASSERT_EQ(flat_back, numbers) << width << " bits, " << count;
        ASSERT_TRUE(flat_from.ok() && flat_from.left().empty());
      }
    }
  }
}

TEST(PackedInts, AFewOutliersOnEitherSideDoNotStretchABlock) {
  Random random(3);
  Numbers numbers = random_numbers(random, 128, 6, false);
  numbers[5] = std::uint64_t{0} - 7'000'000;
  numbers[77] = 1'000'000'000;
  Bytes bytes;
  append_packed(numbers, bytes);
  EXPECT_LE(bytes.size(), 128 * 6 / 8 + 30u);
  Reader from(bytes);
  Numbers back(128);
  read_packed(from, back);
  EXPECT_EQ(back, numbers);
}

TEST(Entropy, AnyNumbersComeBack) {
  Random random(4);
  EntropyScratch scratch;
  for (unsigned width = 0; width <= 64; ++width) {
    for (const bool outliers : {false, true}) {
      for (const std::size_t count : {1, 2, 3, 4, 5, 31, 32, 33, 64, 500, 5000}) {
        const Numbers numbers = random_numbers(random, count, width, outliers);
        EntropyShape shape = choose_shape(numbers, 1, scratch);
        for (const bool zigzag_it : {false, true}) {
          shape.zigzag = zigzag_it;
          Bytes bytes;
          append_entropy(numbers, shape, scratch, bytes);
          Reader from(bytes);
          Numbers back(count);
          read_entropy(from, scratch, back, count);
          ASSERT_TRUE(from.ok() && from.left().empty()) << width << " bits, " << count;
          ASSERT_EQ(back, numbers) << width << " bits, " << count;
          const std::size_t wanted = 1 + random() % count;
          Reader again(bytes);
          Numbers some(count);
          read_entropy(again, scratch, some, wanted);
          ASSERT_TRUE(again.ok() && again.left().empty()) << wanted << " of " << count;
          ASSERT_TRUE(std::equal(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(wanted),
                                 numbers.begin()))
              << width << " bits, " << wanted << " of " << count;
        }
      }
    }
  }
}

TEST(Entropy, WiderBucketsContainNarrowerOnes) {
  Random random(9);
  for (int round = 0; round < 10'000; ++round) {
    const std::uint64_t magnitude = random() >> (random() % 64);
    for (unsigned mantissa = 0; mantissa < kMantissaMax; ++mantissa) {
      ASSERT_EQ(wider_bucket(bucket_of(magnitude, mantissa + 1), mantissa),
                bucket_of(magnitude, mantissa));
    }
    const Bucket one = bucket_at(bucket_of(magnitude, 3), 3);
    ASSERT_EQ(magnitude >> one.bits << one.bits, one.base);
  }
}

TEST(Rans, SharesAddUpWhateverTheCounts) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint32_t> counts;
    const std::size_t symbols = 2 + random() % (kRansSymbolsMax - 1);
    for (std::size_t i = 0; i < symbols; ++i) {
      counts.push_back(1 + static_cast<std::uint32_t>(random() >> (40 + random() % 24)));
    }
    const RansShares shares = rans_shares(counts);
    std::uint32_t sum = 0;
    for (const std::uint16_t share : shares.shares) {
      ASSERT_GT(share, 0);
      sum += share;
    }
    ASSERT_EQ(sum, 1u << shares.log2_total);
    Bytes bytes;
    BitWriter to(bytes);
    put_rans_shares(shares, to);
    to.finish();
    BitReader from(bytes);
    RansShares back;
    ASSERT_TRUE(get_rans_shares(from, symbols, back));
    ASSERT_EQ(back.shares, shares.shares);
    ASSERT_EQ(back.log2_total, shares.log2_total);
  }
}

TEST(RiceColumn, AnyNumbersComeBack) {
  Random random(6);
  for (unsigned width = 0; width <= 64; ++width) {
    for (const std::size_t count : {0, 1, 2, 24, 100}) {
      const Numbers numbers = random_numbers(random, count, width, random() % 2 == 0);
      Bytes bytes;
      BitWriter to(bytes);
      put_rice_column(numbers, to);
      to.finish();
      BitReader from(bytes);
      Numbers back(count);
      get_rice_column(from, back);
      ASSERT_TRUE(from.ok());
      ASSERT_EQ(back, numbers);
      ASSERT_EQ(from.bytes_used(), bytes.size());
    }
  }
}

TEST(IntColumn, RunsThatWrapAndStepsOfStepsComeBack) {
  IntScratch scratch;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::vector<Numbers> columns = {{0},
                                  {kMost, kMost + 1},
                                  {0, std::uint64_t{1} << 63, 0},
                                  {5, 5 + 3 * (std::uint64_t{1} << 62), 5},
                                  Numbers(1000, 7)};
  Numbers parabola;
  Numbers last_differs(2000, 3);
  for (std::uint64_t i = 0; i < 2000; ++i) parabola.push_back(i * i * 1000 - 77);
  last_differs.back() = 4;
  columns.push_back(parabola);
  columns.push_back(last_differs);
  for (const Numbers& numbers : columns) {
    for (const bool small : {false, true}) {
      Bytes bytes;
      append_ints(numbers, small, scratch, bytes);
      Reader from(bytes);
      Numbers back(numbers.size());
      read_ints(from, scratch, back);
      ASSERT_TRUE(from.ok() && from.left().empty());
      ASSERT_EQ(back, numbers);
      if (numbers == parabola) {
        EXPECT_LE(bytes.size(), 12u);
      }
    }
  }
}

// The plan of few transforms is about as small as that of all.
TEST(IntPlan, ThinSamplesDoNotMissTheSmallestTransform) {
  Random random(7);
  IntScratch scratch;
  std::vector<Shape> shapes = all_shapes();
  shapes.push_back({"nothing, or much", [](Random&) {
                      return NextValue([](Random& q) {
                        return integer(q() % 5 < 2 ? 0
                                                   : 500 + static_cast<std::int64_t>(q() % 500));
                      });
                    }});
  shapes.push_back({"acceleration", [](Random&) {
                      return NextValue([value = 0L, step = 0L](Random& q) mutable {
                        step += static_cast<std::int64_t>(q() % 21) - 10;
                        return integer(value += step);
                      });
                    }});
  for (const Shape& shape : shapes) {
    for (const std::size_t count : {96, 360, 511, 512, 1080, 8640}) {
      const Points points = make_points(shape, Beat::kSteady, count, random);
      const Plan likely = make_plan(points.values, true, scratch);
      const Plan all = make_plan(points.values, true, scratch, Search::kAll);
      EXPECT_LE(likely.bytes, all.bytes * 1.04 + 4) << shape.name << ", " << count;
    }
  }
}

TEST(DecimalFloats, BlocksAreAsSingleNumbers) {
  Random random(8);
  for (const unsigned exponent : {0u, 2u, 5u, 15u}) {
    const double power = kPowersOfTen[exponent];
    for (int round = 0; round < 2000; ++round) {
      std::vector<ValueBits> values;
      bool exact = true;
      for (std::size_t i = 0; i < 1 + random() % 9; ++i) {
        const auto near =
            static_cast<double>(static_cast<std::int64_t>(random() >> (random() % 60)));
        values.push_back(random() % 50 == 0 ? random() : double_bits(near / power));
        exact = exact && to_mantissa(as_double(values.back()), power).exact;
      }
      Numbers mantissas(values.size());
      ASSERT_EQ(to_mantissas(values, power, mantissas.data()), exact);
      for (std::size_t i = 0; exact && i < values.size(); ++i) {
        ASSERT_EQ(mantissas[i], to_mantissa(as_double(values[i]), power).mantissa);
      }
    }
  }
}

TEST(DecimalFloats, ExactOrNot) {
  EXPECT_TRUE(to_mantissa(12.34, 100).exact);
  EXPECT_EQ(to_mantissa(12.34, 100).mantissa, 1234u);
  EXPECT_EQ(to_mantissa(-12.34, 100).mantissa, std::uint64_t{0} - 1234);
  EXPECT_FALSE(to_mantissa(12.34, 10).exact);
  EXPECT_FALSE(to_mantissa(-0.0, 1).exact);
  EXPECT_FALSE(to_mantissa(std::numeric_limits<double>::quiet_NaN(), 1).exact);
  EXPECT_FALSE(to_mantissa(std::numeric_limits<double>::infinity(), 1).exact);
  EXPECT_FALSE(to_mantissa(0x1p51, 1).exact);
  EXPECT_TRUE(to_mantissa(0x1p51 - 1, 1).exact);
  EXPECT_FALSE(to_mantissa(0.1 + 0.2, 10).exact);
}

TEST(FullDoubles, KeepTheOrderOfNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  const double numbers[] = {-inf, -1e308, -1, -5e-324, -0.0, 0.0, 5e-324, 1, 1e308, inf};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    const std::uint64_t here = ordered_double(double_bits(numbers[i]));
    EXPECT_EQ(ordered_double(here), double_bits(numbers[i]));
    if (i == 0) continue;
    const std::uint64_t before = ordered_double(double_bits(numbers[i - 1]));
    EXPECT_LT(static_cast<std::int64_t>(before), static_cast<std::int64_t>(here));
  }
}

TEST(Number, TakesOnlyTheBytesThatSaySomething) {
  for (const auto& [value, is_float, size] :
       {std::tuple{integer_bits(0), false, 1u},
        {integer_bits(-1), false, 2u},
        {integer_bits(127), false, 2u},
        {integer_bits(128), false, 3u},
        {integer_bits(std::numeric_limits<std::int64_t>::min()), false, 9u},
        {double_bits(0.0), true, 1u},
        {double_bits(-0.0), true, 2u},
        {double_bits(50), true, 3u},
        {double_bits(4.2), true, 9u},
        {ValueBits{0x7FF8'0000'0000'0001u}, true, 9u}}) {
    Bytes bytes;
    append_number(bytes, value, is_float);
    EXPECT_EQ(bytes.size(), size);
    Reader from(bytes);
    const TypedValue back = read_number(from);
    EXPECT_TRUE(from.ok() && from.left().empty());
    EXPECT_EQ(back.value, value);
    EXPECT_EQ(back.is_float, is_float);
  }
}

}  // namespace
}  // namespace halite::storage::chunk
