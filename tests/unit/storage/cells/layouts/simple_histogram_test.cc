#include "storage/cells/layouts/values/simple_histogram.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

Bytes encoded(const SimpleHistogram& histogram) {
  Bytes bytes;
  histogram.append_to(bytes);
  return bytes;
}

SimpleHistogram buckets(std::vector<HistogramBucket> list) {
  SimpleHistogram histogram;
  for (const HistogramBucket& bucket : list) {
    EXPECT_TRUE(histogram.set(bucket.lower, bucket.upper, bucket.count));
  }
  return histogram;
}

Result<SimpleHistogram> histogram_from_hex(std::string_view hex) {
  return SimpleHistogram::read(from_hex(hex).value());
}

// As OpenTSDB wrote it.
TEST(SimpleHistogram, IsWrittenInOrderOfItsBuckets) {
  SimpleHistogram histogram = buckets({{1.75F, 3.5F, 1600}, {0, 1.75F, 127}, {3.5F, 7, 128}});
  histogram.underflow = 1;
  histogram.overflow = 300'000;
  EXPECT_EQ(to_hex(encoded(histogram)),
            "0003000000003FE000007F3FE0000040600000C00C4060000040E00000800101E0A712");
}

TEST(SimpleHistogram, ReadsWhatItWrites) {
  SimpleHistogram histogram =
      buckets({{-1, -0.0F, -1}, {-0.0F, 1, 0}, {0, 1, std::numeric_limits<std::int64_t>::min()}});
  histogram.underflow = std::numeric_limits<std::int64_t>::max();
  const Bytes bytes = encoded(histogram);
  const auto read = SimpleHistogram::read(bytes);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(encoded(*read), bytes);
  EXPECT_EQ(read->buckets().size(), 3U);
  EXPECT_EQ(read->count(0, 1), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(read->count(0, 2), 0);
  EXPECT_EQ(read->underflow, std::numeric_limits<std::int64_t>::max());
}

TEST(SimpleHistogram, NegativeCountsTakeNineBytes) {
  EXPECT_EQ(to_hex(encoded(buckets({{0, 1, -1}}))), "0001000000003F800000FFFFFFFFFFFFFFFFFF0000");
}

TEST(SimpleHistogram, BytesThatEndEarlyAreRefused) {
  const Bytes whole = encoded(buckets({{0, 1.75F, 300}, {1.75F, 3.5F, 2}}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = SimpleHistogram::read(BytesView(whole).substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().message, "Buffer underflow.");
  }
  EXPECT_TRUE(SimpleHistogram::read(whole + "more"));
  EXPECT_TRUE(SimpleHistogram::read(encoded(SimpleHistogram())));
}

TEST(SimpleHistogram, ANegativeNumberOfBucketsIsNone) {
  const auto read = histogram_from_hex("FFFF0102");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->buckets().empty());
  EXPECT_EQ(read->underflow, 1);
  EXPECT_EQ(read->overflow, 2);
}

TEST(SimpleHistogram, PercentilesAreMiddlesOfBuckets) {
  const SimpleHistogram histogram = buckets({{0, 1, 50}, {1, 2, 40}, {2, 4, 10}});
  EXPECT_EQ(histogram.percentile(1), 0.5);
  EXPECT_EQ(histogram.percentile(50), 0.5);
  EXPECT_EQ(histogram.percentile(50.1), 1.5);
  EXPECT_EQ(histogram.percentile(90), 1.5);
  EXPECT_EQ(histogram.percentile(99.9F), 3);
  EXPECT_EQ(histogram.percentile(100), 3);
}

TEST(SimpleHistogram, PercentilesOutsideOfWhatOpentsdbTakesAreMinusOne) {
  const SimpleHistogram histogram = buckets({{0, 1, 50}});
  EXPECT_EQ(histogram.percentile(0.99), -1);
  EXPECT_EQ(histogram.percentile(100.1), -1);
  EXPECT_EQ(histogram.percentile(std::nan("")), -1);
  EXPECT_EQ(SimpleHistogram().percentile(50), 0);
  EXPECT_EQ(buckets({{0, 1, 0}}).percentile(50), 0);
}

TEST(SimpleHistogram, AddsBucketsOfTheSameBounds) {
  SimpleHistogram sum = buckets({{0, 1, 1}, {1, 2, std::numeric_limits<std::int64_t>::max()}});
  sum.overflow = 5;
  SimpleHistogram other = buckets({{1, 2, 1}, {2, 3, 7}});
  other.overflow = 6;
  ASSERT_TRUE(sum.add(other));
  EXPECT_EQ(sum.count(0, 1), 1);
  EXPECT_EQ(sum.count(1, 2), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(sum.count(2, 3), 7);
  EXPECT_EQ(sum.overflow, 11);
}

TEST(SimpleHistogram, HoldsAsManyBucketsAsItsBytesCount) {
  SimpleHistogram histogram;
  for (int i = 0; i < 32'767; ++i) {
    ASSERT_TRUE(histogram.set(static_cast<float>(i), static_cast<float>(i + 1), 1));
  }
  EXPECT_TRUE(histogram.set(5, 6, 2));
  EXPECT_EQ(histogram.set(-1, 0, 1).error().code, Errc::kTooLarge);
  EXPECT_EQ(SimpleHistogram::read(encoded(histogram))->buckets().size(), 32'767U);
}

TEST(PrettyBytes, AreATextWhereMostAreReadable) {
  EXPECT_EQ(pretty_bytes("ab\n\t\x01"), R"("ab\n\t\x01")");
  EXPECT_EQ(pretty_bytes("a\x01\xFF\x02"), "[97, 1, -1, 2]");
}

}  // namespace
}  // namespace halite::storage
