// What storage/tsdb/wal/log.h promises while nothing is damaged.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/tsdb/wal/log_world.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(Log, GivesBackWhatWasAppendedInOrder) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, IsEmpty());
  EXPECT_EQ(world.log->append("one").value(), 1u);
  EXPECT_EQ(world.log->append("").value(), 2u);
  EXPECT_EQ(world.put("three").value(), 3u);
  EXPECT_EQ(world.log->synced(), 3u);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(world.open());
    EXPECT_THAT(world.replayed, ElementsAre(Pair(1, "one"), Pair(2, ""), Pair(3, "three")));
    EXPECT_EQ(world.log->replayed().last, 3u);
    EXPECT_EQ(world.log->replayed().records, 3u);
    EXPECT_FALSE(world.log->replayed().torn);
    EXPECT_THAT(world.log->replayed().damages, IsEmpty());
  }
  EXPECT_EQ(world.put("four").value(), 4u);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, SizeIs(4));
  EXPECT_EQ(world.progress.back().records, 4u);
  EXPECT_EQ(world.progress.back().bytes_done, world.progress.back().bytes_total);
}

TEST(Log, TakesRecordsUpToTheLimit) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  const Bytes greatest(world.options.record_bytes_max, 'x');
  EXPECT_TRUE(world.put(greatest));
  EXPECT_EQ(world.log->append(greatest + "x").error().code, Errc::kTooLarge);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, ElementsAre(Pair(1, greatest)));
}

TEST(Log, GoesOnOverManySegmentsOnARealDisk) {
  const test::TempDir dir;
  prometheus::Registry registry;
  LogWorld small;
  LogOptions options = small.options;
  options.dir = dir.path() + "/a/log";
  std::vector<Bytes> got;
  ReplayCallbacks callbacks{[&got](Sequence, BytesView payload) -> Result<void> {
                              got.emplace_back(payload);
                              return {};
                            },
                            {}};
  auto log = Log::open(posix_files(), options, callbacks, registry);
  ASSERT_TRUE(log) << log.error().message;
  std::vector<Bytes> sent;
  for (int i = 0; i < 300; ++i) {
    sent.emplace_back(static_cast<std::size_t>(i * 7 % 1500), static_cast<char>('a' + i % 26));
    ASSERT_TRUE((*log)->append(sent.back()));
  }
  ASSERT_TRUE((*log)->close());
  log->reset();
  log = Log::open(posix_files(), options, callbacks, registry);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(got, sent);
}

TEST(Log, WaitsForTheIntervalUnlessSomebodyHurries) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  ASSERT_TRUE(world.open());
  const Sequence sequence = world.log->append("x").value();
  const Completion durable = world.log->durable(sequence);
  EXPECT_FALSE(durable.finished());
  EXPECT_EQ(world.log->synced(), 0u);
  world.log->request_sync();
  EXPECT_TRUE(run_task(durable.wait()));
  EXPECT_TRUE(world.log->durable(sequence).finished());
  EXPECT_EQ(world.log->synced(), 1u);
}

TEST(Log, CommitsWithoutWaitingWhenThereIsEnough) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  world.options.commit_bytes = 4000;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.log->append(Bytes(1000, 'x')));
  const Sequence last = world.log->append(Bytes(4000, 'x')).value();
  EXPECT_TRUE(run_task(world.log->durable(last).wait()));
}

TEST(Log, CommitsWhatIsThereWhenItCloses) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.log->append("x"));
  const Completion durable = world.log->durable(1);
  ASSERT_TRUE(world.log->close());
  EXPECT_TRUE(run_task(durable.wait()));
  EXPECT_EQ(world.log->append("y").error().code, Errc::kUnavailable);
  EXPECT_EQ(world.log->truncate_upto(1).error().code, Errc::kUnavailable);
  EXPECT_EQ(run_task(world.log->wait_for_space()).error().code, Errc::kUnavailable);
  EXPECT_EQ(world.log->health().error().code, Errc::kUnavailable);
  EXPECT_TRUE(world.log->durable(1).finished());
  ASSERT_TRUE(world.log->close()) << "twice is no error";
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, ElementsAre(Pair(1, "x")));
}

