// Lines of the series that the receiver expects give the same points as other lines do.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/formats/point_format.h"
#include "ingest/import/series_points.h"

namespace halite::ingest {
namespace {

const std::string kRefused = "refused";

struct Key {
  KeyGrammar grammar = KeyGrammar::kPutLine;
  std::string metric;
  std::string tags;

  [[nodiscard]] SeriesKey view() const {
    return {.grammar = grammar, .metric = metric, .tags = tags};
  }
};

// Expects the series of `likely`, in this order.
class Expecting final : public PointReceiver {
 public:
  Expecting(const PointParser& parser, std::vector<Key> likely)
      : parser_(parser), likely_(std::move(likely)) {}

  [[nodiscard]] SeriesKey likely_series() const override {
    return keys.size() < likely_.size() ? likely_[keys.size()].view() : SeriesKey();
  }
  void take_likely_series() override {
    ++taken;
    series(likely_series());
  }
  void series(const SeriesKey& key) override {
    keys.push_back(
        {.grammar = key.grammar, .metric = std::string(key.metric), .tags = std::string(key.tags)});
    const auto name = parser_.series_name(keys.back().view());
    series_ = name ? text_of(*name) : "";
  }
  void point(PointBits point) override {
    said.push_back(series_.empty() ? kRefused
                                   : fmt::format("{} {} {:x}", series_, point.time, point.value));
  }
  void refuse(std::string /*reason*/) override { said.push_back(kRefused); }
  void skip(std::string_view what) override { said.push_back(fmt::format("skipped {}", what)); }

  std::vector<Key> keys;  // of the series that came
  std::vector<std::string> said;
  std::size_t taken = 0;

 private:
  const PointParser& parser_;
  const std::vector<Key> likely_;
  std::string series_;
};

Expecting parse(Format format, const std::vector<std::string>& lines, std::vector<Key> likely) {
  const PointRules rules({}, "");
  const auto parser = make_parser(format, {.default_time = 5000}, rules);
  Expecting receiver(*parser, std::move(likely));
  for (const std::string& line : lines) parser->line(line, receiver);
  return receiver;
}

void check(Format format, const std::vector<std::string>& lines, std::size_t expected) {
  SCOPED_TRACE(format_name(format));
  const Expecting plain = parse(format, lines, {});
  const Expecting foreseen = parse(format, lines, plain.keys);
  EXPECT_EQ(foreseen.said, plain.said);
  EXPECT_EQ(foreseen.taken, expected);
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<Key> others = plain.keys;
    std::ranges::shuffle(others, random);
    EXPECT_EQ(parse(format, lines, others).said, plain.said);
  }
}

TEST(LikelySeries, LinesOfGraphite) {
  check(Format::kGraphite,
        {"a.b 1 1000", "a.b;k=v 2 1000", "a.b;k=v;l=w 3 1000", "a.b;k=v;l=w 4.5 1001", "a.b;k=v;",
         "a.b;k=v; 5 1000", "a.b;k=vv 6 1000", "a.bb;k=v 7 1000", "a.b  8 1000", "a.b;k=v 9",
         "a.b{k=\"v\"} 10 1000", "a.b;k={ 11 1000", "a.b;k 12 1000"},
        9);
}

TEST(LikelySeries, LinesOfPrometheus) {
  const std::vector<std::string> lines = {
      "m 1 1000",          "m{} 2 1000",        "m{a=\"b\"} 3 1000",    "m {a=\"b\"} 4 1000",
      "m{a=\"b\"} 5",      "m{a=\"b\"}6 1000",  "m{a=\"b\",} 7 1000",   "m{a=\"b\"}} 8 1000",
      "m{a=\"}\"} 9 1000", "m{a=\"b\"} x 1000", "m{a=\"b\"}c=\"d\"} 1", "m{a=\"b\"} 1 2 3",
      "mm{a=\"b\"} 10 1",  "m{a=\"bb\"} 11 1"};
  check(Format::kPrometheus, lines, 9);
  check(Format::kOpenMetrics, lines, 9);
}

TEST(LikelySeries, LinesWithMoreThanAValue) {
  check(Format::kOpenMetrics,
        {"m{a=\"b\"} 1 1 # {t=\"x\"} 0.5", "m{a=\"b\"} 2 2 # {t=\"x\"", "m{a=\"#\"} 3 3"}, 2);
  check(Format::kPromDump,
        {"m{a=\"b\"} 1 1000", "m{a=\"b\"} {count:1, sum:2} 1000", "m{a=\"b\"} 2 2000"}, 2);
}

}  // namespace
}  // namespace halite::ingest
