// The state of a Fetch for each series and each shard. Only fetch.h includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_set>
#include <vector>

#include <boost/container/deque.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "query/operators/merge.h"
#include "query/operators/pipeline.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"

namespace halite::query {

// An annotation from a block.
struct FetchedNote {
  const storage::Series* series = nullptr;
  Bytes json;
};

struct FetchedSeries {
  FetchedSeries(const storage::Series& owner, const SubPlan& plan)
      : series(&owner),
        pipeline(plan),
        filled_points(plan.downsample ? plan.downsample->filled_count : 0) {}

  // Fill adds all points of a series at once, so the bytes count all of them in advance. Otherwise
  // one block could add millions of points before the next check.
  [[nodiscard]] std::int64_t bytes() const {
    const std::size_t points = std::max<std::size_t>(member.points.size(), filled_points);
    return static_cast<std::int64_t>(points * PointColumns::kBytesPerPoint + pipeline.bytes());
  }

  const storage::Series* series;
  Pipeline pipeline;
  std::size_t filled_points;
  Member member;
  // The state at the start of the window.
  std::unique_ptr<Pipeline> pipeline_before;  // null before its second window
  std::size_t points_before = 0;
  std::int64_t counted_hour = -1;  // the last row that the meter counted

  // The memory of a series besides its points: here, in the shard's map, in group and merge.
  static constexpr std::int64_t kBytes = 1024;
  // look_ahead() has read all points before this time.
  TimestampMs read_until = std::numeric_limits<TimestampMs>::min();
};

static_assert(sizeof(Pipeline) < 500, "FetchedSeries::kBytes counts two of them and the rest");

// A series is larger than a deque's default block.
using SeriesBlocks = boost::container::deque_options_t<boost::container::block_size<4>>;

struct FetchShard {
  std::uint32_t index = 0;
  // In order of appearance. An empty boost::container::deque takes no memory.
  boost::container::deque<FetchedSeries, void, SeriesBlocks> all;
  boost::unordered_flat_map<storage::SeriesId, FetchedSeries*> states;
  std::vector<FetchedSeries*> fresh;            // not yet returned by take_new()
  std::unordered_set<storage::SeriesId> empty;  // with at least one empty block
  FetchedSeries* last = nullptr;                // consecutive blocks are often of one series
  PipelineScratch scratch;
  // Whether this shard has begun the current window. If not, the "before" states here and in the
  // series belong to the previous window.
  bool begun = false;
  std::uint64_t window_points = 0;  // counted in the current window
  std::int64_t uncounted_bytes = 0;
  std::vector<FetchedNote> notes;  // of all windows
  std::size_t notes_before = 0;    // at the start of the window

  static std::int64_t bytes_of(const FetchedNote& note) {
    return static_cast<std::int64_t>(sizeof(FetchedNote) + note.json.size());
  }
};

}  // namespace halite::query
