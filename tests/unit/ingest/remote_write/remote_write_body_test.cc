#include "ingest/remote_write/remote_write_body.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/little_endian.h"
#include "ingest/series_cache/label_fields.h"
#include "tests/support/proto_text.h"

namespace halite::ingest {
namespace {

using test::proto_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

struct Found {
  SeriesName series;
  TimestampMs time = 0;
  ValueBits value = 0;
  bool operator==(const Found&) const = default;
};

class Collector final : public PointReceiver {
 public:
  // `likely`: keys of series in the order in which they are expected.
  explicit Collector(const PointBody& body, std::vector<std::string> likely = {})
      : body_(body), likely_(std::move(likely)) {}

  [[nodiscard]] SeriesKey likely_series() const override {
    if (next_ == likely_.size()) return {};
    return {.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = likely_[next_]};
  }
  void take_likely_series() override {
    ++taken;
    series(likely_series());
  }
  void series(const SeriesKey& key) override {
    if (next_ < likely_.size()) ++next_;
    EXPECT_EQ(key.grammar, KeyGrammar::kLabelFields);
    EXPECT_EQ(key.metric, "");
    keys.emplace_back(key.tags);
    name_ = body_.series_name(key);
    if (!name_) refused.push_back(name_.error().text);
  }
  void point(PointBits point) override {
    EXPECT_NE(point.flags & kFloat, 0);
    if (name_) points.push_back({.series = *name_, .time = point.time, .value = point.value});
  }
  void refuse(std::string reason) override { refused.push_back(std::move(reason)); }
  void metadata(const MetricMetadata& about) override {
    families.push_back(
        fmt::format("{} {} {} {}", about.family, about.type, about.unit, about.help));
  }

  std::vector<std::string> keys;
  std::vector<Found> points;
  std::vector<std::string> refused;
  std::vector<std::string> families;
  std::size_t taken = 0;  // likely series

 private:
  const PointBody& body_;
  const std::vector<std::string> likely_;
  std::size_t next_ = 0;
  std::expected<SeriesName, Refused> name_;
};

struct Outcome {
  std::vector<std::string> keys;
  std::vector<Found> points;
  std::vector<std::string> refused;
  std::vector<std::string> families;
  std::size_t taken = 0;
  RemoteWriteCounts counts;
  std::optional<Error> error;
};

Outcome outcome_of(RemoteWriteVersion version, const Bytes& bytes,
                   std::vector<std::string> likely = {}) {
  const auto body = make_remote_write_body(version, bytes, IngestLimits());
  Collector collector(*body, std::move(likely));
  const auto read = body->read(collector);
  return {.keys = std::move(collector.keys),
          .points = std::move(collector.points),
          .refused = std::move(collector.refused),
          .families = std::move(collector.families),
          .taken = collector.taken,
          .counts = body->counts(),
          .error = read ? std::nullopt : std::optional(read.error())};
}

void expect_equal(const Outcome& found, const Outcome& wanted) {
  EXPECT_EQ(found.points, wanted.points);
  EXPECT_EQ(found.refused, wanted.refused);
  EXPECT_EQ(found.families, wanted.families);
  EXPECT_EQ(found.counts.samples, wanted.counts.samples);
  EXPECT_EQ(found.counts.histograms, wanted.counts.histograms);
  EXPECT_EQ(found.counts.exemplars, wanted.counts.exemplars);
  EXPECT_EQ(found.error.has_value(), wanted.error.has_value());
  if (found.error && wanted.error) EXPECT_EQ(found.error->message, wanted.error->message);
}

// The same series and samples as bodies of both versions.
class Bodies {
 public:
  explicit Bodies(std::uint64_t seed) : random_(seed) {
    const std::size_t count = below(20);
    for (std::size_t i = 0; i < count; ++i) add_series();
    v2 += series2_;
  }

  Bytes v1;
  Bytes v2 = proto_bytes("4: \"\"");
  std::vector<Found> points;

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  std::size_t ref_of(const std::string& symbol) {
    const auto known = std::ranges::find(symbols_, symbol);
    if (known != symbols_.end()) return static_cast<std::size_t>(known - symbols_.begin());
    symbols_.push_back(symbol);
    v2 += proto_bytes(fmt::format("4: \"{}\"", symbol));
    return symbols_.size() - 1;
  }

