// The log against a plain list, through power cuts at any change of the disk, failing syncs, full
// disks, cuts and drops: acknowledged ⊆ replayed ⊆ appended, in order, without a gap.
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/storage/tsdb/wal/log_world.h"

namespace halite::storage {
namespace {

class LogModel {
 public:
  explicit LogModel(std::uint32_t seed) : world_(seed), random_(seed) {
    world_.options.segment_bytes = 40 << 10;
    world_.options.segment_bytes_min = 4 << 10 << below(2);
    world_.options.commit_interval_ms = below(2) == 0 ? 0 : 1'000'000'000;
    world_.options.full_disk_retry_ms = 1;
  }

  void run(int lives) {
    for (int life = 0; life < lives && !testing::Test::HasFatalFailure(); ++life) {
      SCOPED_TRACE(life);
      live();
    }
  }

 private:
  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }

  // Opens, while the power may go at any moment of that too, and checks what came back.
  void reopen() {
    while (true) {
      if (below(3) == 0) world_.files->cut_power_after(below(20));
      const Result<void> opened = world_.open();
      if (opened) break;
      ASSERT_EQ(opened.error().code, Errc::kUnavailable) << opened.error().message;
      world_.files->restore_power();
    }
    check();
  }

  void check() {
    ASSERT_THAT(world_.log->replayed().damages, testing::IsEmpty());
    Sequence expected = world_.options.flushed_upto;
    for (const auto& [sequence, payload] : world_.replayed) {
      ASSERT_EQ(sequence, ++expected);
      const auto sent = sent_.find(sequence);
      ASSERT_NE(sent, sent_.end()) << "invented: " << sequence;
      ASSERT_EQ(payload, sent->second);
    }
    const Sequence last = std::max(expected, world_.options.flushed_upto);
    ASSERT_GE(last, acknowledged_);
    // What did not come back was never acknowledged: its number may be given again.
    sent_.erase(sent_.upper_bound(last), sent_.end());
    acknowledged_ = last;
  }

  void append() {
    Bytes payload(below(10) == 0 ? below(9000) : below(300), '\0');
    for (char& byte : payload) byte = static_cast<char>(random_());
    const auto sequence = world_.log->append(payload);
    if (!sequence) {
      ASSERT_EQ(sequence.error().code, Errc::kUnavailable);
      return;
    }
    ASSERT_TRUE(sent_.emplace(*sequence, std::move(payload)).second) << "a number given twice";
  }

  void acknowledge() {
    const Sequence last = world_.log->last();
    if (world_.wait(last)) {
      acknowledged_ = std::max(acknowledged_, last);
      ASSERT_GE(world_.log->synced(), last);
    }
  }

  void flush() {
    const Sequence flushed = world_.log->cut();
    // As a store does: what was flushed is safe elsewhere, be it durable here or not.
    world_.options.flushed_upto = flushed;
    acknowledged_ = std::max(acknowledged_, flushed);
    std::ignore = world_.log->truncate_upto(flushed);  // fails when the log or the power does
    sent_.erase(sent_.begin(), sent_.upper_bound(flushed));
  }

  void live() {
    reopen();
    if (testing::Test::HasFatalFailure()) return;
    if (below(2) == 0) world_.files->cut_power_after(below(200));
    if (below(4) == 0) world_.files->fail_syncs_by_chance(0.05);
    if (below(4) == 0) {
      world_.files->set_capacity(world_.files->used_bytes() + below(60'000));
    }
    const std::uint32_t steps = below(150);
    for (std::uint32_t i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) {
      const std::uint32_t choice = below(100);
      if (choice < 70) append();
      if (choice >= 70 && choice < 90) acknowledge();
      if (choice >= 90 && choice < 94) flush();
      if (choice == 94) world_.log->cut();
      if (choice == 95) std::ignore = world_.log->shrink();
      if (choice == 96) world_.files->heal();
    }
    const std::uint32_t ending = below(3);
    if (ending == 0) world_.files->cut_power();
    if (ending == 1 && world_.log->close())
      acknowledged_ = std::max(acknowledged_, world_.log->last());
    world_.log.reset();
    world_.files->heal();
    world_.files->restore_power();
  }

  LogWorld world_;
  std::mt19937 random_;
  std::map<Sequence, Bytes> sent_;
  Sequence acknowledged_ = 0;
};

class LogCrash : public testing::TestWithParam<std::uint32_t> {};

TEST_P(LogCrash, LosesNothingAcknowledgedAndInventsNothing) {
  for (std::uint32_t seed = GetParam(); seed < GetParam() + 25; ++seed) {
    SCOPED_TRACE(seed);
    LogModel(seed).run(8);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LogCrash, testing::Range(0u, 200u, 25u));

}  // namespace
}  // namespace halite::storage
