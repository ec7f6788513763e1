// What is set aside, and what is answered afterwards.
#include "storage/tools/check/repair.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sanitized.h"
#include "tests/unit/storage/tools/check/checked_world.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kAside = "/data/set-aside";
constexpr TimeRange kAlways{.begin = 0, .end = INT64_MAX};

check::RepairReport repaired(Damaged& data) {
  auto done = check::repair_stored(check_options(data.world.files), kAside);
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_FALSE(done && done->ended_by) << done->ended_by->message;
  return done ? *std::move(done) : check::RepairReport();
}

// How many points there are, over all hosts: each is answered, and none is wrong.
std::size_t answered_points(Damaged& data) {
  std::size_t points = 0;
  for (const std::string& host : hosts()) {
    const Result<test::WorldPoints> found = data.read(host, kAlways);
    EXPECT_TRUE(found) << host << ": " << found.error().message;
    if (!found) continue;
    points += found->size();
    for (const auto& [key, value] : *found) {
      const auto wanted = data.expected.find(key);
      EXPECT_TRUE(wanted != data.expected.end() && wanted->second == value) << host;
    }
  }
  return points;
}

void cut(Damaged& data, const std::string& path, std::uint64_t size) {
  const auto file = data.world.files->open(path, OpenFile::kWrite).value();
  ASSERT_TRUE(file->truncate(size));
  ASSERT_TRUE(file->sync());
}

std::vector<std::string> live_chunks(Damaged& data) {
  std::vector<std::string> paths;
  EXPECT_TRUE(data.world.open());
  for (const rocks::LiveFile& file : data.world.points->chunk_files()) {
    if (file.family == "chunks" || file.family == "late") paths.push_back(file.path);
  }
  data.world.crash();
  return paths;
}

TEST(Repair, LeavesASoundStoreAlone) {
  Damaged data;
  const check::RepairReport done = repaired(data);
  EXPECT_THAT(done.set_aside, IsEmpty());
  EXPECT_THAT(done.left, IsEmpty());
  EXPECT_EQ(data.world.files->kind(kAside).value(), FileKind::kNone);
}

TEST(Repair, OfTablesThatCannotBeOpenedLetsAllElseBeAnswered) {
  const std::size_t tables = [] {
    Damaged data;
    return live_chunks(data).size();
  }();
  ASSERT_GT(tables, 3u);
  for (std::size_t i = 0; i < tables; i += 2) {
    Damaged data;
    const std::string path = live_chunks(data).at(i);
    const bool gone = i % 4 == 0;
    if (gone) {
      ASSERT_TRUE(data.world.files->remove(path));
    } else {
      cut(data, path, data.world.files->size(path).value() / 2);
    }
    const check::RepairReport done = repaired(data);
    EXPECT_THAT(done.set_aside, ElementsAre(HasSubstr(path)));
    EXPECT_EQ(data.world.files->kind(fmt::format("{}/chunks/{}", kAside, name_of(path))).value(),
              gone ? FileKind::kNone : FileKind::kFile);
    EXPECT_EQ(text_of(checked(data)), "");
    ASSERT_TRUE(data.world.open());
    const std::size_t points = answered_points(data);
    EXPECT_LE(points, data.expected.size());
    EXPECT_GT(points, data.expected.size() / 2) << path;
    data.put(data.world.clock.now_ms(), 1);
    ASSERT_TRUE(data.world.close());
  }
}

TEST(Repair, OfTablesThatCannotBeLookedAtJustNowIsRefused) {
  Damaged data;
  const std::string path = live_chunks(data).at(0);
  data.world.files->fail_opens(name_of(path), {Errc::kUnavailable, "Too many open files", {}});
  const auto done = check::repair_stored(check_options(data.world.files), kAside);
  data.world.files->heal();
  ASSERT_TRUE(done && done->ended_by);
  EXPECT_EQ(done->ended_by->code, Errc::kUnavailable);
  EXPECT_THAT(done->set_aside, IsEmpty());
  EXPECT_EQ(data.world.files->kind(kAside).value(), FileKind::kNone);
  EXPECT_EQ(text_of(checked(data)), "");
}