  void add_series() {
    SeriesName name{.metric = fmt::format("m{}", below(3)), .tags = {}};
    std::vector<Tag> labels = {{.key = "__name__", .value = name.metric}};
    for (std::size_t i = below(5); i > 0; --i) {
      Tag tag{.key = fmt::format("k{}", i), .value = below(4) == 0 ? "" : std::string(i, 'v')};
      if (!tag.value.empty()) name.tags.push_back(tag);
      labels.push_back(std::move(tag));
    }
    std::ranges::sort(name.tags);
    std::ranges::shuffle(labels, random_);
    std::string text1;
    std::string text2;
    for (const Tag& label : labels) {
      text1 += fmt::format("1: {{1: \"{}\" 2: \"{}\"}} ", label.key, label.value);
      text2 += fmt::format("{} {} ", ref_of(label.key), ref_of(label.value));
    }
    std::string samples;
    for (std::size_t i = below(4); i > 0; --i) {
      const Found point{.series = name,
                        .time = static_cast<TimestampMs>(1'700'000'000'000 + below(1'000'000)),
                        .value = random_()};
      samples += fmt::format("2: {{1: 0x{:016x} 2: {}}} ", point.value, point.time);
      points.push_back(point);
    }
    v1 += proto_bytes(fmt::format("1: {{{}{}}}", text1, samples));
    series2_ += proto_bytes(fmt::format("5: {{1: [{}] {}}}", text2, samples));
  }

  std::mt19937_64 random_;
  std::vector<std::string> symbols_ = {""};
  Bytes series2_;
};

TEST(RemoteWriteBody, BothVersionsHaveTheSamePointsAndKeys) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Bodies bodies(seed);
    const Outcome one = outcome_of(RemoteWriteVersion::k1, bodies.v1);
    const Outcome two = outcome_of(RemoteWriteVersion::k2, bodies.v2);
    EXPECT_EQ(one.points, bodies.points) << seed;
    EXPECT_EQ(two.points, bodies.points) << seed;
    EXPECT_EQ(one.counts.samples, bodies.points.size());
    EXPECT_FALSE(one.error || two.error) << seed;
    // Empty values are not there in keys of 2.0.
    EXPECT_EQ(one.keys.size(), two.keys.size());
  }
}

TEST(RemoteWriteBody, LikelySeriesHaveTheSamePoints) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const Bodies bodies(seed);
    const auto check = [&](RemoteWriteVersion version, const Bytes& body) {
      const Outcome wanted = outcome_of(version, body);
      const Outcome all = outcome_of(version, body, wanted.keys);
      expect_equal(all, wanted);
      EXPECT_EQ(all.keys, wanted.keys);
      EXPECT_EQ(all.taken, wanted.keys.size());
      std::vector<std::string> others = wanted.keys;
      std::mt19937_64 random(seed);
      std::ranges::shuffle(others, random);
      const Outcome some = outcome_of(version, body, others);
      expect_equal(some, wanted);
      EXPECT_EQ(some.keys, wanted.keys);
    };
    check(RemoteWriteVersion::k1, bodies.v1);
    check(RemoteWriteVersion::k2, bodies.v2);
  }
}

TEST(RemoteWriteBody, LikelySeriesWithMoreThanSamples) {
  const std::string symbols =
      R"(4: "" 4: "__name__" 4: "up" 4: "k" 4: "v" 4: "help" 4: "s" 4: "__name__" )";
  const auto check = [&](std::string_view series, std::size_t taken) {
    SCOPED_TRACE(series);
    const Bytes body = proto_bytes(symbols + std::string(series));
    std::string key;
    LabelFields::append(key, "__name__", "up");
    LabelFields::append(key, "k", "v");
    const Outcome found = outcome_of(RemoteWriteVersion::k2, body, {key});
    expect_equal(found, outcome_of(RemoteWriteVersion::k2, body));
    EXPECT_EQ(found.taken, taken);
  };
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000}}", 1);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000} 5: {1: 1 3: 5 4: 6}}", 1);
  check("5: {1: [7 2 3 4] 2: {1: 1.0 2: 1000} 5: {1: 1 3: 5}}", 1);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000} 5: {1: 1 3: 99}}", 1);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: -1} 2: {1: 1.0 2: 1}}", 1);
  // The time when a counter began, a sample without a value, a histogram, an exemplar.
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000 3: 500}}", 0);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000} 2: {2: 2000}}", 0);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000} 3: {1: 3}}", 0);
  check("5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000} 4: {2: 1.0}}", 0);
  check("5: {5: {1: 1} 1: [1 2 3 4] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 4]}", 0);
  // Other labels, and none that are there.
  check("5: {1: [1 2] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 6] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 4 3 4] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 0] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 4 1] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 8] 2: {1: 1.0 2: 1000}}", 0);
  check("5: {1: [1 2 3 4] 1: [3 4] 2: {1: 1.0 2: 1000}}", 0);
}

