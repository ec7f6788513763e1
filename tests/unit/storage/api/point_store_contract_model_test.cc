// Thousands of random steps against a plain map. A failure names the seed; HALITE_SEED runs one.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "tests/support/sanitized.h"
#include "tests/unit/storage/api/point_store_contract.h"

namespace halite::storage {
namespace {

constexpr int kSteps = test::kSanitized ? 250 : 1500;
constexpr int kSyncedSteps = test::kSanitized ? 150 : 300;

class PointStoreModel : public PointStoreContract {
 protected:
  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  // Around hour and day borders, some in the future; whole seconds and milliseconds.
  TimestampMs random_time() {
    TimestampMs time = kBase;
    switch (below(4)) {
      case 0:
        time += below(20) * 1000;
        break;
      case 1:
        time += kHour - 10 + below(20);
        break;
      case 2:
        time += static_cast<TimestampMs>(below(72)) * kHour - 36 * kHour;
        break;
      default:
        time += static_cast<TimestampMs>(below(48 * 3600)) * 1000 - 24 * kHour;
        break;
    }
    return time;
  }

  TimeRange random_range() {
    const TimestampMs a = random_time();
    const TimestampMs b = random_time();
    return {std::min(a, b), std::max(a, b) + below(2)};
  }

  void append_some() {
    PointBatch batch;
    std::vector<SeriesName> names;
    const std::uint32_t count = 1 + below(8);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string name = "m" + std::to_string(below(2)) + " host=" + std::to_string(below(6));
      if (below(2) == 0) name += " dc=" + std::to_string(below(3));
      names.push_back(parse_series(name));
    }
    const auto ids = run(store().intern(names, CreateNames())).value();
    const std::uint32_t points = 1 + below(30);
    for (std::uint32_t i = 0; i < points; ++i) {
      const std::uint32_t which = below(count);
      const TimestampMs time = random_time();
      const bool is_float = below(2) == 0;
      std::uint8_t flags = time % 1000 != 0 || below(3) == 0 ? kMillis : 0;
      if (is_float) flags |= kFloat;
      if (below(2) == 0) flags |= kWide;
      const std::int64_t integer = static_cast<std::int64_t>(random_()) >> below(64);
      const ValueBits value =
          is_float ? double_bits(static_cast<double>(integer) / 8) : integer_bits(integer);
      batch.add(ids[which].value(), time, value, flags);
      model_[names[which]][time] = StoredPoint{value, is_float};
    }
    const Result<Accepted> accepted = run(store().append(std::move(batch)));
    ASSERT_TRUE(accepted);
    ASSERT_TRUE(accepted->refused.empty()) << accepted->refused.front().error.message;
  }

  struct Question {
    SeriesQuery query;
    std::function<bool(const SeriesName&)> wants;
  };

  static std::string value_of(const SeriesName& name, const std::string& key) {
    for (const Tag& tag : name.tags) {
      if (tag.key == key) return tag.value;
    }
    return "";
  }

  Question random_question() {
    const std::string metric = "m" + std::to_string(below(2));
    const std::string host = std::to_string(below(6));
    Question question;
    question.query.metric = metric;
    question.query.skip_unknown_values = true;
    std::vector<TagFilter>& filters = question.query.filters;
    using enum FilterType;
    switch (below(5)) {
      case 0:
        question.wants = [](const SeriesName&) { return true; };
        break;
      case 1:
        filters = {{kLiteralOr, "host", host + "|1"}};
        question.wants = [host](const SeriesName& name) {
          return value_of(name, "host") == host || value_of(name, "host") == "1";
        };
        break;
      case 2:
        filters = {{kNotLiteralOr, "host", host}, {kWildcard, "dc", "*"}};
        question.wants = [host](const SeriesName& name) {
          return value_of(name, "host") != host && !value_of(name, "dc").empty();
        };
        break;
      case 3:
        filters = {{kRegexp, "host", "^[0-" + host + "]$"}};
        question.wants = [host](const SeriesName& name) { return value_of(name, "host") <= host; };
        break;
      default:
        filters = {{kLiteralOr, "host", host}};
        question.query.explicit_tags = true;
        question.wants = [host](const SeriesName& name) {
          return value_of(name, "host") == host && name.tags.size() == 1;
        };
    }
    question.wants = [metric, wants = question.wants](const SeriesName& name) {
      return name.metric == metric && wants(name);
    };
    return question;
  }

