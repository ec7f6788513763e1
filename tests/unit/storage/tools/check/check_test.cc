// What a check says of a store, sound or not.
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/tsdb/chunk_db/chunk_db.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/tools/check/checked_world.h"

namespace halite::storage {
namespace {

using testing::HasSubstr;

void remove_all(Damaged& data, const std::string& dir) {
  for (const std::string& name : data.world.files->list(dir).value()) {
    ASSERT_TRUE(data.world.files->remove(fmt::format("{}/{}", dir, name)));
  }
  ASSERT_TRUE(data.world.files->remove_dir(dir));
}

TEST(Check, FindsNothingInASoundStore) {
  Damaged data;
  const check::Report report = checked(data);
  EXPECT_EQ(text_of(report), "");
  EXPECT_GT(report.files, 10u);
  EXPECT_GT(report.chunks, 100u);
  EXPECT_GT(report.points, 20'000u);
  EXPECT_GT(report.records, 0u);
  EXPECT_EQ(report.series, static_cast<std::uint64_t>(kHosts));
  EXPECT_TRUE(report.notes.empty());
}

TEST(Check, FindsNothingInAStoreThatWasClosed) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  ASSERT_TRUE(data.world.close());
  EXPECT_EQ(text_of(checked(data)), "");
}

TEST(Check, FindsNothingInARing) {
  Damaged data(6 * kHourMs);
  EXPECT_EQ(text_of(checked(data)), "");
}

TEST(Check, FindsNothingInASeriesWithoutTags) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  const auto ids = test::run_task(
      data.world.points->intern({SeriesName{.metric = "m", .tags = {}}}, CreateNames()));
  ASSERT_TRUE(ids && (*ids)[0]);
  PointBatch points;
  points.add(*(*ids)[0], data.world.clock.now_ms(), integer_bits(1), 0);
  const auto accepted = test::run_task(data.world.points->append(std::move(points)));
  ASSERT_TRUE(accepted && accepted->refused.empty());
  ASSERT_TRUE(test::run_task(data.world.points->flush()));
  ASSERT_TRUE(data.world.close());
  EXPECT_EQ(text_of(checked(data)), "");
}

TEST(Check, ChangesNothing) {
  Damaged data;
  const std::uint64_t changes = data.world.files->changes();
  const std::uint64_t bytes = data.world.files->used_bytes();
  checked(data);
  EXPECT_EQ(data.world.files->used_bytes(), bytes);
  EXPECT_LE(data.world.files->changes(), changes + 2);  // the lock's file
  ASSERT_TRUE(data.world.open());
  EXPECT_EQ(data.answered(), kHosts);
  ASSERT_TRUE(data.world.close());
}

TEST(Check, LeavesAStoreThatIsOpenAlone) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  const auto report = check::check_stored(check_options(data.world.files));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kConflict);
  ASSERT_TRUE(data.world.close());
}

TEST(Check, OfNothingSaysSo) {
  const auto files = std::make_shared<test::FaultyFiles>(1);
  const auto report = check::check_stored(check_options(files));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, Errc::kNotFound);
}

// Wherever the first start is interrupted, by a kill or a power cut.
TEST(Check, FindsNothingLostIfTheFirstStartWasInterrupted) {
  for (const bool power_cut : {false, true}) {
    int unfinished = 0;
    bool created = false;
    for (std::uint64_t change = 0; !created; change += test::step(1, 5)) {
      test::EngineWorld world(static_cast<std::uint32_t>(change + 1), kFullHour);
      world.files->cut_power_after(change);
      created = world.open().has_value();
      if (created) std::ignore = world.close();
      power_cut ? world.files->restore_power() : world.files->restart_process();
      const auto report = check::check_stored(check_options(world.files));
      if (report) {
        for (const check::Finding& finding : report->findings) {
          EXPECT_TRUE(finding.may_be_torn)
              << "change " << change << ": " << finding.file << " " << finding.what;
        }
        unfinished += static_cast<int>(!report->notes.empty());
      } else {
        EXPECT_EQ(report.error().code, Errc::kNotFound) << change << report.error().message;
      }
      ASSERT_TRUE(world.open()) << change;
      ASSERT_TRUE(world.close());
    }
    EXPECT_GT(unfinished, 0);
  }
}

