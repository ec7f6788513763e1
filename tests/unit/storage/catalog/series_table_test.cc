#include "storage/catalog/series_table.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "storage/catalog/index/tag_batch.h"

namespace halite::storage {
namespace {

constexpr UidWidths kWideValueWidths = {.metric = 1, .tag_key = 1, .tag_value = 8};

NewSeries series(std::string_view metric, std::uint64_t metric_uid, std::uint64_t host_uid,
                 std::string_view host) {
  NewSeries made;
  made.metric_uid = metric_uid;
  made.metric = metric;
  append_be_width(made.tsuid, metric_uid, 1);
  append_be_width(made.tsuid, 1, 1);
  append_be(made.tsuid, host_uid);
  made.tags.push_back({.key = "host", .value = host, .key_uid = 1, .value_uid = host_uid});
  return made;
}

// On the heap: ThreadSanitizer sees the end of a mutex there, on the stack it does not.
std::unique_ptr<SeriesTable> make_table(SeriesId series_max) {
  return std::make_unique<SeriesTable>(SeriesLimits{.series = series_max}, kWideValueWidths);
}

Result<void> restore(SeriesTable& table, SeriesId id, const NewSeries& series) {
  const TagSet* tags = table.find_tags(series.tsuid);
  if (tags == nullptr) {
    TagBatch batch = table.tag_batch();
    std::vector<std::uint32_t> numbers;
    for (const SeriesTag& tag : series.tags) {
      numbers.push_back(batch.number_of(tag.key_uid, tag.value_uid));
    }
    for (const std::uint32_t number : batch.unknown()) batch.make(number, series.tags[number]);
    TRY(tags, table.add_tag_set(batch, series.tsuid, numbers));
  }
  const SeriesTable::RestoredMetric metric = {.uid = series.metric_uid, .name = series.metric};
  const SeriesTable::Restored restored = {
      .id = id, .shard = series.shard, .metric = 0, .tags = tags};
  return table.restore({&metric, 1}, {&restored, 1});
}

TEST(SeriesTable, GivesDenseIds) {
  const std::unique_ptr<SeriesTable> held = make_table(10);
  SeriesTable& table = *held;
  EXPECT_EQ(*table.add(series("m", 1, 1, "a")), 0U);
  EXPECT_EQ(*table.add(series("m", 1, 2, "b")), 1U);
  EXPECT_EQ(*table.add(series("m", 1, 1, "a")), 0U);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.at(1).id, 1U);
  EXPECT_EQ(table.at(1).metric, "m");
  ASSERT_EQ(table.at(1).tags.size(), 1U);
  EXPECT_EQ(table.at(1).tags[0].value, "b");
  EXPECT_EQ(table.at(1).tsuid.bytes(), series("m", 1, 2, "b").tsuid);
  EXPECT_EQ(table.find(table.at(1).tsuid.bytes()), 1U);
  EXPECT_LT(table.at(0).tsuid, table.at(1).tsuid);
}

TEST(SeriesTable, RestoredSeriesKeepTheirIdsAndNewOnesGetTheOthers) {
  const std::unique_ptr<SeriesTable> held = make_table(6);
  SeriesTable& table = *held;
  NewSeries other_metric = series("n", 2, 1, "a");
  ASSERT_TRUE(restore(table, 4, series("m", 1, 1, "a")));
  other_metric.tags.clear();  // the table has them
  ASSERT_TRUE(restore(table, 1, other_metric));
  table.end_restore();
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.at(4).metric, "m");
  EXPECT_EQ(table.at(1).metric, "n");
  EXPECT_EQ(table.at(1).tags[0].value, "a");
  EXPECT_EQ(*table.add(series("m", 1, 1, "a")), 4U);
  std::set<SeriesId> added;
  for (std::uint64_t uid = 2; uid < 6; ++uid) {
    const Result<SeriesId> id = table.add(series("m", 1, uid, "b"));
    ASSERT_TRUE(id) << id.error().message;
    added.insert(*id);
  }
  EXPECT_EQ(added, (std::set<SeriesId>{0, 2, 3, 5}));
  EXPECT_EQ(table.add(series("m", 1, 9, "c")).error().code, Errc::kTooLarge);
}

