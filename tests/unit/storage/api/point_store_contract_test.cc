#include "tests/unit/storage/api/point_store_contract.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

INSTANTIATE_TEST_SUITE_P(Kinds, PointStoreContract, testing::ValuesIn(point_store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(PointStoreContract, EveryBitComesBack) {
  const SeriesId id = intern("m host=a");
  SeriesPoints expected;
  PointBatch batch;
  TimestampMs time = kBase;
  const auto add = [&](ValueBits value, std::uint8_t flags) {
    batch.add(id, time, value, flags);
    expected[time] = StoredPoint{value, (flags & kFloat) != 0};
    time += 1000;
  };
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           0, 1, -1, 127, -128, 128, 32767, -32769, 1ll << 31, Limits::max(), Limits::min()}) {
    add(integer_bits(value), 0);
  }
  for (const double value : {0.0, -0.0, 1.5, -4.25, 1e300, 0.1, 5e-324, HUGE_VAL, -HUGE_VAL}) {
    add(double_bits(value), kFloat);
    add(double_bits(value), kFloat | kWide);
  }
  add(0x7FF8000000000001ull, kFloat);
  add(0xFFF4DEADBEEF0001ull, kFloat);
  put(batch);
  const auto points = scan(select("m"), {kBase, kBase + kHour});
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points.begin()->second, expected);
}

TEST_P(PointStoreContract, RangesAreHalfOpen) {
  const SeriesId id = intern("m host=a");
  for (const TimestampMs time : {kBase - 1, kBase, kBase + 1, kBase + kHour - 1, kBase + kHour}) {
    put_integer(id, time, time);
  }
  const auto times = [this](TimeRange range) {
    std::vector<TimestampMs> found;
    for (const auto& [name, points] : scan(select("m"), range)) {
      for (const auto& [time, point] : points) found.push_back(time - kBase);
    }
    return found;
  };
  EXPECT_THAT(times({kBase, kBase + kHour}), ElementsAre(0, 1, kHour - 1));
  EXPECT_THAT(times({kBase - 1, kBase + 1}), ElementsAre(-1, 0));
  EXPECT_THAT(times({kBase + 1, kBase + 2}), ElementsAre(1));
  EXPECT_THAT(times({kBase, kBase}), IsEmpty());
  EXPECT_THAT(times({0, std::numeric_limits<TimestampMs>::max()}),
              ElementsAre(-1, 0, 1, kHour - 1, kHour));
}

TEST_P(PointStoreContract, ManyPointsInOneRow) {
  const SeriesId id = intern("m host=a");
  for (const std::size_t count : {1023u, 1024u, 1025u, 5000u}) {
    PointBatch batch;
    for (std::size_t i = 0; i < count; ++i) {
      batch.add(id, kBase + static_cast<TimestampMs>(i * 7), integer_bits(static_cast<int>(i)),
                kMillis);
    }
    put(std::move(batch));
    const auto points = scan(select("m"), {kBase, kBase + kHour});
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points.begin()->second.size(), count);
    EXPECT_EQ(points.begin()->second.rbegin()->second.value, count - 1);
  }
}

TEST_P(PointStoreContract, ThePointAppendedLastWins) {
  const std::vector<SeriesId> ids = intern_all({"m host=a", "m host=b", "m host=c"});
  Points expected;
  std::vector<Completion> durable;
  for (int round = 0; round < 300; ++round) {
    PointBatch batch;
    for (int i = 0; i < 4; ++i) {
      const SeriesId id = ids[static_cast<std::size_t>(round + i) % 3];
      const TimestampMs time = kBase + 1000 * ((round * 7 + i) % 5);
      const bool is_float = (round / 3 + i) % 2 == 0;
      const ValueBits value = is_float ? double_bits(round + 0.5 * i) : integer_bits(round * i);
      batch.add(id, time, value, is_float ? kFloat : 0);
      expected[name_of(store().series(id))][time] = StoredPoint{value, is_float};
    }
    const Result<Accepted> accepted = run(store().append(std::move(batch)));
    ASSERT_TRUE(accepted);
    durable.push_back(accepted->durable);
  }
  for (const Completion& each : durable) ASSERT_TRUE(run(each.wait()));
  EXPECT_EQ(scan(select("m"), {kBase, kBase + kHour}), expected);
}

