// Compares views with the points of an engine under random work: late, overwritten and deleted
// points, units computed at random times, a clock that passes the retention, and power cuts at any
// change of the disk. A view always answers what the points answer. It keeps the totals that it had
// when the points expired.
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/sketch.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/views/view_store.h"
#include "tests/support/exact_percentile.h"
#include "tests/support/model_seeds.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/engine_world.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr TimestampMs kBegin = 1'700'006'400'000;  // a day begins
constexpr int kStepsDefault = test::kSanitized ? 80 : 150;
constexpr std::int64_t kTtlMs = 3 * kDayMs;
constexpr double kPercentiles[] = {0, 50, 99, 100};

// With percentiles, views are computed from points; without, also from the totals of chunks.
std::string rules(bool percentiles) {
  return fmt::format(
      R"([
  {{"name":"by-dc","metrics":"m","interval":"5m","functions":["sum","min","max"{0}],
   "group_by":["dc"]}},
  {{"name":"all","metrics":"m*","interval":"1h","functions":["sum"],"group_by":[]}},
  {{"name":"series","metrics":"*","interval":"20m","functions":["sum","min","max"{0}]}},
  {{"name":"days","metrics":"m","interval":"1d","functions":["count","max"{0}],
   "group_by":["dc"]}}])",
      percentiles ? R"(,"p50","p99")" : "");
}

// By tags of the group and begin of the bucket.
using Key = std::pair<std::string, TimestampMs>;
using Totals = std::map<Key, BucketTotals>;
using Numbers = std::map<Key, std::vector<double>>;

std::string tags_text(const Series& series) {
  std::string text;
  for (const SeriesTag& tag : series.tags) text += fmt::format("{}={} ", tag.key, tag.value);
  return text;
}

class ViewModelTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  ViewModelTest() : random_(GetParam()), world_(GetParam(), kBegin + kDayMs) {
    world_.layout.salt_buckets = 3;
    world_.layout.future_max_ms = kHourMs;
    if (below(2) == 0) {
      world_.layout.span_ms = kHourMs;
      world_.layout.slots = 200;
      world_.layout.ttl_ms = kTtlMs;
      world_.layout.cleaning_ms = kHourMs;
    }
    EngineOptions& options = world_.options;
    options.log.segment_bytes = 16 << 20;
    options.log.segment_bytes_min = 64 << 10;
    options.log.commit_interval_ms = 0;
    options.read_threads = 1;
    options.expire_after_clock_jump = true;
    percentiles_ = below(2) == 0;
  }
  ~ViewModelTest() override { views_.reset(); }

  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  [[nodiscard]] TimestampMs kept_from() const {
    const std::int64_t ttl = world_.layout.ttl_ms;
    return ttl == 0 ? 0 : world_.clock.now_ms() - ttl;
  }

  // ---- steps: false when something was in the way -----------------------------------------------

  TimestampMs random_time() {
    const TimestampMs now = world_.clock.now_ms();
    const TimestampMs begin = std::max(kept_from(), now - 4 * kDayMs);
    switch (below(4)) {
      case 0:  // a few that come again and again
        return begin + kHourMs + static_cast<TimestampMs>(below(3)) * kHourMs + below(5) * 1000;
      case 1:
        return begin + static_cast<TimestampMs>(below(static_cast<std::uint32_t>(now - begin)));
      default:
        return now - below(600'000);
    }
  }

  bool append() {
    std::vector<SeriesName> names;
    for (std::uint32_t i = 0, count = 1 + below(4); i < count; ++i) {
      std::vector<Tag> tags = {{"host", fmt::format("h{}", below(6))}};
      if (below(5) > 0) tags.insert(tags.begin(), {"dc", fmt::format("d{}", below(3))});
      names.push_back({.metric = below(5) == 0 ? "more" : "m", .tags = std::move(tags)});
    }
    const auto hold = world_.points->pin_series();
    const auto ids = run_task(views_->points().intern(std::move(names), {}));
    if (!ids) return false;
    PointBatch batch;
    for (std::uint32_t i = 0, count = 1 + below(30); i < count; ++i) {
      const Result<SeriesId>& id = (*ids)[below(static_cast<std::uint32_t>(ids->size()))];
      if (!id) return false;
      const auto integer = static_cast<std::int64_t>(below(1000)) - 500;
      const bool is_float = below(3) == 0;
      const ValueBits value = is_float ? double_bits(below(20) == 0 ? std::nan("") : integer / 7.0)
                                       : integer_bits(integer);
      batch.add(*id, random_time(), value, is_float ? kFloat : 0);
    }
    const auto accepted = run_task(views_->points().append(std::move(batch)));
    if (!accepted) return false;
    for (const Refusal& refusal : accepted->refused) {
      EXPECT_NE(refusal.error.message.find("a view keeps"), std::string::npos)
          << refusal.error.message;
    }
    return below(2) == 0 || run_task(accepted->durable.wait()).has_value();
  }

  Result<std::shared_ptr<const Selection>> select(std::string metric) {
    SeriesQuery query;
    query.metric = std::move(metric);
    return run_task(world_.points->select(std::move(query), {}));
  }

  bool remove() {
    const auto selection = select("m");
    if (!selection) return selection.error().code == Errc::kNotFound;
    const TimestampMs begin = random_time();
    const TimeRange range = {.begin = begin, .end = begin + 1 + below(3 * kHourMs)};
    return run_task(views_->points().delete_range(*selection, range)).has_value();
  }

  bool build() {
    for (std::uint32_t i = 0, count = 1 + below(10); i < count; ++i) {
      const Result<bool> built = run_task(views_->build_some());
      if (!built) return false;
      if (!*built) break;
      ++built_;
    }
    return true;
  }

  bool step() {
    switch (below(20)) {
      case 0:
        return run_task(world_.points->flush()).has_value();
      case 1:
        return run_task(world_.points->seal()).has_value();
      case 2:
        return remove();
      case 3:
        world_.clock.advance(1 + below(below(6) == 0 ? 30 * kHourMs : kHourMs));
        return true;
      case 4:
        return run_task(views_->rebuild("by-dc")).has_value();
      case 5:
      case 6:
      case 7:
        return build();
      case 8:
      case 9:
        check();
        return true;
      default:
        return append();
    }
  }

  // ---- looking ----------------------------------------------------------------------------------

  Totals read(BlockSource& source, const std::shared_ptr<const Selection>& selection,
              TimeRange range) {
    Totals found;
    const auto scan = source.scan(selection, range, 0);
    while (true) {
      const auto blocks = run_task(scan->next());
      EXPECT_TRUE(blocks) << blocks.error().message;
      if (!blocks || blocks->empty()) return found;
      for (const Block& block : *blocks) {
        EXPECT_TRUE(block.times.empty());
        for (const SpanTotals& span : block.totals) {
          const auto [place, is_new] =
              found.try_emplace({tags_text(source.series(block.series)), span.begin});
          EXPECT_TRUE(is_new);
          place->second = {
              .any = true, .count = span.count, .sum = span.sum, .min = span.min, .max = span.max};
        }
      }
    }
  }

  // Sketches of buckets of that length.
  std::map<Key, Sketch> read_sketches(BlockSource& source,
                                      const std::shared_ptr<const Selection>& selection,
                                      TimeRange range, std::int64_t bucket_ms) {
    std::map<Key, Sketch> found;
    const auto scan =
        source.scan_totals(selection, range, 0, {.bucket_ms = bucket_ms, .sketches = true});
    while (true) {
      const auto blocks = run_task(scan->next());
      EXPECT_TRUE(blocks) << blocks.error().message;
      if (!blocks || blocks->empty()) return found;
      for (const Block& block : *blocks) {
        EXPECT_EQ(block.sketches.size(), block.totals.size());
        for (std::size_t i = 0; i < block.totals.size(); ++i) {
          EXPECT_EQ(block.totals[i].count, block.sketches[i].count());
          EXPECT_TRUE(
              found
                  .emplace(Key(tags_text(source.series(block.series)), block.totals[i].begin),
                           block.sketches[i])
                  .second);
        }
      }
    }
  }

  // The same by hand, point by point.
  Totals compute(const ViewRule& rule, const std::shared_ptr<const Selection>& selection,
                 TimeRange range, Numbers& numbers) {
    Totals totals;
    for (std::uint32_t shard = 0; shard < world_.points->shard_count(); ++shard) {
      const auto scan = world_.points->scan(selection, range, shard);
      while (true) {
        const auto blocks = run_task(scan->next());
        EXPECT_TRUE(blocks) << blocks.error().message;
        if (!blocks || blocks->empty()) break;
        for (const Block& block : *blocks) {
          std::string tags;
          for (const SeriesTag& tag : world_.points->series(block.series).tags) {
            const bool kept = !rule.group_by ||
                              std::ranges::find(*rule.group_by, tag.key) != rule.group_by->end();
            if (kept) tags += fmt::format("{}={} ", tag.key, tag.value);
          }
          for (std::size_t i = 0; i < block.size(); ++i) {
            const TimestampMs time = block.times[i];
            const double number = block.floats[i]
                                      ? as_double(block.values[i])
                                      : static_cast<double>(as_integer(block.values[i]));
            const Key key = {tags, time - time % rule.interval_ms};
            totals[key].add(number);
            if (!std::isnan(number)) numbers[key].push_back(number);
          }
        }
      }
    }
    return totals;
  }

  void compare(const ViewRule& rule, const Totals& found, const Totals& expected) {
    const auto text = [](const Totals::key_type& key) {
      return fmt::format("{} at {}", key.first, key.second);
    };
    for (const auto& [key, totals] : expected) {
      const auto place = found.find(key);
      ASSERT_NE(place, found.end()) << text(key) << " is missing";
      EXPECT_EQ(place->second.count, totals.count) << text(key);
      if (rule.functions.sum) EXPECT_NEAR(place->second.sum, totals.sum, 1e-6) << text(key);
      if (rule.functions.min) EXPECT_EQ(place->second.min, totals.min) << text(key);
      if (rule.functions.max) EXPECT_EQ(place->second.max, totals.max) << text(key);
    }
    for (const auto& [key, totals] : found) {
      EXPECT_TRUE(expected.contains(key)) << text(key) << " is too much";
    }
  }

  void compare_percentiles(const ViewRule& rule, std::map<Key, Sketch> found,
                           const std::map<Key, Sketch>& merged, std::int64_t merged_ms,
                           const Numbers& expected) {
    for (const auto& [key, numbers] : expected) {
      const Sketch& sketch = found[key];
      ASSERT_EQ(sketch.count(), numbers.size()) << key.first << " at " << key.second;
      for (const double percentile : kPercentiles) {
        const test::ExactPercentile exact = test::exact_percentile(numbers, percentile);
        EXPECT_NEAR(sketch.percentile(percentile), exact.value, exact.error)
            << key.first << " at " << key.second << ": " << percentile << " % of " << rule.name;
      }
    }
    std::map<Key, Sketch> added;
    for (const auto& [key, sketch] : found) {
      added[{key.first, key.second - key.second % merged_ms}].add(sketch);
    }
    EXPECT_TRUE(added == merged) << "merged by " << merged_ms << " ms";
  }

  void check() {
    if (!power_) return;
    const auto selection = select("m");
    if (!selection) {
      ASSERT_EQ(selection.error().code, Errc::kNotFound) << selection.error().message;
      return;
    }
    const TimestampMs now = world_.clock.now_ms();
    for (const auto& view : views_->views_of("m")) {
      SCOPED_TRACE(view->rule.name);
      const std::int64_t unit = view->rule.unit_ms();
      const auto source = views_->source(view, "m");
      // Whole units with all their points, up to an end somewhere.
      const TimestampMs first = (std::max(kBegin, kept_from()) + unit - 1) / unit * unit;
      const TimeRange range = {.begin = first + below(2) * unit, .end = now + below(kHourMs)};
      if (range.begin < range.end) {
        Numbers numbers;
        const Totals expected = compute(view->rule, *selection, range, numbers);
        compare(view->rule, read(*source, *selection, range), expected);
        if (view->rule.functions.sketch) {
          const std::int64_t merged_ms = (2 + below(5)) * view->rule.interval_ms;
          compare_percentiles(
              view->rule,
              read_sketches(*source, *selection, range, below(2) * view->rule.interval_ms),
              read_sketches(*source, *selection, range, merged_ms), merged_ms, numbers);
        }
      }
      if (kept_from() > 0) {
        const TimestampMs end = kept_from() / unit * unit;
        const TimeRange expired = {.begin = end - 10 * kDayMs, .end = end};
        Totals found = read(*source, *selection, expired);
        if (view->rule.functions.sketch) {
          for (auto& [key, sketch] : read_sketches(*source, *selection, expired, 0)) {
            found[key].sketch = std::move(sketch);
          }
        }
        check_kept(view->rule, found);
      }
      if (HasFatalFailure()) return;
    }
  }

  // What expired does not change any more.
  void check_kept(const ViewRule& rule, const Totals& found) {
    Totals& kept = kept_[rule.name];
    for (const auto& [key, totals] : kept) {
      if (key.second < world_.clock.now_ms() - 8 * kDayMs) continue;  // not read any more
      const auto place = found.find(key);
      ASSERT_NE(place, found.end()) << key.first << " at " << key.second << " was kept";
      EXPECT_EQ(place->second.count, totals.count) << key.first << " at " << key.second;
      EXPECT_EQ(place->second.sketch, totals.sketch) << key.first << " at " << key.second;
    }
    for (const auto& [key, totals] : found) kept[key] = totals;
  }

  // ---- trouble ----------------------------------------------------------------------------------

  void open() {
    world_.options.head_freeze_bytes = below(2) == 0 ? 1 : 256 << 10;
    const Result<void> opened = world_.open();
    ASSERT_TRUE(opened) << opened.error().message;
    auto views = run_task(
        ViewStore::open({.store = *world_.rows,
                         .points = *world_.points,
                         .uids = world_.points->uids(),
                         .widths = world_.layout.widths,
                         .table = "halite-views",
                         .clock = world_.clock,
                         .ttl_ms = [this](std::string_view) { return world_.layout.ttl_ms; },
                         .registry = world_.metrics},
                        parse_view_rules(rules(percentiles_)).value(), {.settle_ms = 1000}, false));
    ASSERT_TRUE(views) << views.error().message;
    views_ = *std::move(views);

    GcRules gc_rules;
    gc_rules.keeps = [](std::vector<Bytes>) {
      return std::make_unique<ChainedSeriesIterator>(
          std::vector<std::unique_ptr<SeriesIterator>>());
    };
    gc_rules.others = [this] { return views_->groups(); };
    world_.points->enable_series_gc(std::move(gc_rules));
  }

  void close(bool crash) {
    if (crash) {
      world_.crash();
    } else {
      EXPECT_TRUE(world_.close());
    }
    views_.reset();
  }

  void crash_somewhere() {
    world_.files->cut_power_after(below(200));
    power_ = false;
    for (int steps = 0; steps < 30 && step(); ++steps) ++steps_;
    close(true);
    power_ = true;
    ASSERT_NO_FATAL_FAILURE(open());
    check();
  }

  void run(int steps) {
    ASSERT_NO_FATAL_FAILURE(open());
    while (steps_ < steps && !HasFailure()) {
      SCOPED_TRACE(fmt::format("HALITE_SEED={} step {}", GetParam(), steps_));
      if (below(40) == 0) {
        crash_somewhere();
      } else if (below(80) == 0) {
        close(false);
        ASSERT_NO_FATAL_FAILURE(open());
      } else {
        ASSERT_TRUE(step()) << "nothing was in the way";
      }
      ++steps_;
    }
    if (HasFailure()) return;
    check();
    EXPECT_GT(built_, steps / 20);
    close(false);
  }

  std::mt19937 random_;
  test::EngineWorld world_;
  std::unique_ptr<ViewStore> views_;
  std::map<std::string, Totals> kept_;  // by view
  bool percentiles_ = false;
  bool power_ = true;
  int built_ = 0;
  int steps_ = 0;
};

TEST_P(ViewModelTest, AnswersWhatThePointsAnswer) {
  ASSERT_NO_FATAL_FAILURE(run(test::model_steps(kStepsDefault)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, ViewModelTest, testing::ValuesIn(test::model_seeds()));

}  // namespace
}  // namespace halite::storage