TEST(SeriesTable, RestoreRefusesWhatIsThereOrTooMuch) {
  const std::unique_ptr<SeriesTable> held = make_table(2);
  SeriesTable& table = *held;
  ASSERT_TRUE(restore(table, 0, series("m", 1, 1, "a")));
  EXPECT_EQ(restore(table, 1, series("m", 1, 1, "a")).error().code, Errc::kConflict);
  EXPECT_EQ(restore(table, 2, series("m", 1, 2, "b")).error().code, Errc::kTooLarge);
}

TEST(SeriesTable, SharesTheTagsOfMetrics) {
  const std::unique_ptr<SeriesTable> held = make_table(10);
  SeriesTable& table = *held;
  const NewSeries first = series("m", 1, 7, "a");
  EXPECT_FALSE(table.knows_tags(first.tsuid));
  ASSERT_TRUE(table.add(first));
  NewSeries second = series("n", 2, 7, "a");
  EXPECT_TRUE(table.knows_tags(second.tsuid));
  second.tags.clear();  // not needed
  ASSERT_TRUE(table.add(second));
  EXPECT_EQ(&table.at(0).tags.set(), &table.at(1).tags.set());
  EXPECT_EQ(table.at(1).metric, "n");
  EXPECT_EQ(table.at(1).tags[0].value, "a");
  EXPECT_EQ(table.at(1).tsuid.bytes(), second.tsuid);
  EXPECT_NE(table.at(0).tsuid, table.at(1).tsuid);
  EXPECT_EQ(table.find(first.tsuid), 0U);
  EXPECT_EQ(table.find(second.tsuid), 1U);
  EXPECT_EQ(table.find(series("k", 3, 7, "a").tsuid), std::nullopt);
  EXPECT_EQ(table.find(series("m", 1, 8, "b").tsuid), std::nullopt);
  EXPECT_EQ(table.find(""), std::nullopt);
}

TEST(SeriesTable, ListsTheSeriesOfAMetric) {
  const std::unique_ptr<SeriesTable> held = make_table(10);
  SeriesTable& table = *held;
  for (std::uint64_t host = 0; host < 3; ++host) {
    ASSERT_TRUE(table.add(series("m", 1, host, "a")));
    ASSERT_TRUE(table.add(series("n", 2, host, "a")));
  }
  EXPECT_EQ(table.count_of_metric(1), 3U);
  EXPECT_EQ(table.count_of_metric(3), 0U);
  const auto members = table.of_metric(2, 1, 1);
  ASSERT_EQ(members.size(), 1U);
  EXPECT_EQ(members[0].id, 3U);
  EXPECT_EQ(table.of_metric(2, 1).size(), 2U);
  EXPECT_TRUE(table.of_metric(2, 3).empty());
  const TagSetId wanted[] = {members[0].tags};
  const auto found = table.of_metric(1, wanted);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 2U);
}