TEST_P(PointStoreContract, TwiceInOneBatchTheLastWins) {
  const SeriesId id = intern("m host=a");
  PointBatch batch;
  batch.add(id, kBase, integer_bits(1), 0);
  batch.add(id, kBase + 1000, integer_bits(7), 0);
  batch.add(id, kBase, double_bits(2.5), kFloat);
  put(std::move(batch));
  const auto points = scan(select("m"), {kBase, kBase + kHour});
  const SeriesPoints expected{{kBase, {double_bits(2.5), true}},
                              {kBase + 1000, {integer_bits(7), false}}};
  EXPECT_EQ(points.begin()->second, expected);
}

TEST_P(PointStoreContract, RefusedPointsCostOnlyThemselves) {
  const SeriesId id = intern("m host=a");
  PointBatch batch;
  batch.add(id, -5000, integer_bits(1), 0);
  batch.add(id, kBase, integer_bits(2), 0);
  batch.add(id, std::numeric_limits<TimestampMs>::max(), integer_bits(3), 0);
  const Result<Accepted> accepted = run(store().append(std::move(batch)));
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->refused.size(), 2u);
  EXPECT_EQ(accepted->refused[0].index, 0u);
  EXPECT_EQ(accepted->refused[1].index, 2u);
  EXPECT_EQ(accepted->refused[0].error.code, Errc::kInvalidArgument);
  ASSERT_TRUE(run(accepted->durable.wait()));
  EXPECT_EQ(scan(select("m"), {kBase, kBase + 1}).begin()->second.size(), 1u);

  const Result<Accepted> none = run(store().append(PointBatch()));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->durable.finished());
}

// An error: none is stored. Durable failed: nobody knows, and sending them again does no harm.
TEST_P(PointStoreContract, WhatDidNotGoWellMayBeSentAgain) {
  if (!subject_->break_writes(false)) GTEST_SKIP() << "nothing can be broken here";
  constexpr int kRounds = 24;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("m host=h" + std::to_string(i));
  const std::vector<SeriesId> ids = intern_all(names);
  const auto batch_at = [&ids](TimestampMs time) {
    PointBatch batch;
    for (const SeriesId id : ids) batch.add(id, time, integer_bits(id), 0);
    return batch;
  };
  std::map<TimestampMs, bool> failed;  // whether none is stored; of the times that did not go well
  for (int round = 0; round < kRounds; ++round) {
    const TimestampMs time = kBase + round * 1000;
    subject_->break_writes(round % 8 >= 4);
    const Result<Accepted> accepted = run(store().append(batch_at(time)));
    if (!accepted) {
      failed[time] = true;
    } else if (!run(accepted->durable.wait())) {
      failed[time] = false;
    }
  }
  subject_->break_writes(false);
  EXPECT_EQ(failed.size(), kRounds / 2u);
  const auto points_at = [this](TimestampMs time) {
    std::size_t found = 0;
    for (const auto& [name, points] : scan(select("m"), {time, time + 1})) found += points.size();
    return found;
  };
  for (const auto& [time, none] : failed) {
    if (none) EXPECT_EQ(points_at(time), 0u) << time;
  }
  for (const auto& [time, none] : failed) put(batch_at(time));
  for (const bool reopened : {false, true}) {
    if (reopened) reopen();
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(points_at(kBase + round * 1000), ids.size()) << round;
    }
  }
}

TEST_P(PointStoreContract, LastPoints) {
  const auto ids = intern_all({"m host=a", "m host=b", "m host=c", "m host=none"});
  put(ids[0], kNow - 1000, 1.5);
  put(ids[0], kNow - 2000, 2.5);
  put_integer(ids[1], kNow - 100 * kHour, 7);
  put_integer(ids[2], kNow + kHour, 8);
  const auto last = [this](TimeRange range) {
    std::map<std::string, std::pair<TimestampMs, double>> found;
    const auto points = run(store().last(select("m"), range));
    EXPECT_TRUE(points) << points.error().message;
    EXPECT_TRUE(std::ranges::is_sorted(*points, {}, &LastPoint::series));
    for (const LastPoint& point : *points) {
      const double value =
          point.is_float ? as_double(point.value) : static_cast<double>(as_integer(point.value));
      found[std::string(store().series(point.series).tags.front().value)] = {point.time - kNow,
                                                                             value};
    }
    return found;
  };
  using Found = std::map<std::string, std::pair<TimestampMs, double>>;
  const Found all{{"a", {-1000, 1.5}}, {"b", {-100 * kHour, 7}}, {"c", {kHour, 8}}};
  EXPECT_EQ(last({0, std::numeric_limits<TimestampMs>::max()}), all);
  EXPECT_EQ(last({kNow - 200 * kHour, kNow + 2 * kHour}), all);
  EXPECT_EQ(last({kNow - 200 * kHour, kNow - 1000}),
            (Found{{"a", {-2000, 2.5}}, {"b", {-100 * kHour, 7}}}));
  EXPECT_EQ(last({kNow - 90 * kHour, kNow}), (Found{{"a", {-1000, 1.5}}}));
  EXPECT_EQ(last({kNow, kNow}), Found());
}

