// Bits that flip, sectors that get lost, remains of earlier lives: what replay makes of them.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/crc32c.h"
#include "common/bytes/little_endian.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/log_check.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/tsdb/wal/log_world.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr std::uint64_t kPage = log_format::kPageBytes;
// In a segment whose every group holds one record: the record of the n-th group, from 0.
constexpr std::uint64_t record_at(std::uint64_t group) {
  return kPage + group * kPage + log_format::kGroupHeadBytes;
}

std::vector<Bytes> payloads(const LogWorld& world) {
  std::vector<Bytes> all;
  for (const auto& [sequence, payload] : world.replayed) all.push_back(payload);
  return all;
}

// A closed log of one segment with a record a group: "0", "1", ...
LogWorld world_of(int records) {
  LogWorld world;
  EXPECT_TRUE(world.open());
  for (int i = 0; i < records; ++i) EXPECT_TRUE(world.put(std::to_string(i)));
  EXPECT_TRUE(world.log->close());
  world.log.reset();
  return world;
}

// The same, but the power went before the end was noted: nothing says that the last was synced.
LogWorld dark_world_of(int records) {
  LogWorld world;
  EXPECT_TRUE(world.open());
  for (int i = 0; i < records; ++i) EXPECT_TRUE(world.put(std::to_string(i)));
  world.files->crash();
  world.log.reset();
  return world;
}

TEST(LogDamage, CostsOneRecordAndIsReportedAndSetAside) {
  const std::uint64_t places[] = {0, 5, 9, 16};  // checksum, length, sequence, payload
  for (const std::uint64_t place : places) {
    SCOPED_TRACE(place);
    LogWorld world = world_of(4);
    const std::string segment = world.segments().front();
    world.files->flip_bit(segment, record_at(1) + place, 3);
    ASSERT_TRUE(world.open());
    EXPECT_THAT(world.replayed, ElementsAre(Pair(1, "0"), Pair(3, "2"), Pair(4, "3")));
    ASSERT_THAT(world.log->replayed().damages, SizeIs(1));
    const LogDamage damage = world.log->replayed().damages.front();
    EXPECT_EQ(damage.segment, segment);
    EXPECT_EQ(damage.begin, 2u);
    EXPECT_EQ(damage.end, 3u);
    EXPECT_LE(damage.offset, record_at(1));
    EXPECT_GT(damage.offset + damage.bytes, record_at(1) + 16);
    EXPECT_EQ(world.files->size(damage.quarantine).value(), damage.bytes);
    EXPECT_FALSE(world.log->replayed().torn);
    ASSERT_TRUE(world.put("goes on"));
    ASSERT_TRUE(world.open()) << "again: the same damage, one file";
    EXPECT_THAT(payloads(world), ElementsAre("0", "2", "3", "goes on"));
    EXPECT_THAT(world.log->replayed().damages, SizeIs(1));
  }
}

TEST(LogDamage, InsideAGroupLeavesTheGroupsOtherRecords) {
  LogWorld world;
  world.options.commit_interval_ms = 1'000'000'000;
  ASSERT_TRUE(world.open());
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(world.log->append(Bytes(100, static_cast<char>('a' + i))));
  ASSERT_TRUE(world.log->close());
  world.log.reset();
  const std::uint64_t record = kPage + log_format::kGroupHeadBytes + 2 * 120;
  world.files->flip_bit(world.segments().front(), record + 4, 6);  // its length
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world),
              ElementsAre(Bytes(100, 'a'), Bytes(100, 'b'), Bytes(100, 'd'), Bytes(100, 'e')));
  EXPECT_THAT(world.log->replayed().damages, SizeIs(1));
}

