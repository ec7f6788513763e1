// What a Fetch keeps of a series and of a shard. Private to it.
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

#include "query/scan/fetch.h"

namespace halite::query {

struct Fetch::SeriesState {
  SeriesState(const storage::Series& owner, const SubPlan& plan)
      : series(&owner),
        pipeline(plan),
        filled_points(plan.downsample ? plan.downsample->filled_count : 0) {}

  // A series that is filled has all its points at once, so they count from the beginning: else one
  // block could bring millions of them before anybody looks.
  [[nodiscard]] std::int64_t bytes() const {
    const std::size_t points = std::max<std::size_t>(member.points.size(), filled_points);
    return static_cast<std::int64_t>(points * PointColumns::kBytesPerPoint + pipeline.bytes());
  }

  const storage::Series* series;
  Pipeline pipeline;
  std::size_t filled_points;
  Member member;
  // As they were when the window began.
  std::optional<Pipeline> pipeline_before;
  std::size_t points_before = 0;
  std::int64_t counted_hour = -1;  // the last row that the meter knows

  // What a series costs besides its points: here, in its shard's map, in its group and merge.
  static constexpr std::int64_t kBytes = 1024;
  // Points before this were taken by a look ahead.
  TimestampMs read_until = std::numeric_limits<TimestampMs>::min();
};

static_assert(sizeof(Pipeline) < 500, "SeriesState::kBytes counts two of them and the rest");

struct Fetch::Shard {
  std::uint32_t index = 0;
  // In the order in which they were seen; boost's deque takes no memory while it is empty.
  boost::container::deque<SeriesState> all;
  std::unordered_map<storage::SeriesId, SeriesState*> states;
  std::vector<SeriesState*> fresh;              // not yet handed out
  std::unordered_set<storage::SeriesId> empty;  // seen without a point, at least once
  SeriesState* last = nullptr;                  // blocks of one series often follow each other
  PipelineScratch scratch;
  // The window under way is being read or was. One that is given up may not have come so far: then
  // what is kept of its beginning here, and in the series, is that of the window before.
  bool begun = false;
  std::uint64_t window_points = 0;  // counted since the window under way began
  std::vector<Note> notes;          // of all windows
  std::size_t notes_before = 0;     // of those, when the window under way began

  static std::int64_t bytes_of(const Note& note) {
    return static_cast<std::int64_t>(sizeof(Note) + note.json.size());
  }
};

}  // namespace halite::query