TEST_P(PointStoreContract, DeletesExactlyWhatWasAsked) {
  const auto ids = intern_all({"m host=a", "m host=b"});
  for (int i = 0; i < 10; ++i) {
    put_integer(ids[0], kBase + kHour - 5000 + 1000 * i, i);
    put(ids[1], kBase + kHour - 5000 + 1000 * i, i);
  }
  const auto a = select("m", {TagFilter{FilterType::kLiteralOr, "host", "a"}});
  EXPECT_EQ(run(store().delete_range(a, {kBase + kHour - 2000, kBase + kHour + 2000})).value(), 4u);
  EXPECT_EQ(run(store().delete_range(a, {kBase + kHour - 2000, kBase + kHour + 2000})).value(), 0u);
  const auto points = scan(select("m"), {kBase, kBase + 2 * kHour});
  EXPECT_EQ(points.at(parse_series("m host=a")).size(), 6u);
  EXPECT_EQ(points.at(parse_series("m host=b")).size(), 10u);
  EXPECT_FALSE(points.at(parse_series("m host=a")).contains(kBase + kHour));
  put_integer(ids[0], kBase + kHour, 99);
  const auto again = scan(a, {kBase + kHour, kBase + kHour + 1});
  EXPECT_EQ(again.at(parse_series("m host=a")).at(kBase + kHour).value, 99u);
}

TEST_P(PointStoreContract, SaysWhichPointsChanged) {
  PointChanges* const changes = store().changes();
  if (changes == nullptr) return;  // it cannot tell
  const PointChanges::Mark mark = changes->mark();
  const auto unchanged_before = [&] { return changes->unchanged_before(mark); };
  const auto ids = intern_all({"m host=a", "m host=b"});
  EXPECT_EQ(unchanged_before(), std::numeric_limits<TimestampMs>::max());
  put(ids[0], kBase + kHour, 1);
  EXPECT_EQ(unchanged_before(), kBase + kHour);
  put(ids[1], kBase + 2 * kHour, 1);
  EXPECT_EQ(unchanged_before(), kBase + kHour);
  put(ids[1], kBase + 5000, 1);
  EXPECT_EQ(unchanged_before(), kBase + 5000);
  ASSERT_TRUE(run(store().delete_range(select("m"), {kBase + 2000, kBase + 4000})));
  EXPECT_EQ(unchanged_before(), kBase + 2000);
  ASSERT_TRUE(run(store().flush()));
  ASSERT_TRUE(run(store().seal()));
  EXPECT_EQ(unchanged_before(), kBase + 2000);
}

TEST_P(PointStoreContract, ARestartForgetsNothing) {
  put(intern("m host=a"), kBase, 1.5);
  const Bytes tsuid = store().series(intern("m host=a dc=b")).tsuid.bytes();
  put(intern("m host=a dc=b"), kBase + 1000, 2.5);
  const Points before = scan(select("m"), {kBase, kBase + kHour});
  EXPECT_EQ(before.size(), 2u);
  reopen();
  EXPECT_EQ(scan(select("m"), {kBase, kBase + kHour}), before);
  EXPECT_EQ(store().series(intern("m host=a dc=b")).tsuid.bytes(), tsuid);
  reopen();
  SeriesQuery query;
  query.tsuids = {tsuid};
  const auto by_tsuid = run(store().select(query, {})).value();
  const auto last = run(store().last(by_tsuid, {0, kNow})).value();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last.front().time, kBase + 1000);
  EXPECT_EQ(run(store().lookup(by_tsuid, 0))->size(), 1u);
  reopen();
  put(intern("m host=a dc=b"), kBase + 1000, 3.5);
  const auto points = scan(select("m"), {kBase + 1000, kBase + kHour});
  EXPECT_EQ(points.at(parse_series("m host=a dc=b")).at(kBase + 1000).value, double_bits(3.5));
}

}  // namespace
}  // namespace halite::storage