TEST(Check, MissesEachPartOfAYoungStore) {
  const auto stored = [](const std::shared_ptr<test::FaultyFiles>& files) {
    return text_of(check::check_stored(check_options(files)).value());
  };
  const auto young = [] {
    test::EngineWorld world(1, kFullHour);
    EXPECT_TRUE(world.open());
    EXPECT_TRUE(world.close());
    return world.files;
  };
  const auto remove_files = [](test::FaultyFiles& files, const std::string& dir) {
    for (const std::string& name : files.list(dir).value()) {
      ASSERT_TRUE(files.remove(fmt::format("{}/{}", dir, name)));
    }
  };
  EXPECT_EQ(stored(young()), "");

  auto files = young();
  remove_files(*files, kLog);
  ASSERT_TRUE(files->remove_dir(kLog));
  EXPECT_THAT(stored(files), HasSubstr("is missing: the newest points are lost"));

  files = young();
  remove_files(*files, kChunks);
  EXPECT_THAT(stored(files), HasSubstr("CURRENT"));

  files = young();
  ASSERT_TRUE(files->remove(fmt::format("{}/CURRENT", kNames)));
  EXPECT_THAT(stored(files), HasSubstr("CURRENT"));
}

// The name of the manifest, and what it holds.
std::pair<std::string, Bytes> manifest_of(test::FaultyFiles& files) {
  const Bytes current = read_whole(files, fmt::format("{}/CURRENT", kNames), 1 << 10).value();
  const std::string path = fmt::format("{}/{}", kNames, current.substr(0, current.find('\n')));
  return {path, read_whole(files, path, 1 << 20).value()};
}

// RocksDB takes a directory whose manifest lists nothing for a new one, and deletes its tables.
TEST(Check, MissesAManifestWithoutItsTables) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  ASSERT_TRUE(data.world.close());
  test::FaultyFiles& files = *data.world.files;
  const auto tables = [&] {
    std::set<std::string> found;
    for (const std::string& name : files.list(kNames).value()) {
      if (name.ends_with(".sst")) found.insert(name);
    }
    return found;
  };
  const std::set<std::string> before = tables();
  ASSERT_FALSE(before.empty());

  RocksOptions empty;
  empty.dir = kNames;
  empty.files = std::make_shared<test::FaultyFiles>(1);
  prometheus::Registry metrics;
  auto store = RocksStore::open(empty, data.world.clock, metrics);
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(test::run_task((*store)->close()));
  const Bytes lists_nothing = manifest_of(static_cast<test::FaultyFiles&>(*empty.files)).second;
  const std::string path = manifest_of(files).first;
  ASSERT_TRUE(files.remove(path));
  const auto file = files.open(path, OpenFile::kCreate).value();
  ASSERT_TRUE(file->append(lists_nothing));
  ASSERT_TRUE(file->sync());

  const check::Report report = checked(data);
  EXPECT_TRUE(names(report, kNames)) << text_of(report);
  EXPECT_THAT(data.world.open().error().message, HasSubstr("it listed its contents"));
  EXPECT_EQ(tables(), before);
}

// Series and times that are named are those whose questions fail; the slots tell nothing finer.
TEST(Check, NamesWhoIsHurtAndWhen) {
  int failed_reads = 0;
  const std::size_t tables = Damaged().tables().size();
  for (std::size_t i = 0; i < tables; i += 3) {
    Damaged data;
    const std::string path = data.tables().at(i);
    data.world.files->flip_bit(path, 10, 3);
    const check::Report report = checked(data);
    ASSERT_TRUE(names(report, path)) << path;
    ASSERT_TRUE(data.world.open());
    for (const std::string& host : hosts()) {
      for (int slot = 0; slot < 4; ++slot) {
        const TimeRange hour{.begin = kFullHour + slot * kHourMs,
                             .end = kFullHour + (slot + 1) * kHourMs};
        if (data.read(host, hour)) continue;
        ++failed_reads;
        const std::string series = fmt::format("m{{host={}}}", host);
        const bool told = std::ranges::any_of(report.findings, [&](const auto& finding) {
          return finding.impact && finding.impact->times &&
                 std::ranges::find(finding.impact->series, series) !=
                     finding.impact->series.end() &&
                 finding.impact->times->begin < hour.end && finding.impact->times->end > hour.begin;
        });
        EXPECT_TRUE(told) << series << " slot " << slot << "\n" << text_of(report);
      }
    }
    ASSERT_TRUE(data.world.close());
  }
  EXPECT_GT(failed_reads, 5);
}

