#include "storage/series_table.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace halite::storage {
namespace {

Series series(std::string_view metric, std::string_view metric_uid, std::uint64_t host_uid,
              std::string_view host) {
  Series made;
  made.metric = metric;
  made.tsuid = Bytes(metric_uid);
  append_be(made.tsuid, host_uid);
  made.tags.push_back({.key = "host", .value = host, .key_uid = 1, .value_uid = host_uid});
  return made;
}

TEST(SeriesTable, GivesDenseIds) {
  SeriesTable table({.series = 10});
  EXPECT_EQ(*table.add(1, series("m", "\1", 1, "a")), 0U);
  EXPECT_EQ(*table.add(1, series("m", "\1", 2, "b")), 1U);
  EXPECT_EQ(*table.add(1, series("m", "\1", 1, "a")), 0U);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(table.at(1).tags[0].value, "b");
  EXPECT_EQ(table.find(table.at(1).tsuid), 1U);
}

TEST(SeriesTable, FullIsAnError) {
  SeriesTable table({.series = 1});
  ASSERT_TRUE(table.add(1, series("m", "\1", 1, "a")));
  const auto refused = table.add(1, series("m", "\1", 2, "b"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
}

TEST(SeriesTable, RenamedSeriesShowTheNewName) {
  SeriesTable table({.series = 10'000});
  for (std::uint64_t host = 0; host < 5000; ++host) {
    ASSERT_TRUE(table.add(1, series("m", "\1", host, "a")));
  }
  ASSERT_TRUE(table.add(2, series("n", "\2", 3, "a")));
  const Series& before = table.at(3);
  table.rename({.kind = NameKind::kMetric, .uid = 1, .uid_bytes = "\1", .name = "m2"});
  table.rename({.kind = NameKind::kTagValue, .uid = 3, .uid_bytes = {}, .name = "a2"});
  EXPECT_EQ(table.at(0).metric, "m2");
  EXPECT_EQ(table.at(4999).metric, "m2");
  EXPECT_EQ(table.at(5000).metric, "n");
  EXPECT_EQ(table.at(0).tags[0].value, "a");
  EXPECT_EQ(table.at(3).tags[0].value, "a2");
  EXPECT_EQ(table.at(5000).tags[0].value, "a2");
  EXPECT_EQ(table.find(table.at(3).tsuid), 3U);
  EXPECT_EQ(before.metric, "m");  // who looked before sees what was
  table.rename({.kind = NameKind::kTagKey, .uid = 1, .uid_bytes = {}, .name = "box"});
  EXPECT_EQ(table.at(4999).tags[0].key, "box");
}

TEST(SeriesTable, ASeriesAddedUnderItsOldNameShowsTheNewOne) {
  SeriesTable table({.series = 10});
  table.rename({.kind = NameKind::kMetric, .uid = 1, .uid_bytes = "\1", .name = "m2"});
  ASSERT_TRUE(table.add(1, series("m", "\1", 1, "a")));
  EXPECT_EQ(table.at(0).metric, "m2");
}

TEST(SeriesTable, RenamingWhileOthersLookAndAdd) {
  SeriesTable table({.series = 100'000});
  ASSERT_TRUE(table.add(1, series("m0", "\1", 0, "a")));
  static constexpr std::string_view kNames[] = {"m1", "m2", "m3", "m4"};
  std::atomic<bool> done = false;
  std::thread adder([&] {
    for (std::uint64_t host = 1; host < 20'000; ++host) {
      ASSERT_TRUE(table.add(1, series("m0", "\1", host, "a")));
    }
  });
  std::thread reader([&] {
    while (!done) {
      for (SeriesId id = 0; id < table.size(); id += 97) {
        ASSERT_TRUE(table.at(id).metric.starts_with("m"));
      }
    }
  });
  for (const std::string_view name : kNames) {
    table.rename({.kind = NameKind::kMetric, .uid = 1, .uid_bytes = "\1", .name = name});
  }
  adder.join();
  done = true;
  reader.join();
  for (SeriesId id = 0; id < table.size(); ++id) EXPECT_EQ(table.at(id).metric, "m4");
}

}  // namespace
}  // namespace halite::storage
