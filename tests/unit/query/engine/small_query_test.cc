#include "query/engine/small_query.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/units.h"
#include "query/parse/question_parse.h"
#include "storage/api/read_context.h"
#include "tests/support/query_world.h"
#include "tests/support/run_task.h"
#include "tests/unit/query/times.h"

namespace halite::query {
namespace {

using test::QueryLayout;
using test::QueryWorld;

Question question_of(const std::string& m, std::int64_t length_ms) {
  const QueryWorld world(QueryLayout::kCyclic);
  const auto question = parse_question_uri({{"start", std::to_string(kT) + "ms"},
                                            {"end", std::to_string(kT + length_ms - 1) + "ms"},
                                            {"m", m}},
                                           world.context());
  return question.value();
}

std::string values(int count) {
  std::string text = "0";
  for (int i = 1; i < count; ++i) text += "|" + std::to_string(i);
  return text;
}

TEST(Quick, WhatNamesFewSeriesOverAShortTime) {
  EXPECT_TRUE(may_be_small(question_of("sum:m{host=a}", kHourMs)));
  EXPECT_TRUE(may_be_small(question_of("max:60s-max:m{host=a|b|c}", kHourMs)));
  EXPECT_TRUE(may_be_small(question_of("sum:m{host=" + values(64) + "}", kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=" + values(65) + "}", kHourMs)));
  EXPECT_TRUE(may_be_small(question_of("sum:m{host=a}", 64 * kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=a}", 65 * kHourMs)));
  // Less than half an hour counts as much.
  EXPECT_TRUE(may_be_small(question_of("sum:m{host=" + values(128) + "}", 1000)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=" + values(129) + "}", 1000)));
  // Whole buckets are read.
  EXPECT_FALSE(may_be_small(question_of("sum:1d-avg:m{host=a|b|c}", kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:100y-avg:m{host=a}", kHourMs)));
}

TEST(Quick, NotWhatMustBeLookedForValueByValue) {
  EXPECT_FALSE(may_be_small(question_of("sum:m", kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=*}", kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=a,dc=*}", kHourMs)));
  EXPECT_FALSE(may_be_small(question_of("sum:m{host=iliteral_or(a)}", kHourMs)));
}

TEST(Quick, NotWhatRemovesPoints) {
  Question question = question_of("sum:m{host=a}", kHourMs);
  question.delete_points = true;
  EXPECT_FALSE(may_be_small(question));
}

TEST(Quick, LimitsAreNeverWiderThanTheAskers) {
  const Question question = question_of("sum:m{host=a}", kHourMs);
  EXPECT_EQ(small_query_limits(question, {}).series_max, 64);
  EXPECT_EQ(small_query_limits(question, {.series_max = 3}).series_max, 3);
  EXPECT_EQ(small_query_limits(question, {.points_max = 5}).points_max, 5);
  EXPECT_EQ(small_query_limits(question, {.bytes_max = 6}).bytes_max, 6);
  EXPECT_EQ(small_query_limits(question, {.output_points_max = 7}).output_points_max, 7);
}

// A store that has nothing in memory.
class ColdStore final : public storage::PointStore {
 public:
  explicit ColdStore(storage::PointStore& store) : store_(store) {}

  std::atomic<int> refused = 0;

  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames create) override {
    return store_.intern(std::move(names), create);
  }
  [[nodiscard]] const storage::Series& series(storage::SeriesId id) const override {
    return store_.series(id);
  }
  Task<storage::Accepted> append(storage::PointBatch batch) override {
    return store_.append(std::move(batch));
  }
  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery query,
                                                         storage::ReadContext context) override {
    if (context.source == storage::ReadSource::kMemory) {
      ++refused;
      co_return fail(Errc::kUnavailable, "not in memory");
    }
    co_return co_await store_.select(std::move(query), std::move(context));
  }
  [[nodiscard]] std::uint32_t shard_count() const override { return store_.shard_count(); }
  [[nodiscard]] std::unique_ptr<storage::BlockScan> scan(
      std::shared_ptr<const storage::Selection> selection, TimeRange range,
      std::uint32_t shard) override {
    return store_.scan(std::move(selection), range, shard);
  }
  Task<storage::PinnedSeries> lookup(std::shared_ptr<const storage::Selection> selection,
                                     std::size_t limit) override {
    return store_.lookup(std::move(selection), limit);
  }
  Task<storage::PinnedLastPoints> last(std::shared_ptr<const storage::Selection> selection,
                                       TimeRange range) override {
    return store_.last(std::move(selection), range);
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection> selection,
                                   TimeRange range) override {
    return store_.delete_range(std::move(selection), range);
  }
  Task<std::vector<std::string>> suggest(storage::NameKind kind, std::string prefix,
                                         std::size_t max) override {
    return store_.suggest(kind, std::move(prefix), max);
  }
  Task<void> settle() override { co_return Result<void>{}; }
  Task<void> flush() override { return store_.flush(); }
  Task<void> seal() override { return store_.seal(); }

 private:
  storage::PointStore& store_;
};

class QuickEngineTest : public testing::Test {
 protected:
  QuickEngineTest() {
    for (int host = 0; host < 70; ++host) {
      const std::string series = "m dc=lga host=" + std::to_string(host);
      world_.put(series, kT + host, integer_bits(1), false);
    }
    // Puts what is put into the store.
    EXPECT_TRUE(world_.ask(question_of("sum:m", kHourMs)));
  }

  // Where large and small questions are answered; null: nowhere.
  std::unique_ptr<QueryEngine> engine_on(storage::PointStore& store,
                                         boost::asio::thread_pool* large,
                                         boost::asio::thread_pool* small) {
    none_.stop();
    const auto of = [this](boost::asio::thread_pool* pool) {
      return (pool == nullptr ? none_ : *pool).get_executor();
    };
    return std::make_unique<QueryEngine>(store, world_.clock(), QueryLimits{}, false,
                                         QueryExecutors{.large = of(large), .small = of(small)},
                                         metrics_);
  }

  // The sum of all points.
  double sum(QueryEngine& engine, const std::string& m) {
    const auto answer = test::run_task(engine.run(question_of(m, kHourMs), {}));
    EXPECT_TRUE(answer) << answer.error().message;
    double total = 0;
    for (const AnswerSeries& series : (*answer)->series) {
      for (const ValueBits value : series.values) total += as_double(value);
    }
    return total;
  }

  QueryWorld world_{QueryLayout::kCyclic};
  prometheus::Registry metrics_;
  boost::asio::thread_pool pool_{1};
  boost::asio::thread_pool none_{1};
};

TEST_F(QuickEngineTest, WhatIsNotInMemoryIsAskedAgainWhereLargeOnesAreNot) {
  ColdStore cold(world_.store());
  const auto engine = engine_on(cold, nullptr, &pool_);
  EXPECT_EQ(sum(*engine, "sum:1h-sum:m{host=7}"), 1);
  EXPECT_EQ(cold.refused, 1);
}

TEST_F(QuickEngineTest, LargeOnesAreNotTriedFromMemory) {
  ColdStore cold(world_.store());
  const auto engine = engine_on(cold, &pool_, nullptr);
  EXPECT_EQ(sum(*engine, "sum:1h-sum:m"), 70);
  EXPECT_EQ(cold.refused, 0);
}

TEST_F(QuickEngineTest, MoreSeriesThanExpectedAreAskedAgainAmongLargeOnes) {
  EXPECT_EQ(sum(*engine_on(world_.store(), &pool_, nullptr), "sum:1h-sum:m{dc=lga}"), 70);
}

TEST_F(QuickEngineTest, SoAreTheyWhenOnlyTheDiskTells) {
  ColdStore cold(world_.store());
  EXPECT_EQ(sum(*engine_on(cold, &pool_, &pool_), "sum:1h-sum:m{dc=lga}"), 70);
  EXPECT_EQ(cold.refused, 1);
}

TEST_F(QuickEngineTest, WhatIsInMemoryNeedsNoOtherThread) {
  EXPECT_EQ(sum(*engine_on(world_.store(), nullptr, nullptr), "sum:1h-sum:m{host=7}"), 1);
}

}  // namespace
}  // namespace halite::query