TEST(Check, TellsMissingFiles) {
  const std::size_t tables = Damaged().tables().size();
  for (std::size_t i = 0; i < tables; i += 5) {
    Damaged data;
    const std::string path = data.tables().at(i);
    engine::ChunkDbOptions options;
    options.dir = kChunks;
    options.files = data.world.files;
    options.read_only = true;
    auto chunks = engine::ChunkDb::open(options);
    ASSERT_TRUE(chunks) << chunks.error().message;
    const bool live = (*chunks)->tables->file_names().contains(name_of(path));
    ASSERT_TRUE((*chunks)->close());
    ASSERT_TRUE(data.world.files->remove(path));
    EXPECT_EQ(names(checked(data), path), live) << path;
  }
}

TEST(Check, TellsMissingDirectories) {
  for (const char* const dir : {kNames, kChunks, kLog}) {
    Damaged data;
    remove_all(data, dir);
    EXPECT_THAT(text_of(checked(data)), HasSubstr(dir));
  }
}

// As a start that was refused leaves it, or somebody who has put the directory there again.
TEST(Check, CountsPointsWhoseNamesAreMissing) {
  for (const bool store_is_there : {false, true}) {
    Damaged data;
    const std::uint64_t points = checked(data).points;
    remove_all(data, kNames);
    if (store_is_there) {
      RocksOptions empty;
      empty.dir = kNames;
      empty.files = data.world.files;
      prometheus::Registry registry;
      auto store = RocksStore::open(empty, data.world.clock, registry);
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_TRUE(test::run_task((*store)->close()));
    }
    const check::Report report = checked(data);
    ASSERT_EQ(report.findings.size(), 1u) << text_of(report);
    const check::Finding& finding = report.findings.front();
    EXPECT_EQ(finding.file, kNames);
    EXPECT_THAT(finding.what, HasSubstr("the names of their series are missing"));
    EXPECT_TRUE(finding.wants_copy);
    ASSERT_TRUE(finding.impact);
    EXPECT_EQ(finding.impact->what,
              fmt::format("{} points in chunks, of {} series without names", points, kHosts));
    EXPECT_EQ(report.points, points);
    // A start says the same.
    EXPECT_THAT(data.world.open().error().message, HasSubstr(finding.what));
  }
}

TEST(Check, TellsThatPointsAreMissingWhereTheNamesKnowOfThem) {
  Damaged data;
  remove_all(data, kLog);
  remove_all(data, kChunks);
  ASSERT_TRUE(data.world.files->remove_dir("/data/engine"));
  const check::Report report = checked(data);
  EXPECT_THAT(text_of(report), HasSubstr("is missing or has no file CURRENT, but it held points"));
  EXPECT_TRUE(names(report, kChunks)) << text_of(report);
  EXPECT_TRUE(names(report, kLog)) << text_of(report);
  EXPECT_EQ(report.findings.size(), 2u) << text_of(report);
  EXPECT_THAT(data.world.open().error().message, HasSubstr("but it held points"));
}

TEST(Check, TellsThatTheNamesAreOfAnOlderCopy) {
  Damaged data;
  std::vector<std::pair<std::string, Bytes>> old;
  for (const std::string& name : data.world.files->list(kNames).value()) {
    const std::string path = fmt::format("{}/{}", kNames, name);
    old.emplace_back(path, read_whole(*data.world.files, path, 1 << 24).value());
  }
  ASSERT_TRUE(data.world.open());
  data.put(data.world.clock.now_ms(), 1);
  ASSERT_TRUE(data.world.close());
  for (const std::string& name : data.world.files->list(kNames).value()) {
    ASSERT_TRUE(data.world.files->remove(fmt::format("{}/{}", kNames, name)));
  }
  for (const auto& [path, bytes] : old) ASSERT_TRUE(write_whole(*data.world.files, path, bytes));
  EXPECT_THAT(text_of(checked(data)), HasSubstr("lost its last writes"));
}

}  // namespace
}  // namespace halite::storage
