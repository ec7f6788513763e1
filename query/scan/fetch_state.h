// What a Fetch keeps of a series and of a shard. Only fetch.h includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/container/deque.hpp>

#include "common/bytes.h"
#include "common/clock.h"
#include "query/operators/merge.h"
#include "query/operators/pipeline.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// An annotation that a block brought.
struct FetchedNote {
  const storage::Series* series = nullptr;
  Bytes json;
};

struct FetchedSeries {
  FetchedSeries(const storage::Series& owner, const SubPlan& plan)
      : series(&owner),
        pipeline(plan),
        filled_points(plan.downsample ? plan.downsample->filled_count : 0) {}

  // A filled series gets all its points at once, so that they count from the beginning. Otherwise
  // one block could add millions of points before the next check.
  [[nodiscard]] std::int64_t bytes() const {
    const std::size_t points = std::max<std::size_t>(member.points.size(), filled_points);
    return static_cast<std::int64_t>(points * PointColumns::kBytesPerPoint + pipeline.bytes());
  }

  const storage::Series* series;
  Pipeline pipeline;
  std::size_t filled_points;
  Member member;
  // The state at the beginning of the window.
  std::optional<Pipeline> pipeline_before;
  std::size_t points_before = 0;
  std::int64_t counted_hour = -1;  // the last row that the meter knows

  // The memory of a series besides its points: here, in the map of its shard, in group and merge.
  static constexpr std::int64_t kBytes = 1024;
  // look_ahead() has read the points before this.
  TimestampMs read_until = std::numeric_limits<TimestampMs>::min();
};

static_assert(sizeof(Pipeline) < 500, "FetchedSeries::kBytes counts two of them and the rest");

struct FetchShard {
  std::uint32_t index = 0;
  // In order of appearance. An empty boost::container::deque takes no memory.
  boost::container::deque<FetchedSeries> all;
  std::unordered_map<storage::SeriesId, FetchedSeries*> states;
  std::vector<FetchedSeries*> fresh;            // not yet handed out
  std::unordered_set<storage::SeriesId> empty;  // with at least one empty block
  FetchedSeries* last = nullptr;                // the next block is often of the same series
  PipelineScratch scratch;
  // Whether the current window has begun in this shard. If not, the states "before" here and in the
  // series are those of the window before.
  bool begun = false;
  std::uint64_t window_points = 0;  // counted in the current window
  std::vector<FetchedNote> notes;   // of all windows
  std::size_t notes_before = 0;     // at the beginning of the window

  static std::int64_t bytes_of(const FetchedNote& note) {
    return static_cast<std::int64_t>(sizeof(FetchedNote) + note.json.size());
  }
};

}  // namespace halite::query
