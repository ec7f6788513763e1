// What text cannot say well of OTLP's bodies (tests/text/otlp says the rest): the forms that
// protobuf allows for one message, bodies with many points, and memory that is used again.
#include "ingest/otlp/otlp_body.h"

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/bytes.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "ingest/otlp/metric_reader.h"
#include "ingest/otlp/remembered_tags.h"

namespace halite::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kTime = 1'700'000'000'000'000'000;

Bytes number(std::uint32_t field, std::uint64_t value) {
  Bytes bytes;
  append_varint(bytes, field << 3);
  append_varint(bytes, value);
  return bytes;
}
Bytes fixed(std::uint32_t field, std::uint64_t value) {
  Bytes bytes;
  append_varint(bytes, field << 3 | 1);
  append_le(bytes, value);
  return bytes;
}
Bytes real(std::uint32_t field, double value) {
  return fixed(field, std::bit_cast<std::uint64_t>(value));
}
Bytes message(std::uint32_t field, BytesView content) {
  Bytes bytes;
  append_varint(bytes, field << 3 | 2);
  append_varint(bytes, content.size());
  return bytes.append(content);
}
Bytes attribute(std::string_view key, std::string_view value) {
  return message(1, key) + message(2, message(1, value));
}
Bytes number_point(std::uint64_t value, BytesView more = {}) {
  return fixed(3, kTime) + fixed(6, value) + Bytes(more);
}
Bytes request(BytesView metrics, BytesView resource = {}) {
  return message(1, message(1, resource) + message(2, metrics));
}

// "1 m{k=v} 5" for each point, refusals and skips; the error of a body.
class Found final : public PointReceiver {
 public:
  Found(OtlpEncoding encoding, BytesView bytes, OtlpOptions options = {})
      : body_(make_otlp_body(encoding, bytes, std::move(options))) {
    const Result<void> read = body_->read(*this);
    if (!read) lines = {read.error().message};
  }

  void part(std::uint32_t number) override { part_ = number; }
  void series(const SeriesKey& key) override {
    const auto name = body_->series_name(key);
    series_ = name ? name->metric + '{' : name.error().text;
    if (!name) return;
    for (const Tag& tag : name->tags) series_ += tag.key + '=' + tag.value + ' ';
    if (series_.ends_with(' ')) series_.pop_back();
    series_ += '}';
  }
  void point(PointBits point) override {
    const bool is_real = (point.flags & kFloat) != 0;
    lines.push_back(is_real ? fmt::format("{} {} {:.1f}", part_, series_, as_double(point.value))
                            : fmt::format("{} {} {}", part_, series_, as_integer(point.value)));
  }
  void refuse(std::string reason) override {
    lines.push_back(fmt::format("{} refused: {}", part_, reason));
  }

  std::vector<std::string> lines;

 private:
  std::unique_ptr<PointBody> body_;
  std::uint32_t part_ = 0;
  std::string series_;
};

Found protobuf(BytesView bytes) { return {OtlpEncoding::kProtobuf, bytes}; }

TEST(OtlpBody, FieldsComeInAnyOrder) {
  const Bytes point = fixed(6, 5) + fixed(3, kTime) + message(7, attribute("k", "v"));
  // The sum's points before its temporality, the metric's data before its name, the scope's
  // metrics before the resource.
  const Bytes sum = message(1, point) + number(3, 1) + number(2, 2);
  const Bytes metric = message(7, sum) + message(3, "s") + message(1, "req");
  const Bytes group =
      message(2, message(2, metric)) + message(1, message(1, attribute("service.name", "x")));
  EXPECT_THAT(protobuf(message(1, group)).lines, ElementsAre("1 req_seconds_total{job=x k=v} 5"));
}

TEST(OtlpBody, MessagesMayComeInPieces) {
  const Bytes metric = message(1, "m") + message(5, message(1, number_point(1))) +
                       message(5, message(1, number_point(2)));
  const Bytes group = message(1, message(1, attribute("service.name", "x"))) +
                      message(1, message(1, attribute("service.instance.id", "y"))) +
                      message(2, message(2, metric)) + message(2, message(2, metric));
  EXPECT_THAT(protobuf(message(1, group)).lines,
              ElementsAre("1 m{instance=y job=x} 1", "2 m{instance=y job=x} 2",
                          "3 m{instance=y job=x} 1", "4 m{instance=y job=x} 2"));
}

TEST(OtlpBody, OfSeveralKindsOfDataTheLastCounts) {
  const Bytes metric = message(1, "m") + message(5, message(1, number_point(1))) +
                       message(7, message(1, number_point(2)) + number(2, 2));
  EXPECT_THAT(protobuf(request(message(2, metric))).lines, ElementsAre("1 m{} 2"));
}