TEST(Log, MakesWritersWaitWhileTooMuchIsUnsynced) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  world.options.commit_bytes = 1 << 30;
  world.options.unsynced_bytes_max = 30'000;
  ASSERT_TRUE(world.open());
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(run_task(world.log->wait_for_space()));
    ASSERT_TRUE(world.log->append(Bytes(1000, 'x')));
    ASSERT_LE((world.log->last() - world.log->synced()) * 1000, 32'000u);
  }
  ASSERT_TRUE(world.log->close());
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, SizeIs(500));
}

TEST(Log, KeepsTheOrderOfEachOfManyWriters) {
  constexpr int kWriters = 8;
  constexpr int kEach = 200;
  LogWorld world;
  ASSERT_TRUE(world.open());
  std::vector<std::thread> writers;
  std::atomic<int> failures = 0;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&world, &failures, writer] {
      for (int i = 0; i < kEach; ++i) {
        const auto sequence = world.log->append(std::to_string(writer) + " " + std::to_string(i));
        if (!sequence) ++failures;
        if (i % 10 == 0 && sequence && !world.wait(*sequence)) ++failures;
        if (i % 50 == 0) world.log->cut();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  ASSERT_TRUE(world.log->close());
  ASSERT_TRUE(world.open());
  ASSERT_THAT(world.replayed, SizeIs(kWriters * kEach));
  std::vector<int> next(kWriters);
  for (std::size_t i = 0; i < world.replayed.size(); ++i) {
    ASSERT_EQ(world.replayed[i].first, i + 1);
    const Bytes& text = world.replayed[i].second;
    const auto writer = static_cast<std::size_t>(text[0] - '0');
    EXPECT_EQ(std::stoi(text.substr(2)), next[writer]++);
  }
}

// ---- segments -----------------------------------------------------------------------------------

TEST(LogSegments, AreDroppedOldestFirstUpToACut) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("a"));
  const Sequence first_cut = world.log->cut();
  EXPECT_EQ(first_cut, 1u);
  EXPECT_EQ(world.log->cut(), first_cut) << "nothing came since";
  ASSERT_TRUE(world.put("b"));
  const Sequence second_cut = world.log->cut();
  EXPECT_EQ(second_cut, 2u);
  ASSERT_TRUE(world.put("c"));
  EXPECT_THAT(world.segments(), SizeIs(3));
  ASSERT_TRUE(world.log->truncate_upto(first_cut));
  EXPECT_THAT(world.segments(), SizeIs(2));
  ASSERT_TRUE(world.log->truncate_upto(first_cut));
  EXPECT_THAT(world.segments(), SizeIs(2));
  world.options.flushed_upto = first_cut;
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, ElementsAre(Pair(2, "b"), Pair(3, "c")));
  ASSERT_TRUE(world.log->truncate_upto(3));
  EXPECT_THAT(world.segments(), SizeIs(1)) << "the active one stays";
}

TEST(LogSegments, AreCutAlsoWhenNothingComesAfter) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.log->append("a"));
  const Sequence cut = world.log->cut();
  ASSERT_TRUE(world.log->truncate_upto(cut));
  EXPECT_THAT(world.segments(), SizeIs(1));
  world.options.flushed_upto = cut;
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, IsEmpty());
  EXPECT_EQ(world.put("b").value(), 2u);
}

TEST(LogSegments, AreWrittenAgain) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  std::uint64_t bytes_most = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.put(Bytes(3000, static_cast<char>('a' + i))));
    const Sequence flushed = world.log->cut();
    ASSERT_TRUE(world.log->truncate_upto(flushed));
    world.options.flushed_upto = flushed;
    bytes_most = std::max(bytes_most, world.log->disk_bytes());
    EXPECT_LE(world.spares(), world.options.spare_segments_max);
    if (round % 7 == 0) {
      ASSERT_TRUE(world.put("after the cut"));
      ASSERT_TRUE(world.open());
      ASSERT_THAT(world.replayed, ElementsAre(Pair(flushed + 1, "after the cut")))
          << "nothing of an earlier life";
    }
  }
  EXPECT_LE(bytes_most, 5 * world.options.segment_bytes);
}