TEST(LogDamage, OfAGroupsHeadCostsNoRecord) {
  LogWorld world = world_of(3);
  world.files->flip_bit(world.segments().front(), kPage + kPage + 20, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1", "2"));
  EXPECT_THAT(world.log->replayed().damages, IsEmpty());
}

TEST(LogDamage, OfTheLastRecordIsKnownOnceTheEndIsNoted) {
  LogWorld world = world_of(3);
  world.files->flip_bit(world.segments().front(), record_at(2) + 16, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1"));
  ASSERT_THAT(world.log->replayed().damages, SizeIs(1));
  EXPECT_EQ(world.log->replayed().damages.front().begin, 3u);
  EXPECT_EQ(world.put("next").value(), 4u) << "a number that was lost is not used again";
}

TEST(LogDamage, AboveTheKnownEndIsATornWrite) {
  LogWorld world = dark_world_of(3);
  world.files->flip_bit(world.segments().front(), record_at(2) + 16, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1"));
  EXPECT_THAT(world.log->replayed().damages, IsEmpty());
}

TEST(LogDamage, OfASegmentsHeadCostsNoRecordWhereAnotherTellsTheSalt) {
  LogWorld world = world_of(3);
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("3"));
  ASSERT_TRUE(world.log->close());
  world.log.reset();
  ASSERT_THAT(world.segments(), SizeIs(2));
  const std::string damaged = world.segments().front();
  world.files->flip_bit(damaged, 30, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1", "2", "3"));
  world.log.reset();
  world.files->flip_bit(damaged, 30, 0);  // well again
  world.files->flip_bit(world.segments()[1], 30, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1", "2", "3"));
}

TEST(LogDamage, OfTheOnlySegmentsHeadSetsItAsideWhole) {
  LogWorld world = world_of(3);
  world.files->flip_bit(world.segments().front(), 13, 0);
  ASSERT_TRUE(world.open());
  EXPECT_THAT(world.replayed, IsEmpty());
  ASSERT_THAT(world.log->replayed().damages, SizeIs(1));
  EXPECT_EQ(world.files->kind(world.log->replayed().damages.front().quarantine).value(),
            FileKind::kFile);
  EXPECT_EQ(world.put("anew").value(), 1u);
}

TEST(LogDamage, OfWhatWasFlushedIsNone) {
  LogWorld world = world_of(4);
  world.files->flip_bit(world.segments().front(), record_at(1) + 16, 0);
  world.options.flushed_upto = 2;
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("2", "3"));
  EXPECT_THAT(world.log->replayed().damages, IsEmpty());
}

TEST(LogDamage, AMissingSegmentIsOne) {
  LogWorld world = world_of(2);
  ASSERT_TRUE(world.open());
  ASSERT_TRUE(world.put("2"));
  world.log->cut();
  ASSERT_TRUE(world.put("3"));
  ASSERT_TRUE(world.log->close());
  world.log.reset();
  ASSERT_THAT(world.segments(), SizeIs(3));
  ASSERT_TRUE(world.files->remove(world.segments()[1]));
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("0", "1", "3"));
  ASSERT_THAT(world.log->replayed().damages, SizeIs(1));
  world.log.reset();
  ASSERT_TRUE(world.files->remove(world.segments()[0]));
  ASSERT_TRUE(world.open());
  EXPECT_THAT(payloads(world), ElementsAre("3"));
  ASSERT_THAT(world.log->replayed().damages, SizeIs(1));
  EXPECT_EQ(world.log->replayed().damages.front().begin, 1u);
  EXPECT_EQ(world.log->replayed().damages.front().end, 4u);
}

TEST(LogDamage, ANewerVersionIsNoDamageAndRefused) {
  LogWorld world = world_of(1);
  Bytes head = log_format::segment_page({1, 1, 0}).substr(0, 36);
  head[10] = 2;
  append_le(head, crc32c(head));
  world.files->overwrite(world.segments().front(), 0, head);
  EXPECT_EQ(world.open().error().code, Errc::kUnsupported);

  // A check that called it damage would advise to repair it.
  LogCheck check;
  check.dir = world.options.dir;
  check.record = [](Sequence, BytesView) { return Result<void>(); };
  const auto faults = check_log(*world.files, check);
  ASSERT_FALSE(faults);
  EXPECT_EQ(faults.error().code, Errc::kUnsupported);
  EXPECT_THAT(faults.error().message,
              HasSubstr(world.segments().front() +
                        ": it has version 2; this version of Halite reads version 1"));
}

// ---- torn writes --------------------------------------------------------------------------------

// Behind what a power cut tore there may be whole records; once cut off they never come back.
TEST(LogTorn, WholeRecordsBehindTheTearNeverComeBack) {
  int torn = 0;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    LogWorld world(seed);
    world.options.commit_interval_ms = 1'000'000'000;
    ASSERT_TRUE(world.open());
    ASSERT_TRUE(world.put("kept"));
    for (int i = 0; i < 12; ++i)
      ASSERT_TRUE(world.log->append(Bytes(900, static_cast<char>('a' + i))));
    // The commit is written, and the power goes before its sync.
    world.files->cut_power_after(1);
    EXPECT_FALSE(world.wait(world.log->last()));
    world.log.reset();
    world.files->restore_power();
    ASSERT_TRUE(world.open());
    const std::vector<Bytes> first = payloads(world);
    ASSERT_FALSE(first.empty());
    EXPECT_EQ(first.front(), "kept");
    torn += world.log->replayed().torn ? 1 : 0;
    EXPECT_THAT(world.log->replayed().damages, IsEmpty());
    ASSERT_EQ(world.put("after").value(), first.size() + 1);
    ASSERT_TRUE(world.open());
    std::vector<Bytes> expected = first;
    expected.emplace_back("after");
    EXPECT_EQ(payloads(world), expected);
    EXPECT_THAT(world.log->replayed().damages, IsEmpty());
    EXPECT_FALSE(world.log->replayed().torn) << "what was cut off is not found again";
  }
  EXPECT_GT(torn, 0) << "no seed made what this test is about";
}

// ---- earlier lives ------------------------------------------------------------------------------

// Emptied segments are full of whole records with high numbers; none may pass in the next life.
TEST(LogRecycled, RecordsOfAnEarlierLifeNeverPass) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    LogWorld world(seed);
    ASSERT_TRUE(world.open());
    Sequence flushed = 0;
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 12; ++i) ASSERT_TRUE(world.put("old " + Bytes(4000, 'x')));
      flushed = world.log->cut();
      ASSERT_TRUE(world.log->truncate_upto(flushed));
    }
    ASSERT_TRUE(world.put("new"));
    ASSERT_TRUE(world.log->append("perhaps"));
    world.files->crash();
    world.options.flushed_upto = flushed;
    ASSERT_TRUE(world.open());
    ASSERT_FALSE(world.replayed.empty());
    EXPECT_EQ(world.replayed.front(), std::pair(flushed + 1, Bytes("new")));
    EXPECT_LE(world.replayed.size(), 2u);
    EXPECT_THAT(world.log->replayed().damages, IsEmpty());
  }
}

