#include "query/parse/aggregator.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/operators/accumulator.h"

namespace halite::query {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::int64_t integers(const std::string& name, std::vector<std::int64_t> values) {
  return aggregate_integers(*find_aggregator(name), values);
}

// By the array, and by the accumulator fed in two parts: both must agree.
double doubles(const std::string& name, std::vector<double> values) {
  const Aggregator& aggregator = *find_aggregator(name);
  DoubleAccumulator accumulator(aggregator);
  const std::span<const double> all(values);
  accumulator.add(all.first(values.size() / 2));
  accumulator.add(all.subspan(values.size() / 2));
  const double streamed = accumulator.result();
  const double result = aggregate_doubles(aggregator, values);
  if (std::isnan(result)) {
    EXPECT_TRUE(std::isnan(streamed)) << name;
  } else {
    EXPECT_EQ(streamed, result) << name;
  }
  return result;
}

TEST(Aggregator, ThirtyFiveNames) {
  EXPECT_EQ(aggregator_names().size(), 35);
  for (const std::string& name : aggregator_names()) {
    ASSERT_NE(find_aggregator(name), nullptr);
    EXPECT_EQ(find_aggregator(name)->name, name);
  }
  EXPECT_EQ(find_aggregator("SUM"), nullptr);
  EXPECT_EQ(find_aggregator(""), nullptr);
}

TEST(Aggregator, IntegersTruncateAndWrap) {
  EXPECT_EQ(integers("sum", {1, 2, 4}), 7);
  EXPECT_EQ(integers("sum", {INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(integers("avg", {-3, 0}), -1);
  EXPECT_EQ(integers("min", {3, -2, 5}), -2);
  EXPECT_EQ(integers("max", {3, -2, 5}), 5);
  EXPECT_EQ(integers("median", {10, 1, 7, 3}), 7);
  EXPECT_EQ(integers("mult", {3, 4, -5}), -60);
  EXPECT_EQ(integers("dev", {1, 10}), 4);
  EXPECT_EQ(integers("dev", {5}), 0);
  EXPECT_EQ(integers("diff", {1, 5, 9}), 8);
  EXPECT_EQ(integers("diff", {INT64_MIN, INT64_MAX}), -1);
  EXPECT_EQ(integers("count", {1, 5, 9}), 3);
  EXPECT_EQ(integers("squareSum", {1, 2, 3}), 14);
  EXPECT_EQ(integers("first", {4, 5}), 4);
  EXPECT_EQ(integers("last", {4, 5}), 5);
}

TEST(Aggregator, PercentilesOfTenIntegers) {
  const std::vector<std::int64_t> ten = {10, 3, 1, 2, 9, 8, 4, 5, 7, 6};
  EXPECT_EQ(integers("p50", ten), 5);
  EXPECT_EQ(integers("p75", ten), 8);
  EXPECT_EQ(integers("p90", ten), 9);
  EXPECT_EQ(integers("p95", ten), 10);
  EXPECT_EQ(integers("p999", ten), 10);
  EXPECT_EQ(integers("ep50r3", ten), 5);
  EXPECT_EQ(integers("ep90r7", ten), 9);
  EXPECT_EQ(integers("ep75r3", {1}), 1);
}

TEST(Aggregator, Doubles) {
  EXPECT_EQ(doubles("sum", {1, 2, 3.5}), 6.5);
  EXPECT_EQ(doubles("avg", {1, 2}), 1.5);
  EXPECT_EQ(doubles("dev", {1, 2, 3}), 0.816496580927726);
  EXPECT_EQ(doubles("median", {1, 2, 3, 4}), 3);
  // Java sorts -0.0 before 0.0, whatever their order was.
  EXPECT_TRUE(std::signbit(doubles("median", {0.0, -0.0, -0.0})));
  EXPECT_FALSE(std::signbit(doubles("median", {0.0, -0.0})));
  EXPECT_FALSE(std::signbit(doubles("p99", {0.0, -0.0})));
  EXPECT_EQ(doubles("p90", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 9.9);
  EXPECT_EQ(doubles("ep90r7", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 9.9);  // estimated as p90
  EXPECT_EQ(doubles("diff", {4, 1}), -3);
  EXPECT_EQ(doubles("diff", {4}), 0);
  EXPECT_EQ(doubles("mult", {2, 3}), 6);
}

TEST(Aggregator, NanIsLeftOut) {
  EXPECT_EQ(doubles("sum", {kNan, 2, kNan, 1}), 3);
  EXPECT_EQ(doubles("avg", {kNan, 2, 1}), 1.5);
  EXPECT_EQ(doubles("min", {kNan, 2, 1}), 1);
  EXPECT_EQ(doubles("max", {kNan, -2, -1}), -1);
  EXPECT_EQ(doubles("count", {kNan, 2}), 1);
  EXPECT_EQ(doubles("count", {kNan}), 0);
  EXPECT_EQ(doubles("dev", {kNan, 2}), 0);
  EXPECT_EQ(doubles("median", {kNan, 2}), 2);
  EXPECT_EQ(doubles("diff", {kNan, 2, 5}), 3);
  for (const char* name : {"sum", "avg", "min", "max", "dev", "median", "p95", "squareSum", "diff",
                           "mult", "first", "last"}) {
    EXPECT_TRUE(std::isnan(doubles(name, {kNan, kNan}))) << name;
  }
  EXPECT_TRUE(std::isnan(doubles("mult", {2, kNan})));
  EXPECT_TRUE(std::isnan(doubles("first", {kNan, 2})));
  EXPECT_TRUE(std::isnan(doubles("last", {2, kNan})));
  EXPECT_TRUE(std::isnan(doubles("diff", {2, kNan})));
}

}  // namespace
}  // namespace halite::query
