// What a ViewStore does with what another one has stored, with changed rules and with little
// memory.
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/units.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/views/view_store.h"
#include "tests/support/forwarding_table.h"
#include "tests/support/run_task.h"
#include "tests/unit/storage/tsdb/engine_world.h"

namespace halite::storage {
namespace {

using test::run_task;

constexpr TimestampMs kDayBegin = 1'700'006'400'000;

// Lets so many writes pass, then refuses all until `writes_left` is raised.
class FailingStore final : public WideColumnStore {
 public:
  explicit FailingStore(WideColumnStore& inner) : inner_(inner) {}

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override {
    auto opening = inner_.open_table(std::move(spec));
    CO_TRY(std::shared_ptr<Table> table, co_await std::move(opening));
    co_return std::make_shared<FailingTable>(std::move(table), writes_left);
  }
  Task<void> set_format(StoreFormat wanted) override {
    format = wanted;
    co_return Result<void>();
  }
  Task<void> close() override { co_return Result<void>(); }

  StoreFormat format = StoreFormat::kFirst;
  int writes_left = std::numeric_limits<int>::max();

 private:
  class FailingTable final : public test::ForwardingTable {
   public:
    FailingTable(std::shared_ptr<Table> inner, int& writes_left)
        : ForwardingTable(std::move(inner)), writes_left_(writes_left) {}

    Task<void> write(std::vector<RowWrite> rows) override {
      if (writes_left_ == 0) co_return fail(Errc::kUnavailable, "no more writes");
      --writes_left_;
      co_return co_await inner_->write(std::move(rows));
    }

   private:
    int& writes_left_;
  };

  WideColumnStore& inner_;
};

class ViewReopenTest : public testing::Test {
 protected:
  ~ViewReopenTest() override { views_.reset(); }

  void open(std::string_view rules, ViewLimits limits = {}) {
    views_.reset();
    if (!world_.points) ASSERT_TRUE(world_.open());
    if (!rows_) rows_.emplace(*world_.rows);
    auto views = run_task(ViewStore::open({.store = *rows_,
                                           .points = *world_.points,
                                           .uids = world_.points->uids(),
                                           .widths = world_.layout.widths,
                                           .table = "halite-views",
                                           .clock = world_.clock,
                                           .ttl_ms = [this](std::string_view) { return ttl_ms_; },
                                           .registry = registries_.emplace_back()},
                                          parse_view_rules(rules).value(), limits, false));
    ASSERT_TRUE(views) << views.error().message;
    views_ = *std::move(views);
  }

  void append(const std::vector<std::string>& hosts, TimestampMs time) {
    std::vector<SeriesName> names;
    for (const std::string& host : hosts) {
      names.push_back({.metric = "m", .tags = {{"host", host}}});
    }
    const auto ids = run_task(views_->points().intern(std::move(names), {}));
    ASSERT_TRUE(ids);
    PointBatch batch;
    for (const Result<SeriesId>& id : *ids) batch.add(id.value(), time, integer_bits(1), 0);
    ASSERT_TRUE(run_task(views_->points().append(std::move(batch))));
  }

  void build_all() {
    while (true) {
      const Result<bool> built = run_task(views_->build_some());
      ASSERT_TRUE(built) << built.error().message;
      if (!*built) return;
    }
  }

  std::unique_ptr<BlockSource> source() {
    return views_->source(views_->views_of("m").front(), "m");
  }

  // The points that the view counts.
  std::uint64_t count(TimeRange range) { return count(range, *source()); }
  std::uint64_t count(TimeRange range, BlockSource& source) {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(world_.points->select(std::move(query), {}));
    EXPECT_TRUE(selection);
    const auto scan = source.scan(*selection, range, 0);
    std::uint64_t count = 0;
    while (true) {
      const auto blocks = run_task(scan->next());
      EXPECT_TRUE(blocks);
      if (!blocks || blocks->empty()) return count;
      for (const Block& block : *blocks) {
        for (const SpanTotals& span : block.totals) count += span.count;
      }
    }
  }

  std::size_t groups() {
    const std::unique_ptr<SeriesIterator> iterator = views_->groups();
    std::size_t count = 0;
    while (const auto part = run_task(iterator->next()).value()) count += part->size();
    return count;
  }

