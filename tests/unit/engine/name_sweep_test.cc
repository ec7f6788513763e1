// Names without series go, their ids are given to others, and no series is ever shown under
// another's name; what somebody wants to keep stays.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "storage/schema/uid_assigner.h"
#include "tests/support/metric_value.h"
#include "tests/support/sanitized.h"
#include "tests/unit/engine/forgetting_fixture.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class NameSweepTest : public ForgettingTest {
 protected:
  UidTable& uids() { return world_.points->uids(); }

  std::vector<std::string> values() {
    constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
    return run_task(uids().suggest(NameKind::kTagValue, "", kAll)).value();
  }
  // 0: there is none.
  std::uint64_t uid_of(const std::string& value) {
    const auto entry = run_task(uids().find(NameKind::kTagValue, value));
    return entry ? entry->uid : 0;
  }

  static Task<void> tell(Bytes tsuid, ForgetRules::SeenSeries seen) {
    seen(tsuid);
    co_return Result<void>();
  }

  // Until all points that are there now have expired, those of "stays" being new.
  void let_all_expire() {
    for (int hour = 0; hour < 6; ++hour) {
      world_.clock.advance(kHour);
      put({"stays"});
      settle();
    }
  }

  // Both rows of every name say the same, and no two names have one id.
  void expect_whole_names() {
    std::set<std::uint64_t> seen;
    for (const std::string& value : values()) {
      const std::uint64_t uid = uid_of(value);
      EXPECT_NE(uid, 0U) << value;
      EXPECT_TRUE(seen.insert(uid).second) << value;
      const auto name = run_task(uids().name_of(NameKind::kTagValue, uid));
      ASSERT_TRUE(name) << value;
      EXPECT_EQ(name->name, value);
    }
  }

  double gauge(const std::string& name) const { return test::metric_value(world_.metrics, name); }
};

TEST_F(NameSweepTest, AThousandHostsThatComeAndGoTakeNoMoreNamesAndIds) {
  std::size_t most_names = 0;
  double most_in_memory = 0;
  std::uint64_t highest = 0;
  constexpr int kHours = test::kSanitized ? 40 : 100;
  for (int hour = 0; hour < kHours; ++hour) {
    const std::vector<std::string> now = generation_of(hour, 10);
    put(now);
    settle();
    const std::size_t names = values().size();
    const double in_memory = gauge("halite_engine_known_names");
    if (hour < 12) {
      most_names = std::max(most_names, names);
      most_in_memory = std::max(most_in_memory, in_memory);
      for (const std::string& host : now) highest = std::max(highest, uid_of(host));
    } else {
      EXPECT_LE(names, most_names) << "hour " << hour;
      EXPECT_LE(in_memory, most_in_memory) << "hour " << hour;
      for (const std::string& host : now) EXPECT_LE(uid_of(host), highest) << "hour " << hour;
    }
    if (hour % 10 == 9) {
      expect_what_was_sent();
      expect_whole_names();
    }
    world_.clock.advance(kHour);
    if (hour != kHours / 2) continue;
    reopen();
    settle();  // finds what is unused
  }
  EXPECT_LE(most_names, 100U);
}

TEST_F(NameSweepTest, WhatIsWantedStays) {
  put({"stays", "asked for", "with meta", "gone"});
  const std::uint64_t with_meta = uid_of("with meta");
  ASSERT_TRUE(run_task(uids().keep({{NameKind::kTagValue, uid_of("asked for")}})));
  // Never had a series.
  const auto by_hand = run_task(uids().assign(NameKind::kTagValue, "by hand"));
  ASSERT_TRUE(by_hand);
  ASSERT_TRUE(run_task(uids().keep({{NameKind::kTagValue, by_hand->uid}})));
  const auto names = run_task(world_.rows->open_table(uid_table_spec("tsdb-uid"))).value();
  std::vector<RowWrite> meta(1);
  meta[0].row = uids().uid_bytes(NameKind::kTagValue, with_meta);
  meta[0].puts.push_back(CellWrite{Column{kNameFamily, "tagv_meta"}, "{}", 0});
  ASSERT_TRUE(run_task(names->write(std::move(meta))));
  reopen();
  let_all_expire();
  EXPECT_THAT(values(), IsSupersetOf({"asked for", "by hand", "stays", "with meta"}));
  EXPECT_THAT(values(), Not(Contains("gone")));
  EXPECT_EQ(uid_of("with meta"), with_meta);
  expect_whole_names();
}

