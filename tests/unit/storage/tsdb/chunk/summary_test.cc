#include "storage/tsdb/chunk/summary.h"

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/crc32c.h"
#include "tests/support/point_shapes.h"
#include "tests/support/sanitized.h"

namespace halite::storage::chunk {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;

double as_number(const Points& points, std::size_t i) {
  return points.floats[i] ? as_double(points.values[i])
                          : static_cast<double>(as_integer(points.values[i]));
}

// What adding value by value gives, and how far a summary's sum may be from it.
struct Expected {
  SpanSummary span;
  double magnitudes = 0;
};

std::vector<Expected> expected_of(const Points& points, std::int64_t span_ms) {
  std::map<std::int64_t, Expected> spans;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto index = static_cast<std::int64_t>(
        std::floor(static_cast<long double>(points.times[i]) / static_cast<long double>(span_ms)));
    auto& [span, magnitudes] = spans[index];
    const double value = as_number(points, i);
    span.begin = index * span_ms;
    span.decode_only |= !std::isfinite(value);
    span.sum += value;
    magnitudes += std::fabs(value);
    span.min = span.count == 0 || value < span.min ? value : span.min;
    span.max = span.count == 0 || value > span.max ? value : span.max;
    ++span.count;
  }
  std::vector<Expected> in_order;
  for (auto& [index, one] : spans) {
    one.span.decode_only |= !std::isfinite(one.span.sum);
    in_order.push_back(one);
  }
  return in_order;
}

void expect_summaries(const Points& points, std::int64_t span_ms, const std::string& what) {
  Bytes bytes;
  encode_summaries(points.view(), span_ms, bytes);
  const auto made = decode_summaries(bytes);
  ASSERT_TRUE(made) << what << ": " << made.error().message;
  EXPECT_EQ(made->span_ms, span_ms);
  static SummaryDecoder decoder;  // whose memory holds what came before
  const auto again = decoder.decode(bytes);
  ASSERT_TRUE(again) << what << ": " << again.error().message;
  EXPECT_EQ((*again)->span_ms, span_ms);
  EXPECT_EQ((*again)->spans, made->spans) << what;
  const std::vector<Expected> expected = expected_of(points, span_ms);
  ASSERT_EQ(made->spans.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SpanSummary& span = made->spans[i];
    const SpanSummary& wanted = expected[i].span;
    ASSERT_EQ(span.begin, wanted.begin) << what;
    ASSERT_EQ(span.count, wanted.count) << what;
    ASSERT_EQ(span.decode_only, wanted.decode_only) << what;
    if (span.decode_only) continue;
    ASSERT_EQ(double_bits(span.min), double_bits(wanted.min)) << what;
    ASSERT_EQ(double_bits(span.max), double_bits(wanted.max)) << what;
    if (span.sum_exact) {
      ASSERT_EQ(span.sum, wanted.sum) << what;
    } else {
      const double error = expected[i].magnitudes * wanted.count * 0x1p-52;
      ASSERT_LE(std::fabs(span.sum - wanted.sum), error) << what;
    }
  }
}

TEST(Summary, EqualsAddingValueByValue) {
  Random random(1);
  for (const Shape& shape : all_shapes()) {
    for (const Beat beat : kBeats) {
      for (const std::size_t count : {1, 2, 359, 360, 3000}) {
        Points points = make_points(shape, beat, count, random);
        if (beat == Beat::kAny)
          points = make_points(shape, beat, std::min<std::size_t>(count, 40), random);
        for (const std::int64_t span_ms :
             {std::int64_t{60'000}, kHourMs, std::int64_t{86'400'000}}) {
          ASSERT_NO_FATAL_FAILURE(expect_summaries(
              points, span_ms, fmt::format("{} x {} by {}", shape.name, count, span_ms)));
        }
      }
    }
  }
}

TEST(Summary, WholeNumbersAreExact) {
  Random random(2);
  Bytes bytes;
  encode_summaries(make_points(metric_shapes()[0], Beat::kSteady, 8640, random).view(), kHourMs,
                   bytes);
  const auto made = decode_summaries(bytes);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->spans.size(), 24u);
  for (const SpanSummary& span : made->spans) EXPECT_TRUE(span.sum_exact);
}

// Multiplied by a power of ten, they are above 2^53.
TEST(Summary, LargeIntegersAmongDecimals) {
  Points points;
  for (int i = 0; i < 20; ++i) points.push_back(i * 1000, double_bits(i + 0.25), true);
  points.push_back(kHourMs, integer_bits(6'307'634'131'183'632), false);
  points.push_back(2 * kHourMs, integer_bits(-840'882'536'407'746), false);
  points.push_back(3 * kHourMs, integer_bits((std::int64_t{1} << 53) / 100), false);
  points.push_back(4 * kHourMs, integer_bits((std::int64_t{1} << 53) / 100 + 1), false);
  expect_summaries(points, kHourMs, "large integers");
}

TEST(Summary, TimesBefore1970AndGaps) {
  Points points;
  points.push_back(-kHourMs - 1, integer_bits(5), false);
  points.push_back(-1, double_bits(-0.0), true);
  points.push_back(0, double_bits(0.0), true);
  points.push_back(1'000 * kHourMs, integer_bits(7), false);
  expect_summaries(points, kHourMs, "gaps");
}

TEST(Summary, OfADayTakeFewBytes) {
  if (test::kSanitized) GTEST_SKIP() << "nothing but a figure";
  Random random(3);
  const std::vector<Shape> shapes = metric_shapes();
  const std::size_t most[] = {102, 160, 222, 186, 540};
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Bytes bytes;
    for (int series = 0; series < 100; ++series) {
      encode_summaries(make_points(shapes[i], Beat::kSteady, 8640, random).view(), kHourMs, bytes);
    }
    EXPECT_LE(bytes.size() / 100, most[i]) << shapes[i].name;
  }
}

TEST(Summary, EveryFlippedBitIsCorruption) {
  Random random(4);
  Bytes bytes;
  encode_summaries(make_points(metric_shapes()[1], Beat::kSteady, 2000, random).view(), kHourMs,
                   bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << (bit % 8));
    const auto made = decode_summaries(damaged);
    ASSERT_FALSE(made);
    ASSERT_EQ(made.error().code, Errc::kCorruption);
  }
}

TEST(Summary, DamageUnderARightCrcIsAnErrorOrSpansInOrder) {
  Random random(5);
  for (const Shape& shape : all_shapes()) {
    Bytes bytes;
    encode_summaries(make_points(shape, Beat::kGaps, 3000, random).view(), kHourMs, bytes);
    for (int round = 0; round < 500; ++round) {
      Bytes damaged = bytes.substr(0, bytes.size() - 4);
      damaged[random() % damaged.size()] = static_cast<char>(random());
      if (random() % 8 == 0) damaged.resize(1 + random() % damaged.size());
      append_be(damaged, crc32c(damaged));
      const auto made = decode_summaries(damaged);
      if (!made) continue;
      for (std::size_t i = 1; i < made->spans.size(); ++i) {
        ASSERT_LT(made->spans[i - 1].begin, made->spans[i].begin);
      }
    }
  }
}

}  // namespace
}  // namespace halite::storage::chunk
