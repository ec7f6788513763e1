#include "common/sketch.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/bytes/varint.h"
#include "tests/support/exact_percentile.h"

namespace halite {
namespace {

using test::exact_percentile;
using test::ExactPercentile;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPercentiles[] = {0, 0.1, 1, 25, 50, 75, 90, 95, 99, 99.9, 100};

Sketch sketch_of(const std::vector<double>& numbers) {
  Sketch sketch;
  for (const double number : numbers) sketch.add(number);
  return sketch;
}

void expect_close(const std::vector<double>& numbers, const std::string& what) {
  const Sketch sketch = sketch_of(numbers);
  EXPECT_EQ(sketch.count(), numbers.size()) << what;
  for (const double percentile : kPercentiles) {
    const ExactPercentile exact = exact_percentile(numbers, percentile);
    EXPECT_NEAR(sketch.percentile(percentile), exact.value, exact.error)
        << what << ", " << numbers.size() << " numbers, percentile " << percentile;
  }
}

using Draw = std::function<double(std::mt19937_64&)>;

std::vector<std::pair<std::string, Draw>> distributions() {
  return {
      {"uniform", [](auto& random) { return std::uniform_real_distribution(0.0, 1e6)(random); }},
      {"normal", [](auto& random) { return std::normal_distribution(0.0, 10.0)(random); }},
      {"lognormal", [](auto& random) { return std::lognormal_distribution(1.0, 3.0)(random); }},
      {"exponential", [](auto& random) { return std::exponential_distribution(1e-4)(random); }},
      {"pareto",
       [](auto& random) {
         return std::pow(std::uniform_real_distribution(1e-9, 1.0)(random), -1.5);
       }},
      {"small integers",
       [](auto& random) {
         return static_cast<double>(std::uniform_int_distribution(-3, 5)(random));
       }},
      {"two far peaks",
       [](auto& random) {
         return std::bernoulli_distribution(0.01)(random)
                    ? std::normal_distribution(5e8, 1e7)(random)
                    : std::normal_distribution(1e-6, 1e-7)(random);
       }},
      {"few values", [](auto& random) { return 250.0 * (1 + random() % 3); }},
  };
}

TEST(Sketch, IsWithinOnePercentOfTheExactPercentile) {
  std::mt19937_64 random(1);
  for (const auto& [name, draw] : distributions()) {
    for (const std::size_t count : {1, 2, 3, 10, 99, 100, 1000, 20'000}) {
      std::vector<double> numbers(count);
      for (double& number : numbers) number = draw(random);
      expect_close(numbers, name);
    }
  }
}

TEST(Sketch, HoldsAtTheBoundsOfBucketsAndOfDoubles) {
  const double growth = 1.01 / 0.99;
  for (int power = -2000; power <= 2000; power += 7) {
    const double bound = std::pow(growth, power);
    for (const double number :
         {bound, std::nextafter(bound, 0), std::nextafter(bound, kInfinity)}) {
      expect_close({number}, "bound");
      expect_close({-number}, "negative bound");
    }
  }
  using Limits = std::numeric_limits<double>;
  for (const double number :
       {Limits::max(), Limits::lowest(), Limits::min(), -Limits::min(), 0.0}) {
    expect_close({number}, "limit");
  }
  EXPECT_EQ(sketch_of({Limits::denorm_min()}).percentile(50), 0);
}

TEST(Sketch, MergedIsThatOfAllNumbersInAnyOrder) {
  std::mt19937_64 random(2);
  for (const auto& [name, draw] : distributions()) {
    std::vector<double> all;
    std::vector<Sketch> parts;
    for (int part = 0; part < 7; ++part) {
      std::vector<double> numbers(random() % 300);
      for (double& number : numbers) number = draw(random);
      parts.push_back(sketch_of(numbers));
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    std::ranges::shuffle(parts, random);
    Sketch merged;
    for (const Sketch& part : parts) merged.add(part);
    EXPECT_EQ(merged, sketch_of(all)) << name;
  }
}

// More buckets than a sketch has: of both signs, some near to zero.
std::vector<double> wide_numbers(std::mt19937_64& random, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& number : numbers) {
    const double size = std::exp(std::uniform_real_distribution(-200.0, 200.0)(random));
    number = random() % 3 == 0 ? -size : size;
  }
  return numbers;
}

TEST(Sketch, TooManyBucketsBecomeZerosInAnyOrder) {
  std::mt19937_64 random(3);
  std::vector<double> all;
  std::vector<Sketch> parts;
  for (int part = 0; part < 9; ++part) {
    const std::vector<double> numbers = wide_numbers(random, 2000);
    parts.push_back(sketch_of(numbers));
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  const Sketch whole = sketch_of(all);
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(parts, random);
    Sketch left;
    for (int part = 0; part < 4; ++part) left.add(parts[part]);
    Sketch right;
    for (int part = 4; part < 9; ++part) right.add(parts[part]);
    right.add(left);
    EXPECT_EQ(right, whole);
    std::ranges::shuffle(all, random);
    EXPECT_EQ(sketch_of(all), whole);
  }
  Bytes bytes;
  whole.append_to(bytes);
  BytesView rest = bytes;
  EXPECT_EQ(take_varint(rest), Sketch::kBucketsMax + 1);
  EXPECT_EQ(whole.count(), all.size());
  for (const double percentile : {0.0, 1.0, 98.0, 100.0}) {  // far from zero
    const ExactPercentile exact = exact_percentile(all, percentile);
    EXPECT_NEAR(whole.percentile(percentile), exact.value, exact.error) << percentile;
  }
}

TEST(Sketch, InfiniteNumbersCountApartAndNanDoesNotCount) {
  const Sketch sketch = sketch_of({-kInfinity, 1, 2, std::nan(""), kInfinity});
  EXPECT_EQ(sketch.count(), 4U);
  EXPECT_EQ(sketch.percentile(0), -kInfinity);
  EXPECT_EQ(sketch.percentile(20), -kInfinity);  // the first of four
  EXPECT_EQ(sketch.percentile(30), -kInfinity);  // nothing lies between it and 1
  EXPECT_NEAR(sketch.percentile(50), 1.5, 0.015);
  EXPECT_EQ(sketch.percentile(70), kInfinity);
  EXPECT_EQ(sketch.percentile(100), kInfinity);
  EXPECT_TRUE(sketch_of({std::nan("")}).empty());
  EXPECT_TRUE(std::isnan(Sketch().percentile(50)));
  EXPECT_EQ(sketch_of({0.0, -0.0}).percentile(50), 0);
}

TEST(Sketch, IsReadAsItWasWritten) {
  std::mt19937_64 random(4);
  for (const auto& [name, draw] : distributions()) {
    std::vector<double> numbers(1000);
    for (double& number : numbers) number = draw(random);
    numbers.push_back(kInfinity);
    const Sketch sketch = sketch_of(numbers);
    Bytes bytes;
    sketch.append_to(bytes);
    const Bytes followed = bytes + "more";
    BytesView rest = followed;
    EXPECT_EQ(Sketch::take(rest), sketch) << name;
    EXPECT_EQ(rest, "more") << name;
  }
}

TEST(Sketch, HasSmallBytes) {
  Bytes bytes;
  sketch_of({1, 1, 2}).append_to(bytes);
  EXPECT_EQ(to_hex(bytes), "02808008022201");  // 1 is in bucket 0, 2 in bucket 35
  bytes.clear();
  Sketch().append_to(bytes);
  EXPECT_EQ(to_hex(bytes), "00");
}

std::optional<Sketch> take_hex(std::string_view hex) {
  const Bytes bytes = from_hex(hex).value();
  BytesView rest = bytes;
  return Sketch::take(rest);
}

TEST(Sketch, DamagedBytesAreRefused) {
  EXPECT_TRUE(take_hex("01000a"));   // ten zeros
  EXPECT_FALSE(take_hex(""));        // nothing
  EXPECT_FALSE(take_hex("02000a"));  // a bucket is missing
  EXPECT_FALSE(take_hex("0100"));    // a count is missing
  EXPECT_FALSE(take_hex("010000"));  // an empty bucket
  EXPECT_FALSE(take_hex("010201"));  // no number has the key 1
  EXPECT_FALSE(
      take_hex("01828010"
               "01"));  // nor one after infinity
  EXPECT_FALSE(
      take_hex("01ffffffffffffffffff"
               "0101"));
  EXPECT_FALSE(take_hex("0100ffffffffffffffff7f"));  // too many numbers
  Bytes many;
  append_varint(many, Sketch::kBucketsMax + 1);
  append_varint(many, zigzag(65536));
  append_varint(many, 1);
  for (std::size_t i = 0; i < Sketch::kBucketsMax; ++i) many.append("\0\1", 2);
  BytesView rest = many;
  EXPECT_FALSE(Sketch::take(rest));  // one more than it may have, none of them zeros
}

}  // namespace
}  // namespace halite