TEST(LogSegments, GiveTheirSpaceBack) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(world.put(Bytes(3000, 'x')));
  const Sequence cut = world.log->cut();
  ASSERT_TRUE(world.log->truncate_upto(cut));
  EXPECT_GT(world.spares(), 0u);
  EXPECT_GT(world.log->disk_bytes(), world.options.segment_bytes_min);
  ASSERT_TRUE(world.log->shrink());
  EXPECT_EQ(world.spares(), 0u);
  EXPECT_EQ(world.log->disk_bytes(), world.options.segment_bytes_min);
  const std::uint64_t newest = world.files->size(world.options.dir + "/newest").value();
  EXPECT_EQ(world.files->used_bytes() - newest, world.options.segment_bytes_min);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.put(Bytes(3000, 'y'))) << "and grow again";
  world.options.flushed_upto = cut;
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, SizeIs(10));
}

TEST(LogSegments, WithoutRecordsDoNotPileUp) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("a"));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(world.open());
  EXPECT_THAT(world.segments(), SizeIs(2));
  EXPECT_THAT(world.replayed, ElementsAre(Pair(1, "a")));
}

TEST(LogSegments, NumbersGoOnAboveWhatWasFlushed) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.log->append("lost in the power cut, but flushed elsewhere"));
  world.files->crash();
  world.options.flushed_upto = 1;
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.put("x").value(), 2u);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, ElementsAre(Pair(2, "x")));
}

// ---- refusals -----------------------------------------------------------------------------------

TEST(Log, IsOpenOnce) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  const auto second = Log::open(world.files, world.options, {}, *world.registry);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kConflict);
}

TEST(Log, RefusesOptionsThatDoNotFitTogether) {
  LogWorld world;
  world.options.segment_bytes = 20'000;
  EXPECT_EQ(world.open().error().code, Errc::kInvalidArgument);
  world.options.segment_bytes = 64 << 10;
  world.options.segment_bytes_min = 128 << 10;
  EXPECT_EQ(world.open().error().code, Errc::kInvalidArgument);
  world.options.segment_bytes_min = 1 << 10;
  EXPECT_EQ(world.open().error().code, Errc::kInvalidArgument);
}

TEST(Log, EndsTheReplayWithTheCallbacksError) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("a"));
  ASSERT_TRUE(world.log->close());
  world.log.reset();
  const ReplayCallbacks refusing{
      [](Sequence, BytesView) -> Result<void> { return fail(Errc::kInternal, "not mine"); }, {}};
  const auto opened = Log::open(world.files, world.options, refusing, *world.registry);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().message, "not mine");
}

// ---- disks that fail ----------------------------------------------------------------------------

TEST(LogFaults, AFailedSyncIsNeverTriedAgain) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("before"));
  world.files->fail_sync_number(1);
  const auto during = world.put("during");
  ASSERT_FALSE(during);
  EXPECT_EQ(during.error().code, Errc::kUnavailable);
  EXPECT_THAT(during.error().message, HasSubstr("input/output error"));
  const auto after = world.log->append("after");
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Errc::kUnavailable);
  EXPECT_THAT(after.error().message, HasSubstr("input/output error"));
  EXPECT_FALSE(world.log->health());
  EXPECT_FALSE(world.log->truncate_upto(1));
  EXPECT_FALSE(run_task(world.log->wait_for_space()));
  EXPECT_FALSE(run_task(world.log->durable(2).wait()));
  EXPECT_TRUE(run_task(world.log->durable(1).wait())) << "what was durable is";
  EXPECT_FALSE(world.log->close());
  ASSERT_TRUE(world.open()) << "a replay puts it right";
  EXPECT_EQ(world.replayed.front().second, "before");
  EXPECT_TRUE(world.put("after"));
}