  std::int64_t ttl_ms_ = 0;
  std::list<prometheus::Registry> registries_;
  test::EngineWorld world_{1, kDayBegin + 600'000};
  std::optional<FailingStore> rows_;
  std::unique_ptr<ViewStore> views_;
};

constexpr std::string_view kSums =
    R"([{"name":"sums","metrics":"m","interval":"1h","functions":["sum"],"group_by":[]}])";

// The oldest day is stored, but no unit is built, since the first hour of the day has not ended.
// 0.1.0 would change points and leave the totals of views as they are.
TEST_F(ViewReopenTest, KeepsVersionsWithoutViewsOutWhileThereIsOne) {
  ASSERT_NO_FATAL_FAILURE(open("[]"));
  EXPECT_EQ(rows_->format, StoreFormat::kFirst);
  ASSERT_TRUE(run_task(views_->set_rules(parse_view_rules(kSums).value())));
  EXPECT_EQ(rows_->format, StoreFormat::kViews);
  rows_->format = StoreFormat::kFirst;  // as earlier builds left it
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  EXPECT_EQ(rows_->format, StoreFormat::kViews);
  ASSERT_NO_FATAL_FAILURE(open("[]"));
  EXPECT_EQ(rows_->format, StoreFormat::kFirst);
}

TEST_F(ViewReopenTest, NoticesPointsBeforeTheOldestDayAlthoughNothingIsBuilt) {
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  append({"a"}, now);
  ASSERT_TRUE(run_task(views_->build_some()));
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  append({"a"}, now - 2 * kDayMs);
  EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now + 1}), 2U);
}

TEST_F(ViewReopenTest, NoticesPointsOfBuiltUnits) {
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  append({"a"}, now - 600'000 - 1);
  build_all();
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  append({"a"}, now - 600'000 - 2);
  append({"a"}, now);
  EXPECT_EQ(count({.begin = now - kDayMs, .end = now + 1}), 3U);
}

TEST_F(ViewReopenTest, ComputesViewsOfNewRulesWhileItRuns) {
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open("[]"));
  append({"a"}, now - kDayMs);
  build_all();
  EXPECT_TRUE(views_->views_of("m").empty());
  ASSERT_TRUE(run_task(views_->set_rules(parse_view_rules(kSums).value())));
  append({"a"}, now - 2 * kDayMs);
  build_all();
  EXPECT_GT(run_task(views_->status()).value().front().units_built, 0U);
  append({"a"}, now - 2 * kDayMs - 1);  // this view's units are watched, too
  EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now + 1}), 3U);
}

TEST_F(ViewReopenTest, DeletesARemovedViewWhenNoQueryReadsIt) {
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  append({"a"}, now - 2 * kDayMs);
  build_all();
  ttl_ms_ = kDayMs;  // from now on, only the view has the point
  std::unique_ptr<BlockSource> reading = source();
  ASSERT_TRUE(run_task(views_->set_rules({})));
  build_all();
  EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now}, *reading), 1U);
  EXPECT_EQ(groups(), 1U);
  reading.reset();
  world_.clock.advance(60'000);
  build_all();
  EXPECT_EQ(groups(), 0U);
}

TEST_F(ViewReopenTest, RulesThatCannotBeStoredChangeNothing) {
  constexpr std::string_view kOthers =
      R"([{"name":"sums","metrics":"m","interval":"2h","functions":["sum"],"group_by":[]},
          {"name":"more","metrics":"m","interval":"1d","functions":["max"],"group_by":[]}])";
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open(kSums));
  std::uint64_t points = 0;
  int failures = 0;
  for (bool stored = false; !stored; ++failures) {
    append({"a"}, now - 2 * kDayMs - ++points);
    build_all();
    rows_->writes_left = failures;
    stored = run_task(views_->set_rules(parse_view_rules(kOthers).value())).has_value();
    rows_->writes_left = std::numeric_limits<int>::max();
    append({"a"}, now - 2 * kDayMs - ++points);
    EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now}), points) << failures;
    world_.clock.advance(60'000);
    build_all();
    EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now}), points) << failures;
    EXPECT_EQ(views_->views_of("m").size(), stored ? 2U : 1U);
  }
  EXPECT_GT(failures, 3);
  ASSERT_NO_FATAL_FAILURE(open(kOthers));
  EXPECT_EQ(count({.begin = now - 3 * kDayMs, .end = now}), points);
}

// A day of all groups does not fit in memory, an hour does.
TEST_F(ViewReopenTest, ComputesFewerHoursTogetherIfTheyNeedMuchMemory) {
  constexpr std::string_view kLarge =
      R"([{"name":"hosts","metrics":"m","interval":"1m","functions":["sum"],"group_by":["host"]},
          {"name":"sums","metrics":"m","interval":"1h","functions":["sum"],"group_by":[]}])";
  const TimestampMs now = world_.clock.now_ms();
  ASSERT_NO_FATAL_FAILURE(open(kLarge, {.bytes_max = 1 << 20}));
  std::vector<std::string> hosts;
  for (int i = 0; i < 100; ++i) hosts.push_back(fmt::format("h{}", i));
  for (int hour = 1; hour <= 24; ++hour) append(hosts, now - hour * kHourMs);
  build_all();
  for (const ViewStatus& view : run_task(views_->status()).value()) {
    EXPECT_EQ(view.units_waiting, 0U) << view.rule.name;
    EXPECT_GE(view.units_built, 24U) << view.rule.name;
  }
  EXPECT_EQ(count({.begin = now - kDayMs, .end = now + 1}), 2400U);
}

}  // namespace
}  // namespace halite::storage