TEST_F(NameSweepTest, NamesOfSeriesThatOthersKnowStay) {
  put({"stays", "known"});
  const Bytes tsuid = table().at(world_.intern({"known"}).value()[0]).tsuid;
  ForgetRules rules;
  rules.others = [tsuid](ForgetRules::SeenSeries seen) { return tell(tsuid, std::move(seen)); };
  world_.points->forget_series(std::move(rules));
  let_all_expire();
  EXPECT_THAT(hosts(), Not(Contains("known")));
  EXPECT_THAT(values(), Contains("known"));
}

TEST_F(NameSweepTest, NoIdIsUsedAgainWhileSomebodyMayMeanWhatItWas) {
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  auto hold = uids().hold();
  const std::string_view old_name = run_task(uids().find(NameKind::kTagValue, "old"))->name;
  let_all_expire();
  put({"new"});
  EXPECT_NE(uid_of("new"), old_uid);
  EXPECT_EQ(old_name, "old");
  hold.reset();
  settle();
  settle();
  EXPECT_THAT(values(), Not(Contains("old")));
  put({"newer"});
  EXPECT_EQ(uid_of("newer"), old_uid);
  expect_what_was_sent();
  reopen();
  expect_what_was_sent();
}

TEST_F(NameSweepTest, ARenamedNameGoesToo) {
  put({"stays", "old"});
  ASSERT_TRUE(run_task(uids().rename(NameKind::kTagValue, "old", "renamed")));
  const std::uint64_t uid = uid_of("renamed");
  sent_.clear();
  let_all_expire();
  EXPECT_EQ(uid_of("renamed"), 0U);
  put({"new"});
  EXPECT_EQ(uid_of("new"), uid);
  EXPECT_THAT(hosts(), Contains("new"));
  expect_what_was_sent();
  expect_whole_names();
}

// The metric's name goes as well, and comes back under any id.
TEST_F(NameSweepTest, AllMayGo) {
  put({"a"});
  for (int hour = 0; hour < 6; ++hour) {
    world_.clock.advance(kHour);
    settle();
  }
  EXPECT_THAT(values(), IsEmpty());
  EXPECT_FALSE(run_task(uids().find(NameKind::kMetric, "m")));
  put({"b"});
  EXPECT_THAT(hosts(), testing::ElementsAre("b"));
  reopen();
  expect_what_was_sent();
}

TEST_F(NameSweepTest, IdsThatACrashSkippedAreFound) {
  put({"stays"});
  for (int round = 0; round < 5; ++round) {
    world_.crash();
    open();
    put({"stays", fmt::format("round {}", round)});
  }
  EXPECT_GT(uid_of("round 4"), 16U);
  let_all_expire();
  put({"new"});
  EXPECT_LT(uid_of("new"), 16U);
  expect_what_was_sent();
}

TEST_F(NameSweepTest, APowerCutAtAnyMomentLeavesWholeNames) {
  put({"stays"});
  for (int cut = 0; cut < 20; ++cut) {
    put(generation_of(cut, 3));
    for (int hour = 0; hour < 5; ++hour) {
      world_.clock.advance(kHour);
      put({"stays"});
    }
    settle();
    world_.clock.advance(kHour);
    world_.files->cut_power_after(static_cast<std::uint64_t>(cut) * 9);
    std::ignore = run_task(world_.points->seal());
    world_.crash();
    open();
    put({"stays", fmt::format("new {}", cut)});
    expect_what_was_sent();
    expect_whole_names();
  }
  let_all_expire();
  settle();
  EXPECT_LE(values().size(), 20U);
}

// Their chunks are still there.
TEST_F(NameSweepTest, IdsOfLostNamesAreNotGivenAgain) {
  put({"a", "stays"});
  settle();
  reopen();  // these names are in a table of RocksDB's by now
  std::vector<std::string> lost;
  for (int i = 0; i < 20; ++i) lost.push_back(fmt::format("lost{}", i));
  put(lost);
  settle();
  ASSERT_TRUE(world_.close());
  for (const std::string& name : world_.files->list("/data/rocks").value()) {
    if (name.ends_with(".log")) ASSERT_TRUE(world_.files->remove("/data/rocks/" + name));
  }
  for (const std::string& host : lost) sent_.erase({host, kStart});
  world_.options.accept_lost_names = true;
  open();
  for (int start = 0; start < 2; ++start) {
    const std::string goes = start == 0 ? "a" : "new0-0";
    delete_points_of(goes);  // so that somebody looks which ids nobody has
    sent_.erase({goes, kStart + 1});
    settle();
    world_.clock.advance(10'000);
    settle();
    EXPECT_THAT(values(), Not(Contains(goes)));
    std::vector<std::string> now;
    for (int i = 0; i < 30; ++i) now.push_back(fmt::format("new{}-{}", start, i));
    put(now, kStart + 1);
    expect_what_was_sent();
    world_.options.accept_lost_names = false;
    reopen();
  }
}

}  // namespace
}  // namespace halite::storage