TEST(RemoteWriteBody, LikelySeriesAndSymbolsWithBytesTooMany) {
  const Bytes name = proto_bytes(R"(4: "" 4: "__name__")");
  const Bytes series = proto_bytes("5: {1: [1 2] 2: {1: 1.0 2: 1000}}");
  std::string key;
  LabelFields::append(key, "__name__", "up");
  using namespace std::string_literals;
  for (const Bytes& symbol : {"\x22\x82\x00up"s, "\xA2\x00\x02up"s, "\xA2\x00\x82\x00up"s}) {
    const Bytes body = name + symbol + series;
    const Outcome found = outcome_of(RemoteWriteVersion::k2, body, {key});
    expect_equal(found, outcome_of(RemoteWriteVersion::k2, body));
    EXPECT_EQ(found.points.size(), 1u);
    EXPECT_EQ(found.taken, 0u);
  }
}

TEST(RemoteWriteBody, TheKeyIsTheLabelsAsTheyLieThere) {
  const Bytes labels = proto_bytes(R"(1: {1: "__name__" 2: "up"} 1: {1: "job" 2: "x"})");
  const Bytes one = proto_bytes(
      R"(1: {1: {1: "__name__" 2: "up"} 1: {1: "job" 2: "x"} 2: {1: 1.0 2: 1000} 2: {2: 2000}})");
  EXPECT_THAT(outcome_of(RemoteWriteVersion::k1, one).keys, ElementsAre(labels));
  const Bytes two = proto_bytes(
      R"(4: "" 4: "__name__" 4: "up" 4: "job" 4: "x" 5: {1: [1 2 3 4] 2: {1: 1.0 2: 1000}})");
  EXPECT_THAT(outcome_of(RemoteWriteVersion::k2, two).keys, ElementsAre(labels));
}

TEST(RemoteWriteBody, EachCutIsAnErrorOrABodyOfFewerSeries) {
  const Bytes whole = proto_bytes(
      R"(1: {1: {1: "__name__" 2: "up"} 2: {1: 1.0 2: 1000}} 1: {1: {1: "__name__" 2: "b"} 2: {}})");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Outcome outcome = outcome_of(RemoteWriteVersion::k1, whole.substr(0, size));
    EXPECT_EQ(outcome.error.has_value(), size != 0 && size != 32) << size;
  }
}

TEST(RemoteWriteBody, SymbolsCannotStandForEndlessLabels) {
  // 33 labels of 2 KB each, by references of one byte: a thousandfold.
  IngestLimits limits;
  Bytes body = proto_bytes(
      fmt::format("4: \"\" 4: \"{}\" 4: \"__name__\"", std::string(limits.name_bytes_max, 'a')));
  std::string refs;
  for (std::size_t i = 0; i <= limits.tags_max; ++i) refs += "1 1 ";
  const Bytes series = proto_bytes(fmt::format("5: {{1: [{}] 2: {{1: 1.0 2: 1}}}}", refs));
  const std::size_t count = kLabelBytesMax / (limits.tags_max * 2 * limits.name_bytes_max) + 1;
  for (std::size_t i = 0; i < count; ++i) body += series;
  ASSERT_LT(body.size(), kLabelBytesMax / 500);
  class Nothing final : public PointReceiver {
   public:
    explicit Nothing(bool expects) : expects_(expects) {}

    [[nodiscard]] SeriesKey likely_series() const override {
      if (!expects_) return {};
      return {.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = last_};
    }
    void take_likely_series() override { ++taken; }
    void series(const SeriesKey& key) override {
      longest = std::max(longest, key.tags.size());
      last_ = key.tags;
    }
    void point(PointBits /*point*/) override {}
    void refuse(std::string /*reason*/) override {}

    std::size_t longest = 0;
    std::size_t taken = 0;

   private:
    const bool expects_;
    std::string last_;
  };
  for (const bool expects : {false, true}) {
    Nothing nothing(expects);
    const auto read = make_remote_write_body(RemoteWriteVersion::k2, body, limits)->read(nothing);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kTooLarge);
    EXPECT_THAT(read.error().message, HasSubstr("have more than 134217728 bytes"));
    EXPECT_LT(nothing.longest, std::size_t{80} << 10);
    EXPECT_EQ(nothing.taken > count / 2, expects);
  }
}

