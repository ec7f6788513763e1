// Names without series go, their ids are given to others, and no series is ever shown under
// another's name; what somebody wants to keep stays.
#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/table_settings.h"
#include "storage/files/remove_tree.h"
#include "storage/tsdb/core/engine_cell.h"
#include "tests/support/metric_value.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tsdb/forgetting_fixture.h"

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

  // Until what left its name before that can be another's.
  void let_quarantine_pass() {
    for (int hour = 0; hour < 4; ++hour) {
      world_.clock.advance(kHour);
      put({"stays"});
      settle();
    }
  }

  // Names of this uid there are.
  bool means_something(std::uint64_t uid) {
    return run_task(uids().name_of(NameKind::kTagValue, uid)).has_value();
  }

  std::shared_ptr<Table> names_table() {
    return run_task(world_.rows->open_table(uid_table_spec("tsdb-uid"))).value();
  }

  // As an earlier version left the directory: what it freed is marked nowhere.
  void take_marks_away(const std::vector<std::uint64_t>& freed) {
    std::vector<RowWrite> rows;
    for (const std::uint64_t uid : freed) {
      RowWrite& row = rows.emplace_back();
      row.row = uids().uid_bytes(NameKind::kTagValue, uid);
      row.deletes.push_back(Column{kNameFamily, freed_qualifier(NameKind::kTagValue)});
    }
    ASSERT_TRUE(run_task(names_table()->write(std::move(rows))));
    const auto settings =
        run_task(world_.rows->open_table(settings_table_spec("halite-settings"))).value();
    std::vector<RowWrite> note(1);
    note[0].row = engine::kEngineRow;
    note[0].deletes.push_back(Column{0, "unmarked ids since"});
    ASSERT_TRUE(run_task(settings->write(std::move(note))));
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
    if (hour < 16) {
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
  EXPECT_LE(highest, 200U);
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
  GcRules rules;
  rules.others = [tsuid] { return std::make_unique<Told>(std::vector{tsuid}); };
  world_.points->enable_series_gc(std::move(rules));
  let_all_expire();
  EXPECT_THAT(hosts(), Not(Contains("known")));
  EXPECT_THAT(values(), Contains("known"));
}

TEST_F(NameSweepTest, NoIdIsUsedAgainWhileSomebodyMayMeanWhatItWas) {
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  auto pin = uids().pin();
  const std::string_view old_name = run_task(uids().find(NameKind::kTagValue, "old"))->name;
  let_all_expire();
  put({"new"});
  EXPECT_NE(uid_of("new"), old_uid);
  EXPECT_EQ(old_name, "old");
  pin.reset();
  settle();
  settle();
  EXPECT_THAT(values(), Not(Contains("old")));
  let_quarantine_pass();
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
  let_quarantine_pass();
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
  for (int cut = 0; cut < 20; cut += static_cast<int>(test::step(1, 3))) {
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

// A tsuid that somebody kept names nothing meanwhile, whatever happens to the server.
TEST_F(NameSweepTest, AFreedIdIsNobodysUntilTheLongestTtlHasPassed) {
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  let_all_expire();
  ASSERT_THAT(values(), Not(Contains("old")));
  EXPECT_EQ(gauge("halite_engine_quarantined_ids"), 1);
  for (int hour = 0; hour < 2; ++hour) {
    put({fmt::format("new {}", hour), "stays"});
    EXPECT_NE(uid_of(fmt::format("new {}", hour)), old_uid);
    EXPECT_FALSE(means_something(old_uid));
    if (hour == 0) world_.crash();
    if (hour == 0) open();
    if (hour == 1) reopen();
    settle();
    EXPECT_FALSE(means_something(old_uid));
    world_.clock.advance(kHour / 2);
  }
  put({"still new"});
  EXPECT_NE(uid_of("still new"), old_uid);
  let_quarantine_pass();
  EXPECT_FALSE(means_something(old_uid));
  put({"newer"});
  EXPECT_EQ(uid_of("newer"), old_uid);
  expect_what_was_sent();
  expect_whole_names();
}

// One class keeps its points for ever, so somebody may ask for old ones for ever.
TEST_F(NameSweepTest, WhereSomethingIsKeptForEverNoIdIsGivenAgain) {
  ASSERT_TRUE(world_.close());
  world_.options.retention = {{.prefix = "legal.", .ttl_ms = 0}};
  open();
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  let_all_expire();
  ASSERT_THAT(values(), Not(Contains("old")));
  for (int day = 0; day < 3; ++day) let_quarantine_pass();
  put({"new"});
  EXPECT_NE(uid_of("new"), old_uid);
  EXPECT_FALSE(means_something(old_uid));
}

// With 255 ids in all: those that were freed first go first, and no more of them than are wanted.
TEST_F(NameSweepTest, IdsThatComeToTheirEndEndAQuarantine) {
  ASSERT_TRUE(world_.close());
  ASSERT_TRUE(remove_tree(*world_.files, "/data"));
  world_.layout.widths.tag_value = 1;
  world_.options.retention = {{.prefix = "legal.", .ttl_ms = 0}};  // a quarantine without an end
  open();
  std::uint64_t named = 0;
  for (int hour = 0; hour < 60; ++hour) {
    const std::vector<std::string> now = generation_of(hour, 8);
    put(now);
    settle();
    named += 8;
    world_.clock.advance(kHour);
    if (named > 240) EXPECT_GT(gauge("halite_engine_quarantined_ids"), 100) << hour;
    if (hour % 20 == 19) expect_what_was_sent();
    if (hour == 40) reopen();
  }
  EXPECT_EQ(named, 480U);
  expect_whole_names();
}

TEST_F(NameSweepTest, IdsThatAnEarlierVersionFreedAreInQuarantineFromTheUpgradeOn) {
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  let_all_expire();
  ASSERT_THAT(values(), Not(Contains("old")));
  take_marks_away({old_uid});
  reopen();
  settle();
  put({"new"});
  EXPECT_NE(uid_of("new"), old_uid);
  EXPECT_EQ(gauge("halite_engine_quarantined_ids"), 1);
  world_.clock.advance(kHour);
  reopen();  // the quarantine does not begin anew
  put({"stays"});
  settle();
  world_.clock.advance(kHour);
  put({"stays"});
  settle();
  world_.clock.advance(kHour + kHour / 2);
  put({"stays"});
  settle();
  put({"newer"});
  EXPECT_EQ(uid_of("newer"), old_uid);
  expect_what_was_sent();
}

// A wrong clock ends no quarantine: what stops expiry stops that.
TEST_F(NameSweepTest, AClockThatJumpsEndsNoQuarantine) {
  put({"stays", "old"});
  const std::uint64_t old_uid = uid_of("old");
  let_all_expire();
  ASSERT_THAT(values(), Not(Contains("old")));
  ASSERT_TRUE(world_.close());
  world_.options.expire_after_clock_jump = false;
  open();
  settle();
  world_.clock.advance(1000 * kHour);
  settle();
  settle();
  put({"new"});
  EXPECT_NE(uid_of("new"), old_uid);
  EXPECT_FALSE(means_something(old_uid));
}

TEST_F(NameSweepTest, WhereNoNameWentNothingIsNoted) {
  put({"stays"});
  let_all_expire();
  reopen();
  settle();
  const auto settings =
      run_task(world_.rows->open_table(settings_table_spec("halite-settings"))).value();
  EXPECT_FALSE(run_task(engine::read_engine_cell(settings, Bytes("unmarked ids since"))).value());
  EXPECT_EQ(gauge("halite_engine_quarantined_ids"), 0);
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
