// How long calls take, what waits for what, and how much of it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include "tests/support/metric_value.h"
#include "tests/support/soon.h"
#include "tests/unit/storage/backends/hbase/client_world.h"

namespace halite::storage::hbase {
namespace {

using test::FakeCall;
using test::FakeReaction;
using test::run_task;
using test::run_tasks;
using testing::HasSubstr;

class ClientTimesTest : public ClientTest {
 protected:
  void SetUp() override { hbase_.add_table("t"); }

  Result<void> write(const Bytes& row) { return run_task(client().mutate("t", {put(row, "v")})); }
  Result<IncrementResult> count() {
    return run_task(client().increment("t", {"row", "f", "n"}, 1));
  }
  double metric(const std::string& name) const { return test::metric_value(registry_, name); }
};

TEST_F(ClientTimesTest, AnswersInAnyOrderFindTheirCalls) {
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.delay_ms = call.method == "Mutate" && call.row < "row5" ? 30U : 0U};
  });
  std::vector<Task<IncrementResult>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(client().increment("t", {"row" + std::to_string(i), "f", "n"}, 100 + i));
  }
  const auto sums = run_tasks(std::move(tasks), 2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sums[static_cast<std::size_t>(i)].value().sum, 100 + i);
}

// It is for another time, not too long a request: kTimeout would blame who asked.
TEST_F(ClientTimesTest, ASilentServerEndsEveryCallAtTheDeadline) {
  options_.operation_ms_max = 300;
  options_.call_ms_max = 100;
  ASSERT_TRUE(test::soon([this] { return write("a").has_value(); }));  // a busy machine is slower
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.what = call.table == "t" ? FakeReaction::kIgnore : FakeReaction::kAnswer};
  });
  std::vector<std::optional<Error>> ends;
  const auto end = [&ends](const auto& outcome) {
    ends.push_back(outcome ? std::nullopt : std::optional(outcome.error()));
  };
  end(write("b"));
  end(run_task(client().get("t", {{.row = "a", .columns = {}}})));
  end(count());
  end(run_task(client().scan("t", {})->next()));
  for (const std::optional<Error>& error : ends) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Errc::kUnavailable) << error->message;
    EXPECT_THAT(error->message, HasSubstr("did not answer within"));
  }
  hbase_.script(nullptr);
  EXPECT_TRUE(test::soon([this] { return write("b").has_value(); }));
  EXPECT_TRUE(test::soon([this] { return count().has_value(); }));
}

// Nobody waits without end behind others who wait.
TEST_F(ClientTimesTest, WaitsForRoomAndForATurnEndToo) {
  options_.operation_ms_max = 300;
  options_.call_ms_max = 300;
  options_.server_batches_max = 1;
  options_.operation_bytes_max = 10 << 10;
  ASSERT_TRUE(test::soon([this] { return write("a").has_value(); }));
  hbase_.script([](const FakeCall& call) -> FakeReaction {
    return {.what = call.table == "t" ? FakeReaction::kIgnore : FakeReaction::kAnswer};
  });
  const auto began = std::chrono::steady_clock::now();
  std::vector<Task<void>> tasks;
  for (int i = 0; i < 40; ++i) {
    tasks.push_back(client().mutate("t", {put(row_key(0), Bytes(1 << 10, 'x'))}));
  }
  std::size_t without_room = 0;
  std::size_t without_turn = 0;
  for (const Result<void>& outcome : run_tasks(std::move(tasks), 2)) {
    ASSERT_FALSE(outcome);
    const std::string& message = outcome.error().message;
    EXPECT_TRUE(outcome.error().code == Errc::kUnavailable ||
                outcome.error().code == Errc::kOverloaded)
        << message;
    without_room += message.starts_with("no room within 300 ms") ? 1 : 0;
    without_turn += message.starts_with("not done within 300 ms: no room within") ? 1 : 0;
  }
  EXPECT_GE(without_room, 20U);
  EXPECT_GE(without_turn, 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(8));  // not 40 turns
}

