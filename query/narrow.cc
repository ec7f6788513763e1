#include "query/narrow.h"

#include <algorithm>
#include <limits>

namespace halite::query {
namespace {

constexpr TimestampMs kNever = std::numeric_limits<TimestampMs>::max();

// The times of a group's answer, first and last.
struct Extent {
  TimestampMs first = kNever;
  TimestampMs last = std::numeric_limits<TimestampMs>::min();
};

Extent extent_of(const Group& group, TimeRange asked) {
  Extent extent;
  for (const GroupMember& entry : group.members) {
    const std::vector<TimestampMs>& times = entry.member->points.times;
    const auto begin = std::ranges::lower_bound(times, asked.begin);
    const auto end = std::ranges::lower_bound(times, asked.end);
    if (begin == end) continue;
    extent.first = std::min(extent.first, *begin);
    extent.last = std::max(extent.last, *(end - 1));
  }
  return extent;
}

}  // namespace

std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                   TimestampMs now) {
  const bool simple = whole.downsample && whole.downsample->kind == BucketKind::kFixed &&
                      whole.downsample->fill == FillPolicy::kNone &&
                      !whole.downsample->average_of_sums && !whole.rate &&
                      !whole.empty_series_count && !question.whole_scan && !question.delete_points;
  if (!simple) return std::nullopt;
  const std::int64_t interval = whole.downsample->interval_ms;
  const TimeRange rows = whole.downsample->points;
  if (interval > rows.end - rows.begin) return std::nullopt;  // also far too long to add to a time
  TimeRange range = {.begin = whole.asked.begin - whole.asked.begin % interval,
                     .end = (whole.asked.end + interval - 1) / interval * interval};
  // Behind the newest points nothing is saved, and series that lag would all want to be read again.
  if (range.end > rows.end || now < rows.end) range.end = rows.end;
  range.begin = std::max(range.begin, rows.begin);
  if (range.begin >= range.end) return std::nullopt;
  if ((range.end - range.begin) * 4 > (whole.scan.end - whole.scan.begin) * 3) return std::nullopt;
  SubPlan narrow = whole;
  narrow.scan = range;
  narrow.downsample->points = range;
  return narrow;
}

bool stands_alone(const std::vector<Group*>& groups, std::size_t series_selected,
                  const SubPlan& narrow, const SubPlan& whole) {
  const bool begin_is_cut = narrow.downsample->points.begin > whole.downsample->points.begin;
  const bool end_is_cut = narrow.downsample->points.end < whole.downsample->points.end;
  std::size_t members = 0;
  for (const Group* const group : groups) {
    members += group->members.size();
    const Extent extent = extent_of(*group, narrow.asked);
    for (const GroupMember& entry : group->members) {
      const std::vector<TimestampMs>& times = entry.member->points.times;
      if (times.empty()) return false;
      if (begin_is_cut && times.front() > extent.first) return false;
      if (end_is_cut && times.back() < extent.last) return false;
    }
  }
  return members == series_selected;
}

}  // namespace halite::query
