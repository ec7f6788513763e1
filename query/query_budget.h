// Tells a long computation when to stop: cancelled, timed out, or over a limit.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "common/clock.h"
#include "common/result.h"
#include "common/threads/work_budget.h"
#include "query/answer.h"
#include "query/limits.h"
#include "query/run_context.h"

namespace halite::query {

// The limits of one run and what it has used. All coroutines of the run may use it at once.
class QueryBudget final : public WorkBudget, public storage::ReadCounters {
 public:
  QueryBudget(QueryLimits limits, const Clock& clock, RunContext context);

  [[nodiscard]] Result<void> check() const override;
  [[nodiscard]] Result<void> check_series(std::uint64_t more) const override;

  // Each adds to what is used. kTooLarge: a limit is exceeded.
  [[nodiscard]] Result<void> add_series(std::uint64_t count);
  [[nodiscard]] Result<void> add_points(std::uint64_t count);
  [[nodiscard]] Result<void> add_output_points(std::uint64_t count);

  [[nodiscard]] Result<void> add_bytes(std::int64_t count) override;

  // Subtracts points that were read in vain. They will be read and counted again.
  void uncount_points(std::uint64_t count) { points_ -= count; }

  void add_blocks(std::uint64_t count) { blocks_ += count; }

  void count_read(const storage::ReadWork& work) override;

  // Measures the time of a stage during its lifetime, and adds it to the run's spans.
  class Timed {
   public:
    Timed(QueryBudget& budget, Stage stage)
        : budget_(budget), stage_(stage), begin_us_(budget.clock_.elapsed_us()) {}
    ~Timed() { budget_.end_stage(stage_, begin_us_); }
    Timed(const Timed&) = delete;

   private:
    QueryBudget& budget_;
    const Stage stage_;
    const std::int64_t begin_us_;
  };

  // The same for a shard as a part of the stage kRead. The points are set before its end.
  class TimedShard {
   public:
    TimedShard(QueryBudget& budget, std::uint32_t shard)
        : budget_(budget),
          shard_(shard),
          begin_us_(budget.spans_ == nullptr ? 0 : budget.clock_.elapsed_us()) {}
    ~TimedShard() { budget_.end_shard(shard_, begin_us_, points); }
    TimedShard(const TimedShard&) = delete;

    std::uint64_t points = 0;

   private:
    QueryBudget& budget_;
    const std::uint32_t shard_;
    const std::int64_t begin_us_;
  };

  [[nodiscard]] const QueryLimits& limits() const { return limits_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] QueryCost cost() const;
  [[nodiscard]] const std::shared_ptr<SpanLog>& spans() const { return spans_; }

 private:
  void end_stage(Stage stage, std::int64_t begin_us);
  void end_shard(std::uint32_t shard, std::int64_t begin_us, std::uint64_t points);

  const QueryLimits limits_;
  const Clock& clock_;
  const std::stop_token stop_;
  const std::shared_ptr<SpanLog> spans_;  // null: steps are not recorded
  const TimestampMs begin_;
  const std::int64_t begin_us_;
  std::atomic<std::uint64_t> series_ = 0;
  std::atomic<std::uint64_t> points_ = 0;
  std::atomic<std::uint64_t> blocks_ = 0;
  std::atomic<std::uint64_t> output_points_ = 0;
  std::atomic<std::int64_t> bytes_ = 0;
  std::atomic<std::uint64_t> chunks_decoded_ = 0;
  std::atomic<std::uint64_t> chunks_skipped_ = 0;
  std::atomic<std::uint64_t> totals_ = 0;
  std::array<std::atomic<std::int64_t>, kStages> stage_us_ = {};
};

}  // namespace halite::query