TEST(LogRecycled, ARecordOfAnotherSegmentOrPlaceDoesNotPass) {
  const log_format::SegmentKey key(7, 1);
  Bytes group;
  log_format::begin_group(group);
  log_format::append_record(group, 5, "payload");
  log_format::seal_group(group, 4, 5, 1, key, kPage);
  const Bytes segment = log_format::segment_page({7, 1, 4}) + group;
  const std::uint64_t at = record_at(0);
  EXPECT_TRUE(log_format::read_record(segment, at, key, 5, 100));
  EXPECT_FALSE(log_format::read_record(segment, at, key, 6, 100)) << "below what may come";
  EXPECT_FALSE(log_format::read_record(segment, at, key, 1, 5)) << "above";
  EXPECT_FALSE(log_format::read_record(segment, at, log_format::SegmentKey(7, 2), 0, ~0ull));
  EXPECT_FALSE(log_format::read_record(segment, at, log_format::SegmentKey(8, 1), 0, ~0ull));
  const Bytes moved = log_format::segment_page({7, 1, 4}) + Bytes(kPage, '\0') + group;
  EXPECT_FALSE(log_format::read_record(moved, at + kPage, key, 5, 100));
  EXPECT_FALSE(log_format::read_record(BytesView(segment).substr(0, at + 20), at, key, 5, 100));
}

// Somebody has made the file longer than any segment, and longer than memory.
TEST(LogDamage, OfAFilesSizeIsToldAndTakesNoMemory) {
  const test::TempDir dir;
  prometheus::Registry registry;
  LogOptions options = LogWorld().options;
  options.dir = dir.path() + "/log";
  std::vector<Bytes> got;
  const auto take = [&got](Sequence, BytesView payload) -> Result<void> {
    got.emplace_back(payload);
    return {};
  };
  auto log = Log::open(posix_files(), options, {take, {}}, registry);
  ASSERT_TRUE(log) << log.error().message;
  for (const char* const payload : {"0", "1", "2"}) ASSERT_TRUE((*log)->append(payload));
  ASSERT_TRUE((*log)->close());
  log->reset();
  const std::string segment = options.dir + "/" + log_format::segment_name(1);
  std::filesystem::resize_file(segment, std::uint64_t{1} << 40);

  LogCheck check;
  check.dir = options.dir;
  check.record = take;
  const auto faults = check_log(*posix_files(), check);
  ASSERT_TRUE(faults) << faults.error().message;
  ASSERT_THAT(*faults, SizeIs(1));
  EXPECT_EQ(faults->front().file, segment);
  EXPECT_EQ(faults->front().offset, log_format::kSegmentBytesMax);
  EXPECT_THAT(faults->front().what, HasSubstr("has 1099511627776 bytes"));
  EXPECT_EQ(faults->front().begin, faults->front().end) << "no record is lost";
  EXPECT_THAT(got, ElementsAre("0", "1", "2"));

  got.clear();
  log = Log::open(posix_files(), options, {take, {}}, registry);
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_THAT(got, ElementsAre("0", "1", "2"));
  EXPECT_THAT((*log)->replayed().damages, IsEmpty());
  EXPECT_LT((*log)->disk_bytes(), 1u << 20) << "it is no reason to take no more points";
  ASSERT_TRUE((*log)->truncate_upto(3));
  for (const auto& file : std::filesystem::directory_iterator(options.dir)) {
    EXPECT_LT(file.file_size(), 1u << 20) << file.path() << " is to be written again";
  }
}

}  // namespace
}  // namespace halite::storage