TEST(OtlpBody, BucketsMayBePackedOrNot) {
  Bytes packed_counts;
  for (const std::uint64_t count : {1U, 2U, 3U}) append_le(packed_counts, count);
  Bytes packed_bounds;
  for (const double bound : {1.0, 2.0}) {
    append_le(packed_bounds, std::bit_cast<std::uint64_t>(bound));
  }
  const Bytes common = fixed(3, kTime) + fixed(4, 6) + real(5, 9);
  const Bytes packed = common + message(6, packed_counts) + message(7, packed_bounds);
  const Bytes unpacked = common + fixed(6, 1) + real(7, 1) + fixed(6, 2) + real(7, 2) + fixed(6, 3);
  for (const Bytes& point : {packed, unpacked}) {
    const Bytes metric = message(1, "lat") + message(9, message(1, point) + number(2, 2));
    EXPECT_THAT(protobuf(request(message(2, metric))).lines,
                ElementsAre("1 lat_bucket{le=1} 1", "1 lat_bucket{le=2} 3",
                            "1 lat_bucket{le=+Inf} 6", "1 lat_sum{} 9.0", "1 lat_count{} 6"));
  }
}

TEST(OtlpBody, PointsWithOtherKeysThanTheLast) {
  const auto with = [](std::vector<std::string_view> keys) {
    Bytes attributes;
    for (const std::string_view key : keys) attributes += message(7, attribute(key, "v"));
    return message(1, number_point(1, attributes));
  };
  const Bytes gauge = with({"a", "b"}) + with({"b", "a"}) + with({"a"}) + with({}) +
                      with({"a.b", "a_b"}) + with({"a", "b"}) + with({"__"}) + with({"a", "b"});
  const Bytes metric = message(1, "m") + message(5, gauge);
  EXPECT_THAT(
      protobuf(request(message(2, metric))).lines,
      ElementsAre("1 m{a=v b=v} 1", "2 m{a=v b=v} 1", "3 m{a=v} 1", "4 m{} 1", "5 m{a_b=v;v} 1",
                  "6 m{a=v b=v} 1", HasSubstr("7 refused: "), "8 m{a=v b=v} 1"));
}

TEST(OtlpBody, AResourceDoesNotLastLongerThanItsMetrics) {
  const Bytes metric = message(1, "m") + message(5, message(1, number_point(1)));
  const Bytes body = request(message(2, metric), message(1, attribute("service.name", "x"))) +
                     request(message(2, metric));
  EXPECT_THAT(protobuf(body).lines, ElementsAre("1 m{job=x} 1", "2 m{} 1"));
}

TEST(OtlpBody, TheSameAttributesOfAnotherResource) {
  const Bytes point = message(1, number_point(1, message(7, attribute("job", "j"))));
  const Bytes metrics = message(2, message(1, "a") + message(5, point + point)) +
                        message(2, message(1, "b") + message(5, point));
  const Bytes body = request(metrics, message(1, attribute("service.name", "x"))) +
                     request(metrics, message(1, attribute("service.instance.id", "y")));
  EXPECT_THAT(protobuf(body).lines,
              ElementsAre("1 a{job=x} 1", "2 a{job=x} 1", "3 b{job=x} 1", "4 a{instance=y job=j} 1",
                          "5 a{instance=y job=j} 1", "6 b{instance=y job=j} 1"));
}

TEST(OtlpBody, AttributesMayLieApart) {
  const Bytes a = message(7, attribute("a", "v"));
  const Bytes b = message(7, attribute("b", "v"));
  const auto point = [](BytesView more) { return message(1, fixed(3, kTime) + Bytes(more)); };
  const Bytes value = fixed(6, 1);
  const Bytes gauge = point(a + b + value) + point(a + value + b) + point(a + value) +
                      point(a + value + b) + point(b + value + a) + point(value + a + b);
  EXPECT_THAT(protobuf(request(message(2, message(1, "m") + message(5, gauge)))).lines,
              ElementsAre("1 m{a=v b=v} 1", "2 m{a=v b=v} 1", "3 m{a=v} 1", "4 m{a=v b=v} 1",
                          "5 m{a=v b=v} 1", "6 m{a=v b=v} 1"));
}

TEST(OtlpBody, AttributesThatAreKnownButNotAsThoseOfANumber) {
  const Bytes le = message(1, "le") + message(2, message(1, "v"));
  const Bytes histogram = message(1, fixed(3, kTime) + fixed(4, 1) + message(9, le)) + number(2, 2);
  const Bytes number = message(1, number_point(1, message(7, le)));
  const Bytes metrics = message(2, message(1, "n") + message(5, number)) +
                        message(2, message(1, "h") + message(9, histogram)) +
                        message(2, message(1, "n") + message(5, number));
  EXPECT_THAT(protobuf(request(metrics)).lines,
              ElementsAre("1 n{le=v} 1", "2 h_bucket{le=+Inf} 1", "2 h_count{} 1", "3 n{le=v} 1"));
}

