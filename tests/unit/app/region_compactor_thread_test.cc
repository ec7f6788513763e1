#include "app/server/region_compactor_thread.h"

#include <atomic>
#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/threads/io_threads.h"
#include "common/units.h"
#include "storage/backends/hbase/client/client.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/run_task.h"
#include "tests/support/soon.h"

namespace halite::app {
namespace {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr TimestampMs kNoon = 19'000 * 24 * kHourMs + 12 * kHourMs;
constexpr std::int64_t kForEverMs = 1'000 * kHourMs;

// Tells how often it was asked: the watch asks before each of its looks.
class CountingClock final : public Clock {
 public:
  [[nodiscard]] TimestampMs now_ms() const override {
    ++asked_;
    return now_ms_;
  }
  void set(TimestampMs now) { now_ms_ = now; }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  std::atomic<TimestampMs> now_ms_ = kNoon;
  mutable std::atomic<int> asked_ = 0;
};

// A table of two regions, one for each salt of a ring, of which all has expired.
class RegionWatchTest : public testing::Test {
 protected:
  RegionWatchTest() {
    hbase_.add_table("points", {from_hex("0000000003").value(), from_hex("0100000000").value()});
    hbase_.set_files("points", dead_row_, 3);
    storage::hbase::ClientOptions options;
    options.registry = {hbase_.endpoint(0)};
    options.pause_ms_min = 1;
    options.pause_ms_max = 5;
    client_ = std::make_unique<storage::hbase::Client>(options, io_.executors(), registry_);
  }
  void TearDown() override {
    end();
    io_.join();
  }

  // In the order that RegionCompactorThread asks for.
  void end() {
    if (client_ == nullptr) return;
    EXPECT_TRUE(test::run_task(client_->close()));
    thread_.reset();
    client_.reset();
  }

  void watch(storage::RegionCompactorOptions options) {
    storage::CyclicOptions ring;
    ring.salt_buckets = 2;
    ring.slots = 12;
    ring.span_ms = kMinuteMs;
    ring.ttl_ms = 2 * kMinuteMs;
    ring.future_max_ms = 0;
    ring.cleaning_ms = 0;
    storage::RegionCompactor::Dependencies parts{
        .client = *client_,
        .table = "points",
        .layout = storage::CyclicLayout::make(ring).value(),
        .life = {.late_max_ms = 0, .ttl_ms = 2 * kMinuteMs},
        .clock = clock_,
        .registry = registry_};
    thread_.emplace(storage::RegionCompactor(std::move(parts), options), io_.executors().front());
  }
  [[nodiscard]] std::size_t looks() const { return hbase_.calls("GetRegionLoad"); }

  // Slots 0 to 2 of salt 0: noon is slot 0 of a lap, so they are dead from minute 5 on.
  const Bytes dead_row_ = from_hex("0000000001").value();

  test::FakeHBase hbase_;
  prometheus::Registry registry_;
  IoThreads io_{2, "hbase"};
  CountingClock clock_;
  std::unique_ptr<storage::hbase::Client> client_;
  std::optional<RegionCompactorThread> thread_;
};

TEST_F(RegionWatchTest, DeadRegionsAreCompactedOnce) {
  clock_.set(kNoon + 6 * kMinuteMs);
  watch({.interval_ms = 1, .hour_begin = 0, .hour_end = 0});
  ASSERT_TRUE(test::soon([this] { return hbase_.files("points", dead_row_) == 1; }));
  const std::size_t before = looks();
  ASSERT_TRUE(test::soon([&] { return looks() >= before + 3; }));
  EXPECT_EQ(hbase_.calls("CompactRegion"), 1u);
}

TEST_F(RegionWatchTest, NothingIsAskedBeforeTheQuietHour) {
  clock_.set(kNoon + 6 * kMinuteMs);
  watch({.interval_ms = 1, .hour_begin = 1, .hour_end = 5});
  ASSERT_TRUE(test::soon([this] { return clock_.asked() >= 3; }));
  EXPECT_EQ(looks(), 0u);
  clock_.set(kNoon + 14 * kHourMs);
  EXPECT_TRUE(test::soon([this] { return looks() >= 1; }));
}

TEST_F(RegionWatchTest, AFailedLookIsFollowedByAnother) {
  clock_.set(kNoon + 6 * kMinuteMs);
  hbase_.script([](const test::FakeCall& call) -> test::FakeReaction {
    if (call.method != "CompactRegion" || call.number > 1) return {};
    return {.what = test::FakeReaction::kThrow,
            .exception = "DoNotRetryIOException",
            .do_not_retry = true};
  });
  watch({.interval_ms = 1, .hour_begin = 0, .hour_end = 0});
  EXPECT_TRUE(test::soon([this] { return hbase_.files("points", dead_row_) == 1; }));
  EXPECT_EQ(hbase_.calls("CompactRegion"), 2u);
}

TEST_F(RegionWatchTest, ItEndsInTheMiddleOfItsPause) {
  watch({.interval_ms = kForEverMs, .hour_begin = 0, .hour_end = 0});
  ASSERT_TRUE(test::soon([this] { return looks() == 1; }));
  end();
  EXPECT_EQ(looks(), 1u);
}

TEST_F(RegionWatchTest, ItEndsWhileAServerOwesItAnAnswer) {
  hbase_.script([](const test::FakeCall& call) -> test::FakeReaction {
    if (call.method != "GetRegionLoad") return {};
    return {.what = test::FakeReaction::kIgnore};
  });
  watch({.interval_ms = kForEverMs, .hour_begin = 0, .hour_end = 0});
  ASSERT_TRUE(test::soon([this] { return looks() == 1; }));
  end();
}

}  // namespace
}  // namespace halite::app
