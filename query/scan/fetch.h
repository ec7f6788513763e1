// Reads the selected series, window by window in time, all shards in parallel. The points of a
// series go through its operators and become those of a member (operators/merge.h).
//
//   Threads  Not thread-safe. Internally, coroutines on the caller's executor read separate shards.
//            Small reads stay in one coroutine, because waking a thread costs more.
//   Memory   A window that exceeds its share of the memory is dropped; read a shorter one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/clock.h"
#include "common/threads/task.h"
#include "query/operators/merge.h"
#include "query/plan/plan.h"
#include "query/query_budget.h"
#include "query/scan/fetch_limits.h"
#include "query/scan/fetch_state.h"
#include "storage/api/point_store.h"

namespace halite::query {

enum class WindowOutcome : std::uint8_t {
  kRead,
  kTooLarge,  // nothing of the window was kept; read a shorter one
};

class Fetch {
 public:
  // All references outlive it. `source` is the store itself, or rollups of its series.
  Fetch(storage::PointStore& store, storage::BlockSource& source, const SubPlan& plan,
        std::shared_ptr<QueryBudget> budget, FetchMeter& meter);
  ~Fetch();
  Fetch(const Fetch&) = delete;

  // Sets the series to read. Call this first.
  void select(std::shared_ptr<const storage::Selection> selection) {
    selection_ = std::move(selection);
  }

  // Reads the window after the previous one. window_bytes_max limits the memory for its points;
  // 0 means no limit.
  Task<WindowOutcome> read(TimeRange window, std::uint64_t window_bytes_max);

  // The series that appeared since the last call.
  [[nodiscard]] std::vector<GroupMember> take_new();

  // The series that have rows, but only empty blocks.
  [[nodiscard]] std::vector<const storage::Series*> empty_series() const;

  // The annotations in the blocks of all windows. Call this once, at the end.
  [[nodiscard]] std::vector<FetchedNote> take_annotations();

  // Reads these series further from the end of the last window, until each has the wanted number of
  // additional points or ends. Later windows skip these points.
  struct LookAhead {
    const storage::Series* series = nullptr;
    std::size_t points = 0;
  };
  Task<void> look_ahead(std::vector<LookAhead> awaited, TimestampMs from);

  // Counts the members' memory again. Call this after a merge has consumed points.
  void recount();

  // The memory for points that the last window used. A shorter window has fewer points, but hardly
  // fewer series.
  [[nodiscard]] std::uint64_t window_bytes() const;

 private:
  [[nodiscard]] storage::TotalsRequest totals_request_in(TimeRange window) const;
  Task<void> read_shards(std::vector<FetchShard*> shards, TimeRange window,
                         std::uint64_t window_bytes_max);
  Task<void> read_shard(FetchShard* shard, TimeRange window, std::uint64_t window_bytes_max);
  [[nodiscard]] std::vector<std::vector<FetchShard*>> share_out(TimeRange window) const;
  Result<void> take_blocks(FetchShard& shard, const std::vector<storage::Block>& blocks);
  Result<void> keep_annotations(FetchShard& shard, const std::vector<storage::Block>& blocks);
  Result<void> take_totals(FetchShard& shard, const storage::Block& block);
  Result<FetchedSeries*> state_of(FetchShard& shard, storage::SeriesId id);
  Result<void> count_new_series(std::size_t series);
  Result<void> close_window(FetchShard& shard, TimeRange window, std::uint64_t window_bytes_max);
  Result<void> count_fetched(FetchedSeries& state, const storage::Block& block);
  void note_if_too_large(std::uint64_t window_bytes_max);
  void give_up();
  void finish();
  Result<void> count_bytes(std::int64_t bytes);
  Result<void> count_later(FetchShard& shard, std::int64_t bytes);
  Result<void> count_now(FetchShard& shard);
  Task<void> look_ahead_in(FetchShard* shard, std::shared_ptr<const storage::Selection> selection,
                           std::vector<LookAhead> awaited, TimeRange range);

  storage::PointStore& store_;
  storage::BlockSource& source_;
  const SubPlan& plan_;
  const std::shared_ptr<QueryBudget> shared_budget_;
  QueryBudget& budget_;  // *shared_budget_
  FetchMeter& meter_;
  FetchMeter::Amount fetched_before_window_;
  std::shared_ptr<const storage::Selection> selection_;
  std::vector<std::unique_ptr<FetchShard>> shards_;
  std::atomic<std::int64_t> counted_bytes_ = 0;
  std::int64_t counted_before_window_ = 0;
  std::atomic<std::int64_t> new_series_ = 0;  // in the current window
  std::atomic<bool> too_large_ = false;
};

}  // namespace halite::query
