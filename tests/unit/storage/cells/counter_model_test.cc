// Compares counters with plain maps under random work: increments, with and without keys, repeated
// requests, new metrics, a clock that passes the retention, kills, and power cuts at any change of
// the disk. Each sum contains an acknowledged increment exactly once. It contains one that was not
// acknowledged once or not at all.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/units.h"
#include "tests/support/model_seeds.h"
#include "tests/support/run_task.h"
#include "tests/support/sanitized.h"
#include "tests/unit/storage/cells/counter_world.h"

namespace halite::storage {
namespace {

using test::kCountersNow;
using test::run_task;
using test::Sums;

constexpr int kStepsDefault = test::kSanitized ? 150 : 300;
constexpr int kStepsOfAMetric = 25;
constexpr std::int64_t kKeyMs = 600'000;

struct Increment {
  std::string metric;
  std::string host;
  TimestampMs time;
  std::int64_t delta;
};

struct ModelBucket {
  std::int64_t length_ms;  // 0 = all time
  std::int64_t keep_ms;
};
const std::vector<ModelBucket> kWebBuckets = {
    {kHourMs, 14 * kDayMs}, {kDayMs, 400 * kDayMs}, {0, 0}};
const std::vector<ModelBucket> kOtherBuckets = {{60'000, 7 * kDayMs}};

const std::vector<ModelBucket>& buckets_of(const std::string& metric) {
  return metric.starts_with("web.") ? kWebBuckets : kOtherBuckets;
}

using Where = std::pair<std::string, std::size_t>;         // metric, bucket
using Cell = std::tuple<Where, std::string, TimestampMs>;  // host, begin of the bucket
using Additions = std::map<Cell, std::int64_t>;

struct Request {
  Bytes key;
  std::vector<Increment> increments;
  TimestampMs sent_ms = 0;
  Additions missing;  // not in the sums yet
};

class CounterModelTest : public testing::TestWithParam<std::uint32_t>,
                         protected test::CounterWorld {
 protected:
  CounterModelTest() : CounterWorld(GetParam(), 64 << 10), random_(GetParam()) {}

  std::int64_t below(std::uint32_t n) { return static_cast<std::int64_t>(random_() % n); }

  std::string a_metric() {
    const std::string fresh = fmt::format("n{}", step_ / kStepsOfAMetric);
    switch (below(5)) {
      case 0:
        return fresh;
      case 1:
        return "web." + fresh;
      case 2:
        return "likes";
      default:
        return "web.hits";
    }
  }

  std::vector<Increment> some_increments() {
    std::vector<Increment> increments;
    for (std::int64_t i = 1 + below(5); i > 0; --i) {
      Increment one{a_metric(), fmt::format("h{}", below(3)),
                    clock_.now_ms() - below(5) * 1'700'000, below(2001) - 1000};
      if (below(10) == 0) one.time -= below(6) * kDayMs;
      increments.push_back(std::move(one));
    }
    return increments;
  }

  static bool expired(const ModelBucket& bucket, TimestampMs begin, TimestampMs now) {
    return bucket.keep_ms != 0 && begin + bucket.length_ms + bucket.keep_ms <= now;
  }

  Additions additions_of(const std::vector<Increment>& increments) const {
    Additions additions;
    for (const Increment& one : increments) {
      const std::vector<ModelBucket>& buckets = buckets_of(one.metric);
      for (std::size_t i = 0; i < buckets.size(); ++i) {
        const std::int64_t length = buckets[i].length_ms;
        const TimestampMs begin = length == 0 ? kCountersNow : one.time - one.time % length;
        if (expired(buckets[i], begin, clock_.now_ms())) continue;
        additions[{{one.metric, i}, one.host, begin}] += one.delta;
      }
    }
    return additions;
  }

  // Nothing after an error, which only a power cut may cause.
  std::optional<PointBatch> batch_of(const std::vector<Increment>& increments) {
    PointBatch batch;
    for (const Increment& one : increments) {
      const Result<SeriesId> id = intern(one.metric, one.host, *counters_);
      if (!id) {
        EXPECT_TRUE(armed_ && id.error().code != Errc::kInvalidArgument) << id.error().message;
        return std::nullopt;
      }
      batch.add(*id, one.time, static_cast<ValueBits>(one.delta), 0);
    }
    return batch;
  }

  // False: it may be added or not.
  bool send(const std::vector<Increment>& increments, const Bytes& key) {
    std::optional<PointBatch> batch = batch_of(increments);
    if (!batch) return false;
    const Result<std::vector<std::string>> refused = try_add(*std::move(batch), key);
    EXPECT_TRUE(refused || armed_) << refused.error().message;
    if (refused) EXPECT_TRUE(refused->empty()) << refused->front();
    return refused.has_value();
  }

  // Like telnet, appends several batches without waiting, then waits for all.
  bool send_together(const std::vector<std::vector<Increment>>& batches) {
    std::vector<Completion> all;
    for (const std::vector<Increment>& increments : batches) {
      std::optional<PointBatch> batch = batch_of(increments);
      if (!batch) return false;
      const Result<Accepted> accepted = run_task(counters_->append(*std::move(batch)));
      EXPECT_TRUE(accepted) << accepted.error().message;
      if (!accepted) return false;
      EXPECT_TRUE(accepted->refused.empty());
      all.push_back(accepted->durable);
    }
    counters_->request_sync();
    bool good = true;
    for (const Completion& one : all) {
      const Result<void> durable = run_task(one.wait());
      EXPECT_TRUE(durable || armed_) << durable.error().message;
      good = good && durable;
    }
    return good;
  }

  void add_all(const Additions& additions) {
    for (const auto& [cell, delta] : additions) {
      const auto& [where, host, begin] = cell;
      model_[where][{host, begin}] += delta;
    }
  }

  void reopen() {
    if (below(3) == 0) {
      kill();
    } else {
      CounterWorld::cut_power();
    }
    armed_ = false;
  }

  // After a failure: takes each sum as it is, which must be as before or with some of the
  // additions. Returns the additions that are not in the sums.
  Additions settle(const std::vector<Additions>& open) {
    reopen();
    std::map<Where, Sums> stored;
    std::map<Cell, std::vector<std::int64_t>> by_cell;
    for (const Additions& one : open) {
      for (const auto& [cell, delta] : one) by_cell[cell].push_back(delta);
    }
    Additions missing;
    for (const auto& [cell, deltas] : by_cell) {
      const auto& [where, host, begin] = cell;
      if (expired(buckets_of(where.first)[where.second], begin, clock_.now_ms())) continue;
      const auto [sums_there, is_new] = stored.try_emplace(where);
      if (is_new) sums_there->second = sums(where.first, where.second);
      Sums& known = model_[where];
      const auto before = known.find({host, begin});
      const auto after = sums_there->second.find({host, begin});
      const std::int64_t value = before == known.end() ? 0 : before->second;
      if (after == sums_there->second.end()) {
        EXPECT_TRUE(before == known.end()) << what(cell) << " is lost";
        missing[cell] = deltas.front();
        continue;
      }
      std::set<std::int64_t> allowed = {value};
      for (const std::int64_t delta : deltas) {
        const std::set<std::int64_t> without = allowed;
        for (const std::int64_t one : without) allowed.insert(one + delta);
      }
      EXPECT_TRUE(allowed.contains(after->second)) << what(cell) << ": " << after->second;
      if (after->second == value) missing[cell] = deltas.front();
      known[{host, begin}] = after->second;
    }
    return missing;
  }

  std::string what(const Cell& cell) const {
    const auto& [where, host, begin] = cell;
    return fmt::format("step {}: {} bucket {} {} {}", step_, where.first, where.second, host,
                       begin);
  }

  void step() {
    if (below(25) == 0) {
      files_->cut_power_after(static_cast<std::uint64_t>(below(12)));
      armed_ = true;
    }
    std::erase_if(keyed_,
                  [this](const Request& one) { return one.sent_ms + kKeyMs <= clock_.now_ms(); });
    if (!keyed_.empty() && below(5) == 0) {
      Request& again =
          keyed_[static_cast<std::size_t>(below(static_cast<std::uint32_t>(keyed_.size())))];
      send_keyed(again);
    } else if (below(3) == 0) {
      std::vector<Increment> increments = some_increments();
      Additions additions = additions_of(increments);
      keyed_.push_back({fmt::format("key {}", step_), std::move(increments), clock_.now_ms(),
                        std::move(additions)});
      send_keyed(keyed_.back());
    } else if (below(3) == 0) {
      std::vector<std::vector<Increment>> batches;
      std::vector<Additions> additions;
      for (std::int64_t i = 1 + below(4); i > 0; --i) {
        batches.push_back(some_increments());
        additions.push_back(additions_of(batches.back()));
      }
      if (send_together(batches)) {
        for (const Additions& one : additions) add_all(one);
      } else {
        settle(additions);
      }
    } else {
      const std::vector<Increment> increments = some_increments();
      const Additions additions = additions_of(increments);
      if (send(increments, {})) {
        add_all(additions);
      } else {
        settle({additions});
      }
    }
  }

  void send_keyed(Request& request) {
    if (send(request.increments, request.key)) {
      add_all(std::exchange(request.missing, {}));
    } else {
      request.missing = settle({request.missing});
    }
  }

  void check(bool all) {
    for (auto& [where, expected] : model_) {
      const ModelBucket& bucket = buckets_of(where.first)[where.second];
      std::erase_if(expected, [&](const auto& one) {
        return expired(bucket, one.first.second, clock_.now_ms());
      });
      const bool is_old =
          where.first != "likes" && where.first != "web.hits" && !recent_.contains(where.first);
      if (all || !is_old) {
        ASSERT_EQ(sums(where.first, where.second), expected)
            << where.first << " bucket " << where.second << " step " << step_;
      }
    }
  }

  void run(int steps) {
    for (step_ = 0; step_ < steps && !HasFailure(); ++step_) {
      recent_ = {fmt::format("n{}", step_ / kStepsOfAMetric),
                 fmt::format("web.n{}", step_ / kStepsOfAMetric)};
      step();
      if (below(3) == 0) clock_.advance(below(120'000));
      if (below(200) == 0) clock_.advance(below(24) * kHourMs);
      if (below(60) == 0) reopen();
      if (below(20) == 0) check(below(20) == 0);
    }
    if (!HasFailure()) check(true);
  }

  std::mt19937 random_;
  int step_ = 0;
  bool armed_ = false;  // a power cut may come at a change of the disk
  std::map<Where, Sums> model_;
  std::vector<Request> keyed_;
  std::set<std::string> recent_;
};

TEST_P(CounterModelTest, HasTheSumsOfAMap) {
  ASSERT_NO_FATAL_FAILURE(run(test::model_steps(kStepsDefault)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CounterModelTest, testing::ValuesIn(test::model_seeds()));

}  // namespace
}  // namespace halite::storage