  Points wanted(const Question& question, TimeRange range) {
    Points points;
    for (const auto& [name, all] : model_) {
      if (!question.wants(name)) continue;
      const auto begin = all.lower_bound(range.begin);
      const auto end = all.lower_bound(std::max(range.begin, range.end));
      if (begin != end) points[name] = SeriesPoints(begin, end);
    }
    return points;
  }

  void check_scan() {
    const Question question = random_question();
    const TimeRange range = random_range();
    const auto selection = run(store().select(question.query, {}));
    ASSERT_TRUE(selection) << selection.error().message;
    Points found = scan(*selection, range);
    std::erase_if(found, [&](const auto& one) {
      EXPECT_TRUE(question.wants(one.first)) << "a series that was not asked for";
      return one.second.empty();
    });
    EXPECT_EQ(found, wanted(question, range));
  }

  void check_last() {
    const Question question = random_question();
    const TimeRange range = random_range();
    const auto selection = run(store().select(question.query, {}));
    ASSERT_TRUE(selection);
    const auto last = run(store().last(*selection, range));
    ASSERT_TRUE(last);
    Points found;
    for (const LastPoint& point : *last) {
      found[name_of(store().series(point.series))][point.time] =
          StoredPoint{point.value, point.is_float};
    }
    Points expected = wanted(question, range);
    for (auto& [name, points] : expected) points = {*points.rbegin()};
    EXPECT_EQ(found, expected);
  }

  void delete_some() {
    const Question question = random_question();
    const TimeRange range = random_range();
    std::uint64_t expected = 0;
    for (const auto& [name, points] : wanted(question, range)) {
      expected += points.size();
      for (const auto& [time, point] : points) model_[name].erase(time);
    }
    const auto selection = run(store().select(question.query, {}));
    ASSERT_TRUE(selection);
    EXPECT_EQ(run(store().delete_range(*selection, range)).value(), expected);
  }

  void check_lookup() {
    const Question question = random_question();
    const auto selection = run(store().select(question.query, {}));
    ASSERT_TRUE(selection);
    std::vector<SeriesName> found;
    for (const SeriesId id : run(store().lookup(*selection, 0)).value()) {
      found.push_back(name_of(store().series(id)));
    }
    std::ranges::sort(found);
    std::vector<SeriesName> expected;
    for (const SeriesName& name : interned_) {
      if (question.wants(name)) expected.push_back(name);
    }
    EXPECT_EQ(found, expected);
  }

  void prepare() {
    for (const char* metric : {"m0", "m1"}) {
      for (int host = 0; host < 6; ++host) {
        std::string name = std::string(metric) + " host=" + std::to_string(host);
        intern(name);
        interned_.push_back(parse_series(name));
        for (int dc = 0; dc < 3; ++dc) {
          intern(name + " dc=" + std::to_string(dc));
          interned_.push_back(parse_series(name + " dc=" + std::to_string(dc)));
        }
      }
    }
    std::ranges::sort(interned_);
  }

  void step() {
    const std::uint32_t dice = below(100);
    if (dice < 60) {
      append_some();
      return;
    }
    ASSERT_TRUE(run(store().flush()));
    if (dice < 80) {
      check_scan();
    } else if (dice < 88) {
      check_last();
    } else if (dice < 94) {
      delete_some();
    } else if (dice < 97) {
      check_lookup();
    } else if (dice < 98) {
      reopen();
    }
  }

  void run_with(std::uint32_t seed) {
    SCOPED_TRACE(testing::Message() << "HALITE_SEED=" << seed);
    random_.seed(seed);
    prepare();
    const int steps = GetParam().synced ? kSyncedSteps : kSteps;
    for (int i = 0; i < steps && !HasFailure(); ++i) step();
  }

 private:
  std::mt19937 random_;
  Points model_;
  std::vector<SeriesName> interned_;  // sorted
};

INSTANTIATE_TEST_SUITE_P(Kinds, PointStoreModel, testing::ValuesIn(point_store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(PointStoreModel, AnswersAsAPlainMap) {
  const char* asked = std::getenv("HALITE_SEED");
  run_with(asked != nullptr ? static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10)) : 1);
}

}  // namespace
}  // namespace halite::storage