// What was admitted is numbered whatever happens, so that records that belong together are never
// taken in part.
TEST(LogFaults, AnAdmittedRecordIsNotRefused) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  const auto admission = world.log->admit();
  ASSERT_TRUE(admission);
  EXPECT_EQ(world.log->append(*admission, "first"), 1u);
  world.files->fail_sync_number(1);
  EXPECT_FALSE(world.wait(1));
  EXPECT_FALSE(world.log->admit());
  EXPECT_EQ(world.log->append(*admission, "second"), 2u);
  EXPECT_EQ(world.wait(2).error().code, Errc::kUnavailable);
  EXPECT_FALSE(world.log->close());
  EXPECT_EQ(world.log->append(*admission, "third"), 3u);
  EXPECT_EQ(world.wait(3).error().code, Errc::kUnavailable);
  ASSERT_TRUE(world.open());
  for (const auto& [sequence, payload] : world.replayed) EXPECT_EQ(sequence, 1u) << payload;
}

TEST(LogFaults, AnAdmittedRecordWaitsForAFullDisk) {
  LogWorld world;
  world.options.full_disk_retry_ms = 1;
  ASSERT_TRUE(world.open());
  const auto admission = world.log->admit();
  world.files->fail_writes(".log", {Errc::kOverloaded, "no space left", {}});
  EXPECT_FALSE(world.wait(world.log->append(*admission, "first")));
  EXPECT_FALSE(world.wait(world.log->append(*admission, "second"))) << "nobody knows when";
  world.files->heal();
  while (!world.log->health()) std::this_thread::yield();
  ASSERT_TRUE(world.put("third"));
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.replayed.size(), 3u);
}

TEST(LogFaults, AFailedWriteIsOneToo) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  world.files->fail_writes(".log", {Errc::kUnavailable, "on fire", {}});
  EXPECT_THAT(world.put("x").error().message, HasSubstr("on fire"));
  world.files->heal();
  EXPECT_EQ(world.put("y").error().code, Errc::kUnavailable);
}

TEST(LogFaults, AFullDiskIsWaitedFor) {
  LogWorld world;
  world.options.full_disk_retry_ms = 1;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("before"));
  world.files->set_capacity(world.files->used_bytes());
  Sequence told_no = 0;
  while (told_no == 0) {
    const auto sequence = world.log->append(Bytes(3000, 'x'));
    ASSERT_TRUE(sequence) << sequence.error().message;
    const Result<void> durable = world.wait(*sequence);
    if (durable) continue;
    EXPECT_EQ(durable.error().code, Errc::kUnavailable);
    EXPECT_THAT(durable.error().message, HasSubstr("no space left"));
    told_no = *sequence;
  }
  const auto refused = world.log->append("refused");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kUnavailable);
  EXPECT_THAT(world.log->health().error().message, HasSubstr("no space left"));
  world.files->heal();
  while (!world.log->health()) std::this_thread::yield();
  EXPECT_EQ(world.put("after").value(), told_no + 1) << "what was kept goes first";
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.replayed.size(), told_no + 1);
  EXPECT_EQ(world.replayed.back(), std::pair(told_no + 1, Bytes("after")));
}

TEST(LogFaults, DroppingSegmentsMakesRoomOnAFullDisk) {
  LogWorld world;
  world.options.full_disk_retry_ms = 1'000'000'000;
  world.options.spare_segments_max = 0;
  ASSERT_TRUE(world.open());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.put(Bytes(10'000, 'x')));
  const Sequence cut = world.log->cut();
  ASSERT_TRUE(world.put("y"));
  world.files->set_capacity(world.files->used_bytes());
  while (world.log->health()) std::ignore = world.put(Bytes(10'000, 'z'));
  ASSERT_TRUE(world.log->truncate_upto(cut));
  while (!world.log->health()) std::this_thread::yield();
  EXPECT_TRUE(world.put("goes on"));
}

TEST(LogFaults, AFullDiskAtTheEndIsToldByClose) {
  LogWorld world;
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("kept"));
  world.options.commit_interval_ms = 1'000'000'000;
  ASSERT_TRUE(world.open());
  world.files->set_capacity(0);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.log->append(Bytes(3000, 'x')));
  EXPECT_EQ(world.log->close().error().code, Errc::kUnavailable);
  world.files->heal();
  ASSERT_TRUE(world.open());
  EXPECT_EQ(world.replayed.front(), std::pair(Sequence{1}, Bytes("kept")));
}

}  // namespace
}  // namespace halite::storage
