// Range queries answered with the cache against those answered without it, over points that come in
// the order of time, late, or again, and are deleted: both must be equal to the last bit.
//
// A world asks a few random expressions over and over, as dashboards do: at the newest times, at
// the same ones, at more or less of them. tests/support/dice.h tells how to choose worlds.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/data_point.h"
#include "common/threads/task.h"
#include "query/engine/engine.h"
#include "query/engine/promql.h"
#include "query/limits.h"
#include "storage/api/forwarding_point_store.h"
#include "storage/api/point_changes.h"
#include "tests/support/dice.h"
#include "tests/support/metric_value.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/query/promql/random_expression.h"
#include "tests/unit/query/promql/reference.h"

namespace halite::query::promql {
namespace {

using test::Dice;
using test::run_task;

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kTtlMs = 30 * 60 * kSecondMs;

// Says what changed, and that points are kept for kTtlMs. They stay nevertheless.
class ChangingStore final : public storage::ForwardingPointStore {
 public:
  ChangingStore(storage::PointStore& inner, const Clock& clock)
      : ForwardingPointStore(inner), changes_(clock), clock_(clock) {}

  Task<storage::Accepted> append(storage::PointBatch batch) override {
    const TimestampMs first = std::ranges::min(batch.times);
    auto appending = inner().append(std::move(batch));
    CO_TRY(storage::Accepted accepted, co_await std::move(appending));
    CO_TRY_VOID(co_await accepted.durable.wait());
    changes_.changed_from(first);
    co_return accepted;
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection> selection,
                                   TimeRange range) override {
    auto deleting = inner().delete_range(std::move(selection), range);
    CO_TRY(const std::uint64_t count, co_await std::move(deleting));
    changes_.changed_from(range.begin);
    co_return count;
  }
  [[nodiscard]] storage::PointChanges* changes() override { return &changes_; }
  [[nodiscard]] TimestampMs kept_from(std::string_view /*metric*/) const override {
    return clock_.now_ms() - kTtlMs;
  }

 private:
  storage::PointChanges changes_;
  const Clock& clock_;
};

struct ComingPoint {
  std::size_t series = 0;
  TimestampMs time = 0;
  double value = 0;
};

// The sign of a NaN is of no meaning: it depends on which of two NaNs a compiler adds to which.
bool is_same(double one, double other) {
  if (std::isnan(one) && std::isnan(other)) return is_absent(one) == is_absent(other);
  return std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
}

class CachedWorld {
 public:
  CachedWorld(std::uint64_t seed, std::uint64_t number) : dice_((seed << 32) + number) {
    const std::vector<ReferenceSeries> series = random_series(dice_, kBegin);
    for (std::size_t i = 0; i < series.size(); ++i) {
      SeriesName name;
      for (const auto& [label, value] : series[i].labels) {
        if (label == "__name__") {
          name.metric = value;
        } else {
          name.tags.push_back({label, value});
        }
      }
      std::vector<SeriesName> names{name};
      ids_.push_back(*run_task(store_.intern(std::move(names), {})).value().front());
      for (const ReferenceSample& sample : series[i].samples) {
        coming_.push_back({i, sample.time, sample.value});
      }
    }
    std::ranges::sort(coming_, {},
                      [](const ComingPoint& one) { return std::pair(one.time, one.series); });
    for (int i = 0; i < 3; ++i) expressions_.push_back(random_expression(dice_, kBegin, false));
    world_.clock().set(kBegin);
  }