// Wherever the power goes, the bytes of a table that is taken out are there after the next start.
TEST(Repair, LosesNoFileInAPowerCut) {
  bool told_what_was_done = false;
  bool ended_well = false;
  for (std::uint64_t changes = 0; !ended_well; changes += test::step(1, 3)) {
    ASSERT_LT(changes, 500u);
    Damaged data;
    const std::vector<std::string> paths = live_chunks(data);
    std::vector<Bytes> contents;
    for (const std::size_t i : {0, 2}) {
      cut(data, paths.at(i), data.world.files->size(paths.at(i)).value() / 2);
      contents.push_back(read_whole(*data.world.files, paths.at(i), 1 << 24).value());
    }
    data.world.files->cut_power_after(changes);
    const auto done = check::repair_stored(check_options(data.world.files), kAside);
    ended_well = done && !done->ended_by;
    if (done && done->ended_by) told_what_was_done |= done->set_aside.size() == 1;
    data.world.crash();
    ASSERT_TRUE(data.world.open());
    ASSERT_TRUE(data.world.close());
    for (const std::size_t i : {0, 1}) {
      const std::string& path = paths.at(2 * i);
      const std::string aside = fmt::format("{}/chunks/{}", kAside, name_of(path));
      const auto there = read_whole(*data.world.files, path, 1 << 24);
      const auto kept = read_whole(*data.world.files, aside, 1 << 24);
      EXPECT_TRUE((there && *there == contents[i]) || (kept && *kept == contents[i]))
          << path << " is gone after " << changes << " changes";
    }
  }
  EXPECT_TRUE(told_what_was_done);
}

TEST(Repair, OfADamagedBlockIsNotNeeded) {
  Damaged data;
  const std::string path = live_chunks(data).at(0);
  data.world.files->flip_bit(path, 10, 3);
  const check::RepairReport done = repaired(data);
  EXPECT_FALSE(done.before.findings.empty());
  EXPECT_THAT(done.set_aside, IsEmpty());
}

TEST(Repair, OfAPartThatIsGoneSaysWhatIsLeftToDo) {
  for (const char* const dir : {kNames, kChunks}) {
    Damaged data;
    for (const std::string& name : data.world.files->list(dir).value()) {
      ASSERT_TRUE(data.world.files->remove(fmt::format("{}/{}", dir, name)));
    }
    ASSERT_TRUE(data.world.files->remove_dir(dir));
    const check::RepairReport done = repaired(data);
    EXPECT_FALSE(done.before.findings.empty());
    EXPECT_THAT(done.set_aside, IsEmpty());
    EXPECT_THAT(done.left, ElementsAre(fmt::format("{}: it cannot be recreated; restore the whole "
                                                   "data directory from a copy",
                                                   dir)));
  }
}

TEST(Repair, OfTheNamesLogCutsItAtTheDamagedRecord) {
  Damaged data;
  ASSERT_TRUE(data.world.open());
  ASSERT_TRUE(test::run_task(data.world.rows->compact()));
  ASSERT_TRUE(data.world.intern({"newer-1"}));
  ASSERT_TRUE(test::run_task(data.world.points->flush()));
  ASSERT_TRUE(data.world.intern({"newer-2"}));
  ASSERT_TRUE(test::run_task(data.world.points->flush()));
  data.world.crash();
  std::string log;
  for (const std::string& name : data.world.files->list(kNames).value()) {
    const std::string path = fmt::format("{}/{}", kNames, name);
    if (name.ends_with(".log") && data.world.files->size(path).value() > 100) log = path;
  }
  ASSERT_NE(log, "");
  const Bytes before = read_whole(*data.world.files, log, 1 << 24).value();
  data.world.files->flip_bit(log, 20, 1);
  ASSERT_FALSE(data.world.open());
  // A log behind it would be played over the gap; one that is not needed any more stays as it is.
  const std::string later = fmt::format("{}/900000.log", kNames);
  const std::string obsolete = fmt::format("{}/000001.log", kNames);
  const Bytes damaged = read_whole(*data.world.files, log, 1 << 24).value();
  ASSERT_TRUE(write_whole(*data.world.files, later, before));
  ASSERT_TRUE(write_whole(*data.world.files, obsolete, damaged));
  const check::RepairReport done = repaired(data);
  EXPECT_THAT(done.set_aside, ElementsAre(HasSubstr(later), HasSubstr(log)));
  EXPECT_THAT(done.left, ElementsAre(HasSubstr("engine.accept_lost_names")));
  EXPECT_EQ(data.world.files->kind(later).value(), FileKind::kNone);
  EXPECT_EQ(data.world.files->size(fmt::format("{}/rocks/900000.log", kAside)).value(),
            before.size());
  EXPECT_EQ(read_whole(*data.world.files, obsolete, 1 << 24).value(), damaged);
  const std::string kept = fmt::format("{}/rocks/{}", kAside, name_of(log));
  EXPECT_EQ(data.world.files->size(kept).value(), before.size());
  data.world.options.accept_lost_names = true;
  const Result<void> opened = data.world.open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(answered_points(data), data.expected.size());
  ASSERT_TRUE(data.world.close());
}

}  // namespace
}  // namespace halite::storage