TEST(RemoteWriteBody, SymbolsOfRefusedSeriesCount) {
  const IngestLimits limits;
  Bytes body = proto_bytes(
      fmt::format("4: \"\" 4: \"{}\" 4: \"__name__\"", std::string(limits.name_bytes_max, 'a')));
  std::string refs;
  for (std::size_t i = 0; i < 50; ++i) refs += "1 1 ";
  const Bytes series = proto_bytes(fmt::format("5: {{1: [{}]}}", refs));  // without samples
  for (std::size_t i = 0; i < 2'000; ++i) body += series;
  const Outcome outcome = outcome_of(RemoteWriteVersion::k2, body);
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, Errc::kTooLarge);
}

TEST(RemoteWriteBody, ASeriesOfTooManyLabelsIsRefusedByItself) {
  const IngestLimits limits;
  std::string refs = "2 3 ";
  for (std::size_t i = 0; i < 10'000; ++i) refs += "1 1 ";
  const Bytes body = proto_bytes(
      fmt::format("4: \"\" 4: \"{}\" 4: \"__name__\" 4: \"up\" 5: {{1: [{}] 2: {{}} 2: {{}}}} "
                  "5: {{1: [2 3] 2: {{}}}}",
                  std::string(limits.name_bytes_max, 'a'), refs));
  const Outcome outcome = outcome_of(RemoteWriteVersion::k2, body);
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.points.size(), 1u);
  EXPECT_THAT(outcome.refused,
              ElementsAre(HasSubstr("ingest.tags_max"), HasSubstr("ingest.tags_max")));
}

TEST(RemoteWriteBody, ReferencesBehindTooLongLabelsAreNotFollowed) {
  const auto families = [](std::string_view refs) {
    const Outcome outcome =
        outcome_of(RemoteWriteVersion::k2,
                   proto_bytes(fmt::format("4: \"\" 4: \"{}\" 4: \"__name__\" 4: \"up\" "
                                           "5: {{1: [{}] 2: {{}} 5: {{1: 1}}}}",
                                           std::string(80'000, 'x'), refs)));
    EXPECT_FALSE(outcome.error);
    EXPECT_THAT(outcome.refused, ElementsAre(HasSubstr("the labels have more than")));
    return outcome.families;
  };
  EXPECT_THAT(families("1 0 2 4000000000"), ElementsAre());
  EXPECT_THAT(families("1 0 4000000000 0"), ElementsAre());
  EXPECT_THAT(families("2 3 1 0 4000000000 0"), ElementsAre(HasSubstr("up counter")));
}

TEST(RemoteWriteBody, CountsWhatItDoesNotStore) {
  const Bytes body = proto_bytes(
      R"(4: "" 4: "__name__" 4: "up" 5: {1: [1 2] 2: {2: -1} 2: {} 2: {2: 1} 3: {1: 3} 4: {2: 1.0}})");
  const Outcome outcome = outcome_of(RemoteWriteVersion::k2, body);
  EXPECT_EQ(outcome.points.size(), 2u);
  EXPECT_EQ(outcome.counts.samples, 3u);
  EXPECT_EQ(outcome.counts.histograms, 1u);
  EXPECT_EQ(outcome.counts.exemplars, 1u);
  EXPECT_EQ(outcome.refused.size(), 2u);
}

}  // namespace
}  // namespace halite::ingest