TEST(OtlpBody, MetricsWithAttributesInAnyOrder) {
  // More than are remembered, the second time backwards.
  constexpr std::size_t kCount = kRememberedMax + 10;
  Bytes forwards;
  Bytes backwards;
  std::vector<std::string> wanted;
  const auto add = [&](Bytes& to, std::size_t i, std::string_view metric) {
    // Values of 200 bytes have a length of two.
    const std::string value(i % 3 == 0 ? 200 : 1, 'v');
    const std::string k = fmt::format("{:04}", i);
    to += message(
        1, number_point(i, message(7, attribute("a", value)) + message(7, attribute("k", k))));
    wanted.push_back(fmt::format("{} {}{{a={} k={}}} {}", wanted.size() + 1, metric, value, k, i));
  };
  for (std::size_t i = 0; i < kCount; ++i) add(forwards, i, "m");
  for (std::size_t i = kCount; i-- > 0;) add(backwards, i, "n");
  const Bytes metrics = message(2, message(1, "m") + message(5, forwards)) +
                        message(2, message(1, "n") + message(5, backwards));
  EXPECT_TRUE(protobuf(request(metrics)).lines == wanted);
}

TEST(OtlpBody, TagsThatAreTooManyToRemember) {
  constexpr std::size_t kSize = 1000;  // of a value; there are two
  constexpr std::size_t kFit = kRememberedBytesMax / (2 * kSize);
  static_assert(kFit < kRememberedMax);
  Bytes gauge;
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < 2 * kFit; ++i) {
    const std::string value = fmt::format("{:0{}}", i % (kFit + 5), kSize);
    gauge += message(
        1, number_point(1, message(7, attribute("k", value)) + message(7, attribute("l", value))));
    wanted.push_back(fmt::format("{} m{{k={} l={}}} 1", i + 1, value, value));
  }
  const Bytes body = request(message(2, message(1, "m") + message(5, gauge)));
  EXPECT_TRUE(protobuf(body).lines == wanted);
}

TEST(OtlpBody, FaultyAttributesAreFaultsEachTime) {
  const Bytes good = message(1, number_point(1, message(7, attribute("k", "v"))));
  const auto with = [&](BytesView attributes) {
    return request(message(
        2, message(1, "m") + message(5, good + message(1, number_point(1, attributes)) + good)));
  };
  for (const Bytes& bad :
       {number(7, 1), message(7, "\x0a"), message(7, attribute("k", "v")) + "\x3a",
        message(7, attribute("k", "v")) + "\x3a\x7f"}) {
    EXPECT_THAT(protobuf(with(bad)).lines, ElementsAre(HasSubstr("not an OTLP request: byte ")));
  }
}

TEST(OtlpBody, ABucketOrQuantileTooManyIsRefused) {
  const auto histogram_of = [](std::size_t buckets) {
    Bytes point = fixed(3, kTime);
    for (std::size_t i = 0; i < buckets; ++i) point += fixed(6, 1);
    for (std::size_t i = 1; i < buckets; ++i) point += real(7, static_cast<double>(i));
    return request(message(2, message(1, "lat") + message(9, message(1, point) + number(2, 2))));
  };
  EXPECT_EQ(protobuf(histogram_of(kBucketsMax)).lines.size(), kBucketsMax + 1);
  EXPECT_THAT(protobuf(histogram_of(kBucketsMax + 1)).lines,
              ElementsAre("1 refused: metric \"lat\": 1025 buckets, at most 1024 are allowed"));
  const auto summary_of = [](std::size_t quantiles) {
    Bytes point = fixed(3, kTime);
    for (std::size_t i = 0; i < quantiles; ++i) point += message(6, real(1, 0.5));
    return request(message(2, message(1, "lat") + message(11, message(1, point))));
  };
  EXPECT_EQ(protobuf(summary_of(kBucketsMax)).lines.size(), kBucketsMax + 2);
  EXPECT_THAT(protobuf(summary_of(kBucketsMax + 1)).lines,
              ElementsAre("1 refused: metric \"lat\": 1025 quantiles, at most 1024 are allowed"));
}

TEST(OtlpBody, EveryCutBodyIsAnErrorOrHasFewerFields) {
  const Bytes metric = message(1, "m") + message(5, message(1, number_point(1)));
  const Bytes body = request(message(2, metric), message(1, attribute("service.name", "x")));
  EXPECT_THAT(protobuf(body).lines, ElementsAre("1 m{job=x} 1"));
  for (std::size_t size = 1; size < body.size(); ++size) {
    EXPECT_THAT(protobuf(BytesView(body).substr(0, size)).lines,
                ElementsAre(HasSubstr("not an OTLP request: byte ")))
        << size;
  }
}

TEST(OtlpBody, LongJsonIsReadToItsEnd) {
  std::string json = R"({"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":)"
                     R"({"dataPoints":[)";
  constexpr int kPoints = 20'000;
  for (int i = 0; i < kPoints; ++i) {
    json +=
        fmt::format(R"({}{{"timeUnixNano":"{}","asInt":"{}","attributes":[{{"key":"k","value":{{)"
                    R"("stringValue":"{}"}}}}]}})",
                    i == 0 ? "" : ",", kTime, i, i % 100);
  }
  json += "]}}]}]}]}";
  const Found found(OtlpEncoding::kJson, json);
  ASSERT_EQ(found.lines.size(), kPoints);
  EXPECT_EQ(found.lines.front(), "1 m{k=0} 0");
  EXPECT_EQ(found.lines.back(), "20000 m{k=99} 19999");
}

}  // namespace
}  // namespace halite::ingest