  // Moves on, and asks. Stops at the first difference.
  void run() {
    for (int round = 0; round < 40; ++round) {
      const std::int64_t on = dice_.of<std::int64_t>({0, 1, 5, 15, 30, 60, 120});
      world_.clock().advance(on * kSecondMs);
      take_points();
      if (dice_.one_in(12)) delete_some();
      if (dice_.one_in(12)) change_all();
      for (int i = 0; i < 3; ++i) {
        PromqlQuestion question = random_question();
        compare(question);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }

  [[nodiscard]] double steps_taken() const {
    return test::metric_value(metrics_, "halite_query_promql_steps_total", {{"source", "cache"}});
  }
  [[nodiscard]] double steps_evaluated() const {
    return test::metric_value(metrics_, "halite_query_promql_steps_total",
                              {{"source", "evaluated"}});
  }

 private:
  static constexpr TimestampMs kBegin = 1'400'000'400'000;  // behind QueryWorld::kNow

  void append(storage::PointStore& store, const std::vector<ComingPoint>& samples) {
    if (samples.empty()) return;
    storage::PointBatch batch;
    for (const ComingPoint& one : samples) {
      const auto flags =
          static_cast<std::uint8_t>(kFloat | (one.time % kSecondMs != 0 ? kMillis : 0));
      batch.add(ids_[one.series], one.time, double_bits(one.value), flags);
    }
    const auto accepted = run_task(store.append(std::move(batch)));
    ASSERT_TRUE(accepted) << accepted.error().message;
    const Result<void> durable = run_task(accepted->durable.wait());
    ASSERT_TRUE(durable) << durable.error().message;
  }

  // Those up to the clock's time, of which some come later, and some again with another value.
  void take_points() {
    std::vector<ComingPoint> batch;
    for (; next_ < coming_.size() && coming_[next_].time <= world_.clock().now_ms(); ++next_) {
      if (dice_.one_in(200)) {
        late_.push_back(coming_[next_]);
      } else {
        batch.push_back(coming_[next_]);
      }
    }
    if (!late_.empty() && dice_.one_in(4)) {
      batch.push_back(late_.back());
      late_.pop_back();
    }
    if (next_ > 0 && dice_.one_in(10)) {
      batch.push_back(coming_[upto(next_ - 1)]);
      batch.back().value = static_cast<double>(dice_.upto(100));
    }
    append(store_, batch);
  }

  // As a new name does: something of the past differs, and nothing says since when.
  void change_all() {
    if (next_ == 0) return;
    std::vector<ComingPoint> changed = {coming_[upto(next_ - 1)]};
    changed.front().value += 1;
    append(world_.store(), changed);
    store_.changes()->changed_from(std::numeric_limits<TimestampMs>::min());
  }

  void delete_some() {
    if (next_ == 0) return;
    const ComingPoint& one = coming_[upto(next_ - 1)];
    const auto pin = store_.pin_series();
    storage::SeriesQuery query;
    query.tsuids = {Bytes(store_.series(ids_[one.series]).tsuid)};
    const auto selection = run_task(store_.select(std::move(query), {}));
    ASSERT_TRUE(selection) << selection.error().message;
    const TimeRange range{.begin = one.time, .end = one.time + dice_.upto(3 * 60 * kSecondMs) + 1};
    const auto deleted = run_task(store_.delete_range(*selection, range));
    ASSERT_TRUE(deleted) << deleted.error().message;
  }

  std::size_t upto(std::size_t max) {
    return static_cast<std::size_t>(dice_.upto(static_cast<std::int64_t>(max)));
  }

  PromqlQuestion random_question() {
    PromqlQuestion question;
    question.expression = dice_.of(expressions_);
    question.range = true;
    const std::int64_t step = dice_.of<std::int64_t>({15, 30, 30, 30, 30, 30}) * kSecondMs;
    const TimestampMs now = world_.clock().now_ms();
    TimestampMs last = now - now % step;
    if (dice_.one_in(8)) last += step * (dice_.upto(8) - 6);
    if (dice_.one_in(16)) last += dice_.upto(step);
    const auto count =
        static_cast<std::size_t>(dice_.of<std::int64_t>({1, 15, 20, 20, 20, 25, 40}));
    question.steps = {.begin = last - static_cast<std::int64_t>(count - 1) * step,
                      .step_ms = step,
                      .count = count};
    if (dice_.one_in(16)) {
      question.lookback_ms = dice_.of<std::int64_t>({60 * kSecondMs, 7 * 60 * kSecondMs});
    }
    return question;
  }

  void compare(const PromqlQuestion& question) {
    const auto cached = run_task(cached_.run_promql(question, {}));
    const auto plain = run_task(plain_.run_promql(question, {}));
    const std::string what =
        fmt::format("{} at {} and {} times every {} ms", question.expression, question.steps.begin,
                    question.steps.count - 1, question.steps.step_ms);
    ASSERT_EQ(cached.has_value(), plain.has_value())
        << what << "\n"
        << (cached ? plain.error().message : cached.error().message);
    if (!cached) return;
    EXPECT_EQ((*cached)->warnings, (*plain)->warnings) << what;
    EXPECT_EQ((*cached)->infos, (*plain)->infos) << what;
    EXPECT_EQ((*cached)->steps, (*plain)->steps) << what;
    const auto* const one = std::get_if<Vector>(&(*cached)->value);
    const auto* const other = std::get_if<Vector>(&(*plain)->value);
    if (one == nullptr || other == nullptr) return;
    ASSERT_EQ(one->rows.size(), other->rows.size()) << what;
    for (std::size_t i = 0; i < one->rows.size(); ++i) {
      EXPECT_EQ(one->rows[i].labels.text(), other->rows[i].labels.text()) << what;
      const bool same = std::ranges::equal(one->rows[i].values, other->rows[i].values, is_same);
      EXPECT_TRUE(same) << what << "\n"
                        << one->rows[i].labels.text()
                        << fmt::format("\n{}\n{}", fmt::join(one->rows[i].values, " "),
                                       fmt::join(other->rows[i].values, " "));
    }
  }

  static QueryLimits limits(std::uint64_t cache_bytes_max) {
    QueryLimits limits;
    limits.promql.cache_bytes_max = cache_bytes_max;
    return limits;
  }
  [[nodiscard]] QueryExecutors executors() {
    return {.large = pool_.get_executor(), .small = pool_.get_executor()};
  }

  Dice dice_;
  test::QueryWorld world_{test::QueryLayout::kOpentsdb};  // one shard: sums have one order
  ChangingStore store_{world_.store(), world_.clock()};
  boost::asio::thread_pool pool_{1};
  prometheus::Registry metrics_;
  prometheus::Registry other_metrics_;
  QueryEngine cached_{store_, world_.clock(), limits(1 << 20), false, executors(), metrics_};
  QueryEngine plain_{store_, world_.clock(), limits(0), false, executors(), other_metrics_};

  std::vector<storage::SeriesId> ids_;
  std::vector<ComingPoint> coming_;  // in the order of time
  std::size_t next_ = 0;
  std::vector<ComingPoint> late_;
  std::vector<std::string> expressions_;
};

TEST(PromqlCacheProperty, AnswersAreThoseWithoutCache) {
  const std::uint64_t seed = test::chosen_seed();
  const auto first = static_cast<std::uint64_t>(test::setting("HALITE_PROPERTY_FIRST", 0));
  // A world asks 120 questions.
  const auto worlds = static_cast<std::uint64_t>(
      test::setting("HALITE_PROPERTY_CASES", test::kSanitized ? 600 : 6000) / 120 + 1);
  double taken = 0;
  double evaluated = 0;
  for (std::uint64_t i = first; i < first + worlds && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("HALITE_PROPERTY_SEED={}, HALITE_PROPERTY_FIRST={}", seed, i));
    CachedWorld world(seed, i);
    world.run();
    taken += world.steps_taken();
    evaluated += world.steps_evaluated();
  }
  fmt::print("{} steps from the cache, {} evaluated\n", taken, evaluated);
  if (worlds >= 20 && !HasFailure()) EXPECT_GT(taken, evaluated / 10);
}

}  // namespace
}  // namespace halite::query::promql