TEST(SeriesTable, FullIsAnError) {
  const std::unique_ptr<SeriesTable> held = make_table(1);
  SeriesTable& table = *held;
  ASSERT_TRUE(table.add(series("m", 1, 1, "a")));
  const auto refused = table.add(series("m", 1, 2, "b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
  EXPECT_EQ(table.add(series("m", 1, 1, "a")), 0U);
  EXPECT_FALSE(table.add(series("n", 2, 1, "a")));
}

TEST(SeriesTable, CountsASharedTagSetOnce) {
  const std::unique_ptr<SeriesTable> held = make_table(10);
  SeriesTable& table = *held;
  ASSERT_TRUE(table.add(series("m", 1, 1, "a")));
  const std::size_t first = table.bytes();
  EXPECT_EQ(first, series_bytes(1, 10));
  ASSERT_TRUE(table.add(series("n", 2, 1, "a")));
  EXPECT_LT(table.bytes() - first, first);
  ASSERT_TRUE(table.add(series("n", 2, 1, "a")));
  EXPECT_LT(table.bytes(), 2 * first);
}

TEST(SeriesTable, RenamedSeriesShowTheNewName) {
  const std::unique_ptr<SeriesTable> held = make_table(10'000);
  SeriesTable& table = *held;
  for (std::uint64_t host = 0; host < 5000; ++host) {
    ASSERT_TRUE(table.add(series("m", 1, host, "a")));
  }
  ASSERT_TRUE(table.add(series("n", 2, 3, "a")));
  table.rename({.kind = NameKind::kMetric, .uid = 1, .name = "m2"});
  table.rename({.kind = NameKind::kTagValue, .uid = 3, .name = "a2"});
  EXPECT_EQ(table.at(0).metric, "m2");
  EXPECT_EQ(table.at(4999).metric, "m2");
  EXPECT_EQ(table.at(5000).metric, "n");
  EXPECT_EQ(table.at(0).tags[0].value, "a");
  EXPECT_EQ(table.at(3).tags[0].value, "a2");
  EXPECT_EQ(table.at(5000).tags[0].value, "a2");
  EXPECT_EQ(table.find(table.at(3).tsuid.bytes()), 3U);
  table.rename({.kind = NameKind::kTagKey, .uid = 1, .name = "box"});
  EXPECT_EQ(table.at(4999).tags[0].key, "box");
  EXPECT_EQ(table.at(3).tags[0].value, "a2");
}

TEST(SeriesTable, ASeriesAddedUnderItsOldNameShowsTheNewOne) {
  const std::unique_ptr<SeriesTable> held = make_table(10);
  SeriesTable& table = *held;
  table.rename({.kind = NameKind::kMetric, .uid = 1, .name = "m2"});
  table.rename({.kind = NameKind::kTagValue, .uid = 1, .name = "a2"});
  ASSERT_TRUE(table.add(series("m", 1, 1, "a")));
  EXPECT_EQ(table.at(0).metric, "m2");
  EXPECT_EQ(table.at(0).tags[0].value, "a2");
}

TEST(SeriesTable, RenamingWhileOthersLookAndAdd) {
  const std::unique_ptr<SeriesTable> held = make_table(100'000);
  SeriesTable& table = *held;
  ASSERT_TRUE(table.add(series("m0", 1, 0, "m0")));
  static constexpr std::string_view kNames[] = {"m1", "m2", "m3", "m4"};
  std::atomic<bool> done = false;
  std::thread adder([&] {
    for (std::uint64_t host = 1; host < 20'000; ++host) {
      ASSERT_TRUE(table.add(series("m0", 1, host, "m0")));
      ASSERT_TRUE(table.add(series("n", 2, host % 100, "m0")));
    }
  });
  std::thread reader([&] {
    while (!done) {
      for (SeriesId id = 0; id < table.size(); id += 97) {
        ASSERT_FALSE(table.at(id).metric.text().empty());
        ASSERT_TRUE(table.at(id).tags.front().value.starts_with("m"));
      }
    }
  });
  for (const std::string_view name : kNames) {
    table.rename({.kind = NameKind::kMetric, .uid = 1, .name = name});
    table.rename({.kind = NameKind::kTagValue, .uid = 5, .name = name});
  }
  adder.join();
  done = true;
  reader.join();
  for (SeriesId id = 0; id < table.size(); ++id) {
    const Series& one = table.at(id);
    EXPECT_TRUE(one.metric == "m4" || one.metric == "n");
    EXPECT_EQ(one.tags[0].value, one.tags[0].value_uid == 5 ? "m4" : "m0");
  }
}

TEST(SeriesTable, ManyAddTheSameSeries) {
  constexpr std::uint64_t kHosts = 3000;
  const std::unique_ptr<SeriesTable> held = make_table(100'000);
  SeriesTable& table = *held;
  std::vector<std::thread> adders;
  for (unsigned thread = 0; thread < 4; ++thread) {
    adders.emplace_back([&table, thread] {
      for (std::uint64_t i = 0; i < kHosts; ++i) {
        const std::uint64_t host = thread % 2 == 0 ? i : kHosts - 1 - i;
        ASSERT_TRUE(table.add(series("m", 1 + (host % 3), host / 3, "a")));
      }
    });
  }
  for (std::thread& adder : adders) adder.join();
  EXPECT_EQ(table.size(), kHosts);
  std::set<Bytes> tsuids;
  for (SeriesId id = 0; id < table.size(); ++id) {
    tsuids.insert(table.at(id).tsuid.bytes());
    EXPECT_EQ(table.find(table.at(id).tsuid.bytes()), id);
  }
  EXPECT_EQ(tsuids.size(), kHosts);
}

}  // namespace
}  // namespace halite::storage
