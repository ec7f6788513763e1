#include "storage/meta/objects/ts_tracker.h"

#include <chrono>
#include <thread>

#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/meta/objects/tracked_point_store.h"
#include "tests/support/fake_point_store.h"
#include "tests/support/unruly_store.h"
#include "tests/unit/storage/meta/name_world.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;

constexpr TrackOptions kCounting{.series = true,
                                 .points = true,
                                 .series_objects = true,
                                 .name_objects = true,
                                 .series_max = 10'000};

class TsTrackerTest : public testing::Test {
 protected:
  // Series 0 and 1 have names that exist.
  TsTrackerTest() {
    for (int i = 1; i <= 2; ++i) {
      Bytes tsuid = *from_hex("000001000001");
      append_be_width(tsuid, static_cast<std::uint64_t>(i), 3);
      tsuids_.push_back(tsuid);
    }
  }

  void track(TrackOptions options, std::shared_ptr<Table> series = nullptr) {
    options.flush_interval_ms = 5;
    if (series) other_series_.emplace(std::move(series), world_.uid_metas, UidWidths{});
    TsTracker::Dependencies dependencies{
        .series = other_series_ ? *other_series_ : world_.ts_metas,
        .names = world_.uid_metas,
        .clock = world_.clock,
        .registry = registry_,
        .tsuid = [this](SeriesId id) -> Bytes { return tsuids_[id]; },
        .created = [this](Bytes tsuid) { return note(std::move(tsuid)); },
    };
    tracker_.emplace(std::move(dependencies), options);
  }

  Task<void> note(Bytes tsuid) {
    created_.push_back(to_hex(tsuid));
    co_return Result<void>();
  }

  // The counter's value; -1: there is none.
  std::int64_t counter(SeriesId id) {
    const std::string cell = NameWorld::cell(*world_.series, 0, to_hex(tsuids_[id]), "ts_ctr");
    if (cell.empty()) return -1;
    return static_cast<std::int64_t>(load_be<std::uint64_t>(cell.data()));
  }
  std::string object(SeriesId id) {
    return NameWorld::cell(*world_.series, 0, to_hex(tsuids_[id]), "ts_meta");
  }

  NameWorld world_;
  prometheus::Registry registry_;
  std::vector<Bytes> tsuids_;
  std::vector<std::string> created_;
  std::optional<TsMetaStore> other_series_;
  std::optional<TsTracker> tracker_;
};

TEST_F(TsTrackerTest, CountsAndMakesAnObjectForWhatIsNew) {
  track(kCounting);
  tracker_->count(std::vector<SeriesId>{0, 0, 1, 0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 3);
  EXPECT_EQ(counter(1), 1);
  EXPECT_EQ(object(0),
            R"({"tsuid":"000001000001000001","displayName":"","description":"","notes":"",)"
            R"("created":1356998400,"custom":null,"units":"","dataType":"","retention":0,)"
            R"("max":"NaN","min":"NaN"})");
  EXPECT_THAT(created_, ElementsAre("000001000001000001", "000001000001000002"));
  tracker_->count(std::vector<SeriesId>{0, 0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 5);
  EXPECT_EQ(created_.size(), 2u);
}

TEST_F(TsTrackerTest, AnObjectThatWasRemovedStaysAway) {
  track(kCounting);
  tracker_->count(std::vector<SeriesId>{0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  ASSERT_TRUE(run_task(world_.ts_metas.remove(tsuids_[0])));
  tracker_->count(std::vector<SeriesId>{0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 2);
  EXPECT_EQ(object(0), "");
}

TEST_F(TsTrackerTest, WithoutCountingTheCounterIsOne) {
  track({.series = true, .series_objects = true, .series_max = 10});
  tracker_->count(std::vector<SeriesId>{0, 0, 0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 1);
  EXPECT_NE(object(0), "");
  world_.clock.advance(60'000);
  tracker_->count(std::vector<SeriesId>{0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 1);
  EXPECT_EQ(created_.size(), 1u);
}

TEST_F(TsTrackerTest, MarksAloneMoveTheTimeOfTheLastPoint) {
  track({.series = true, .series_max = 10});
  tracker_->count(std::vector<SeriesId>{0, 1, 0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 1);
  EXPECT_EQ(counter(1), 1);
  EXPECT_EQ(object(0), "");
  TsMeta meta;
  meta.tsuid = to_hex(tsuids_[0]);
  ASSERT_TRUE(run_task(world_.ts_metas.create(tsuids_[0], meta, 0)));
  EXPECT_EQ((*run_task(world_.ts_metas.get(tsuids_[0])))->last_received_s, 1'356'998'400);
  world_.clock.advance(60'000);
  tracker_->count(std::vector<SeriesId>{0});
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ((*run_task(world_.ts_metas.get(tsuids_[0])))->last_received_s, 1'356'998'460);
}

TEST_F(TsTrackerTest, OffItDoesNothing) {
  track({.points = true, .series_objects = true, .series_max = 10});
  tracker_->count(std::vector<SeriesId>{0});
  tracker_->assigned(NameKind::kMetric, 1);
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), -1);
  EXPECT_EQ(NameWorld::cell(*world_.names, 1, "000001", "metric_meta"), "");
}

TEST_F(TsTrackerTest, NewNamesGetTheirObjects) {
  track(kCounting);
  world_.uids.watch({.assigned =
                         [this](NameKind kind, const UidTable::NameMapping& entry) {
                           tracker_->assigned(kind, entry.uid);
                         },
                     .renamed = {}});
  world_.assign(NameKind::kTagKey, "rack");
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(NameWorld::cell(*world_.names, 1, "000003", "tagk_meta"),
            R"({"type":"TAGK","displayName":"","description":"","notes":"",)"
            R"("created":1356998400,"custom":null})");
  EXPECT_EQ(NameWorld::cell(*world_.names, 1, "000001", "tagk_meta"), "");
}

TEST_F(TsTrackerTest, ThereIsAMostOfNamesThatWait) {
  TrackOptions options = kCounting;
  options.names_waiting_max = 2;
  track(options);
  for (std::uint64_t uid = 1; uid <= 3; ++uid) tracker_->assigned(NameKind::kTagValue, uid);
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_NE(NameWorld::cell(*world_.names, 1, "000002", "tagv_meta"), "");
  EXPECT_EQ(NameWorld::cell(*world_.names, 1, "000003", "tagv_meta"), "");
  tracker_->assigned(NameKind::kTagValue, 3);
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_NE(NameWorld::cell(*world_.names, 1, "000003", "tagv_meta"), "");
}

TEST_F(TsTrackerTest, WhatCouldNotBeWrittenIsTriedAgain) {
  test::Unruly unruly;
  track({.series = true, .series_max = 10},
        std::make_shared<test::UnrulyTable>(world_.series, unruly));
  unruly.fail = true;
  tracker_->count(std::vector<SeriesId>{0, 1});
  EXPECT_FALSE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), -1);
  unruly.fail = false;
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 1);
  EXPECT_EQ(counter(1), 1);
}

TEST_F(TsTrackerTest, CountingWhileItIsWritten) {
  boost::asio::thread_pool pool(3);
  track(kCounting);
  tracker_->start(pool.get_executor());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      const std::vector<SeriesId> batch{0, 0, 1, 0};
      for (int round = 0; round < 2'000; ++round) {
        tracker_->count(batch);
        if (round % 500 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(run_task(tracker_->stop()));
  EXPECT_EQ(counter(0), 4 * 2'000 * 3);
  EXPECT_EQ(counter(1), 4 * 2'000);
  EXPECT_EQ(created_.size(), 2u);
  pool.join();
}

TEST_F(TsTrackerTest, StoppingWithoutAStartWritesToo) {
  track(kCounting);
  tracker_->count(std::vector<SeriesId>{1});
  ASSERT_TRUE(run_task(tracker_->stop()));
  EXPECT_EQ(counter(1), 1);
}

TEST_F(TsTrackerTest, PointsThatTheStoreRefusesDoNotCount) {
  track(kCounting);
  test::FakePointStore inner;
  TrackedPointStore store(inner, *tracker_);
  const auto ids = run_task(store.intern(
      {SeriesName{"m", {{"host", "a"}}}, SeriesName{"m", {{"host", "b"}}}}, CreateNames{}));
  ASSERT_TRUE(ids);
  inner.refuse = [](const test::FakePointStore::StoredPoint& point) -> std::optional<Error> {
    if (point.value != 7) return std::nullopt;
    return Error{Errc::kInvalidArgument, "seven", {}};
  };
  PointBatch batch;
  batch.add(0, 1000, 1, 0);
  batch.add(0, 2000, 7, 0);
  batch.add(1, 3000, 7, 0);
  batch.add(0, 4000, 3, 0);
  const auto accepted = run_task(store.append(std::move(batch)));
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->refused.size(), 2u);
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 2);
  EXPECT_EQ(counter(1), -1);
}

// A counter is of points that the store took: those that it could not make durable may be stored.
TEST_F(TsTrackerTest, PointsThatMayBeStoredCountAndThoseThatAreNotDoNot) {
  track(kCounting);
  test::FakePointStore inner;
  TrackedPointStore store(inner, *tracker_);
  ASSERT_TRUE(run_task(store.intern({SeriesName{"m", {{"host", "a"}}}}, CreateNames{})));
  PointBatch batch;
  batch.add(0, 1000, 1, 0);
  inner.append_fails = Error{Errc::kUnavailable, "gone", {}};
  ASSERT_FALSE(run_task(store.append(batch)));
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), -1);
  inner.append_fails.reset();
  inner.durable = Completion();
  inner.durable.finish(fail(Errc::kUnavailable, "the sync failed"));
  ASSERT_TRUE(run_task(store.append(batch)));
  inner.durable = Completion::done();
  ASSERT_TRUE(run_task(store.append(batch))) << "sent again";
  ASSERT_TRUE(run_task(tracker_->flush()));
  EXPECT_EQ(counter(0), 2);
}

}  // namespace
}  // namespace halite::storage
