#include "query/plan/narrow.h"

#include <algorithm>

namespace halite::query {

std::optional<SubPlan> narrow_plan(const Question& question, const SubPlan& whole,
                                   TimestampMs now) {
  const bool simple = whole.downsample && whole.downsample->kind == BucketKind::kFixed &&
                      whole.downsample->fill == FillPolicy::kNone &&
                      !whole.downsample->average_of_sums && !whole.rate &&
                      !whole.empty_series_count && !question.whole_scan && !question.delete_points;
  if (!simple) return std::nullopt;
  const std::int64_t interval = whole.downsample->interval_ms;
  const TimeRange rows = whole.downsample->points;
  if (interval > rows.end - rows.begin) return std::nullopt;  // also if too long to add to a time
  TimeRange range = {.begin = whole.asked.begin - whole.asked.begin % interval,
                     .end = (whole.asked.end + interval - 1) / interval * interval};
  // After the newest points nothing is saved, and all late series would be read again.
  if (range.end > rows.end || now < rows.end) range.end = rows.end;
  range.begin = std::max(range.begin, rows.begin);
  if (range.begin >= range.end) return std::nullopt;
  if ((range.end - range.begin) * 4 > (whole.scan.end - whole.scan.begin) * 3) return std::nullopt;
  SubPlan narrow = whole;
  narrow.scan = range;
  narrow.downsample->points = range;
  return narrow;
}

}  // namespace halite::query
