// Reads the selected series, window by window in time, all shards side by side, each series
// through its pipeline into its group's member.
//
//   Threads  one caller at a time; inside, coroutines on the caller's executor, each with its own
//            shards. Little work stays in one, whose caller need not wake another thread.
//   Memory   a window that would take more than its share is given up and read again, shorter.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/clock.h"
#include "common/task.h"
#include "query/operators/merge.h"
#include "query/operators/pipeline.h"
#include "query/plan/plan.h"
#include "query/scan/fetch_limits.h"
#include "query/watch.h"
#include "storage/api/point_store.h"

namespace halite::query {

enum class WindowOutcome : std::uint8_t {
  kRead,
  kTooLarge,  // nothing of it was kept: ask for a shorter one
};

class Fetch {
 public:
  // All outlive it.
  // `source` is what is read: the store itself, or rollups of its series.
  Fetch(storage::PointStore& store, storage::BlockSource& source, const SubPlan& plan,
        std::shared_ptr<Watch> watch, FetchMeter& meter);
  ~Fetch();
  Fetch(const Fetch&) = delete;
  Fetch& operator=(const Fetch&) = delete;

  // What to read; to be set before all else.
  void select(std::shared_ptr<const storage::Selection> selection) {
    selection_ = std::move(selection);
  }

  // Reads the window that follows the last one. With window_bytes_max = 0 it never gives up.
  Task<WindowOutcome> read(TimeRange window, std::uint64_t window_bytes_max);

  // Series seen for the first time since the last call.
  [[nodiscard]] std::vector<GroupMember> take_new();

  // Series of which only empty blocks were seen: they have rows, but nothing in them counts.
  [[nodiscard]] std::vector<const storage::Series*> empty_series() const;

  // Annotations that the windows' blocks brought. Once, at the end.
  struct Note {
    const storage::Series* series = nullptr;
    Bytes json;
  };
  [[nodiscard]] std::vector<Note> take_notes();

  // Reads on, from where the last window ended, in the series of these members until each has so
  // many points more, or has ended. Later windows leave out what was read.
  struct Awaited {
    const storage::Series* series = nullptr;
    std::size_t points = 0;
  };
  Task<void> look_ahead(std::vector<Awaited> awaited, TimestampMs from);

  // Counts again what the members hold, after a merge took from them.
  void recount();

  // What the last window took.
  [[nodiscard]] std::uint64_t window_bytes() const;

 private:
  struct SeriesState;
  struct Shard;

  [[nodiscard]] storage::TotalsWish wish_in(TimeRange window) const;
  Task<void> read_shards(std::vector<Shard*> shards, TimeRange window,
                         std::uint64_t window_bytes_max);
  Task<void> read_shard(Shard* shard, TimeRange window, std::uint64_t window_bytes_max);
  [[nodiscard]] std::vector<std::vector<Shard*>> share_out(TimeRange window) const;
  Result<void> take_blocks(Shard& shard, const std::vector<storage::Block>& blocks);
  Result<void> keep_notes(Shard& shard, const std::vector<storage::Block>& blocks);
  Result<void> take_totals(Shard& shard, const storage::Block& block);
  Result<SeriesState*> state_of(Shard& shard, storage::SeriesId id);
  Result<void> close_window(Shard& shard, TimeRange window, std::uint64_t window_bytes_max);
  Result<void> count_fetched(SeriesState& state, const storage::Block& block);
  void give_up();
  void finish();
  Result<void> hold(std::int64_t bytes);
  Task<void> look_ahead_in(Shard* shard, std::shared_ptr<const storage::Selection> selection,
                           std::vector<Awaited> awaited, TimeRange range);

  storage::PointStore& store_;
  storage::BlockSource& source_;
  const SubPlan& plan_;
  const std::shared_ptr<Watch> shared_watch_;
  Watch& watch_;  // the same
  FetchMeter& meter_;
  FetchMeter::Amount fetched_before_window_;
  std::shared_ptr<const storage::Selection> selection_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::int64_t> held_bytes_ = 0;
  std::int64_t held_before_window_ = 0;
  std::atomic<bool> too_large_ = false;
};

}  // namespace halite::query