// Also after progress, which otherwise begins the time limit anew.
TEST_F(ClientTimesTest, NoServerBeginsWithRowsAfterTheirEnd) {
  constexpr std::int64_t kEndMs = 1'000;
  options_.operation_ms_max = 20'000;
  options_.call_ms_max = 20'000;
  options_.batch_actions_max = 1;
  ASSERT_TRUE(test::soon([this] { return write("a").has_value(); }));
  std::mutex mutex;
  WriteEnd end;
  std::int64_t latest_ms = 0;  // before the end; when a server drops a request at the latest
  hbase_.script([&](const FakeCall& call) -> FakeReaction {
    if (call.method != "Multi") return {};
    const std::lock_guard lock(mutex);
    const auto drop = std::chrono::steady_clock::now() + std::chrono::milliseconds(call.timeout_ms);
    latest_ms = std::max(
        latest_ms,
        std::chrono::duration_cast<std::chrono::milliseconds>(drop - end).count() + kEndMs);
    return {.what = call.row == row_key(0) ? FakeReaction::kThrow : FakeReaction::kAnswer,
            .exception = "RegionTooBusyException",
            .delay_ms = 100};
  });
  {
    const std::lock_guard lock(mutex);
    end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kEndMs);
  }
  const Result<void> written = run_task(client().mutate("t", rows(3), end));
  const auto ended = std::chrono::steady_clock::now();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::kUnavailable) << written.error().message;
  EXPECT_LE(ended, end + std::chrono::milliseconds(kEndMs));  // a busy machine is slower
  const std::lock_guard lock(mutex);
  EXPECT_GT(latest_ms, 0);
  EXPECT_LE(latest_ms, kEndMs + 200);
}

TEST_F(ClientTimesTest, RowsAfterTheirEndAreNotSent) {
  ASSERT_TRUE(write("a"));
  const std::size_t sent = hbase_.calls("Multi");
  const Result<void> late =
      run_task(client().mutate("t", {put("b", "v")}, std::chrono::steady_clock::now()));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kUnavailable);
  EXPECT_EQ(hbase_.calls("Multi"), sent);
}

TEST_F(ClientTimesTest, TheServerIsToldHowLongWeWait) {
  std::atomic<std::uint32_t> told = 0;
  options_.call_ms_max = 1234;
  hbase_.script([&](const FakeCall& call) {
    if (call.method == "Multi") told = call.timeout_ms;
    return FakeReaction();
  });
  ASSERT_TRUE(write("a"));
  EXPECT_GT(told, 0U);
  EXPECT_LE(told, 1234U);
}

// A server that reads nothing gets no more than its share; who has more waits, and nothing is lost.
TEST_F(ClientTimesTest, AServerThatDoesNotReadHoldsWritersBack) {
  constexpr int kWriters = 64;
  constexpr std::size_t kValueBytes = 128 << 10;
  options_.server_bytes_max = 8 * kValueBytes;  // seven requests: each is a little longer
  options_.server_batches_max = kWriters;
  options_.silence_ms_max = 60'000;
  options_.operation_ms_max = 60'000;  // nobody waits so long for a healthy client
  options_.call_ms_max = 60'000;
  ASSERT_TRUE(write("a"));
  hbase_.set_deaf(0, true);
  std::vector<Task<void>> tasks;
  for (int i = 0; i < kWriters; ++i) {
    std::vector<RowMutation> rows = {put("big" + std::to_string(i), Bytes(kValueBytes, 'x'))};
    tasks.push_back(client().mutate("t", std::move(rows)));
  }
  std::thread hearing([this] {
    // All but those that the limit lets through, and one that was just being read.
    EXPECT_TRUE(test::soon([this] {
      return metric("halite_hbase_waiting_requests") >= kWriters - 8 &&
             metric("halite_hbase_under_way_bytes") > 6 * kValueBytes;
    }));
    EXPECT_LE(metric("halite_hbase_under_way_bytes"), options_.server_bytes_max);
    hbase_.set_deaf(0, false);
  });
  for (const auto& outcome : run_tasks(std::move(tasks), 2)) {
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  hearing.join();
  EXPECT_EQ(hbase_.row_count("t"), kWriters + 1U);
  EXPECT_EQ(metric("halite_hbase_waiting_requests"), 0);
  EXPECT_EQ(metric("halite_hbase_under_way_bytes"), 0);
}

}  // namespace
}  // namespace halite::storage::hbase
